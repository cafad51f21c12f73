"""What is printed is parsed into the same value again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from metastored.statements.parsing import parse
from metastored.statements.printing import printed
from metastored.statements.values import CreateConnector, CreateRemote, Kind

NAMES = st.text(min_size=1, max_size=8).filter(bool)
TEXTS = st.text(max_size=12)
PAIRS = st.dictionaries(TEXTS, TEXTS, max_size=3).map(lambda pairs: tuple(pairs.items()))


def parts(most: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(NAMES, min_size=1, max_size=most).map(tuple)


REMOTES = st.one_of(
    st.builds(
        CreateRemote,
        kind=st.just(Kind.TABLE),
        name=parts(3),
        if_not_exists=st.booleans(),
        connected_to=st.none() | parts(2),
        via=st.none() | TEXTS,
        properties=PAIRS,
    ),
    st.builds(
        CreateRemote,
        kind=st.just(Kind.DATABASE),
        name=parts(2),
        comment=st.none() | TEXTS,
        connected_to=st.none() | parts(1),
        using=st.none() | NAMES,
        properties=PAIRS,
    ),
    st.builds(
        CreateRemote,
        kind=st.just(Kind.CATALOG),
        name=parts(1),
        comment=st.none() | TEXTS,
        connected_to=st.none() | parts(2),
        prefix=st.none() | TEXTS,
        properties=PAIRS,
    ),
)
CONNECTORS = st.builds(CreateConnector, NAMES, TEXTS, TEXTS, st.booleans(), st.none() | TEXTS, PAIRS)


@given(REMOTES | CONNECTORS)
def test_a_printed_statement_is_parsed_into_the_same_value(statement: CreateRemote | CreateConnector) -> None:
    assert parse(printed(statement)) == statement


def test_a_statement_is_printed_with_a_clause_on_each_line() -> None:
    statement = CreateRemote(
        Kind.TABLE, ("d", "My Table"), connected_to=("r", "t"), via="thrift", properties=(("a", "1"), ("b", "it's"))
    )
    assert printed(statement) == (
        "CREATE REMOTE TABLE d.`My Table`\n"
        "CONNECTED TO r.t\n"
        "VIA 'thrift'\n"
        "WITH TBLPROPERTIES (\n"
        "  'a' = '1',\n"
        "  'b' = 'it\\'s'\n"
        ")"
    )
