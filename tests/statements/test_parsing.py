"""Statements are parsed into values; a text that is none raises an error with its position and what was expected."""

from __future__ import annotations

import pickle

import pytest

from metastored.errors import ErrorKind, StatementError, kind_of
from metastored.statements.basics import ROLE
from metastored.statements.parsing import keywords, parse, parse_script
from metastored.statements.rights import Grant, Privilege, Revoke, Target
from metastored.statements.shows import DescribeDatabase, DescribeTable, ShowDatabases, ShowPartitions, ShowTables
from metastored.statements.values import (
    AlterConnector,
    AlterRemote,
    CreateConnector,
    CreateRemote,
    DescribeConnector,
    DropConnector,
    DropRemote,
    Kind,
    Principal,
    ShowConnectors,
    ShowCreateRemote,
    ShowRemotes,
    Statement,
    Use,
)

STATEMENTS: dict[str, Statement] = {
    "CREATE REMOTE TABLE IF NOT EXISTS db.t VIA 'ssh'": CreateRemote(Kind.TABLE, ("db", "t"), True, via="ssh"),
    "CREATE REMOTE TABLE c.db.t CONNECTED TO t": CreateRemote(Kind.TABLE, ("c", "db", "t"), connected_to=("t",)),
    "CREATE REMOTE SCHEMA d COMMENT 'old' CONNECTED TO r": CreateRemote(
        Kind.DATABASE, ("d",), comment="old", connected_to=("r",)
    ),
    "CREATE REMOTE DATABASE IF NOT EXISTS d USING c WITH DBPROPERTIES ('connector.remoteDbName'='r')": CreateRemote(
        Kind.DATABASE, ("d",), True, using="c", properties=(("connector.remoteDbName", "r"),)
    ),
    "CREATE REMOTE CATALOG old PREFIX 'old_' VIA 'thrift' WITH PROPERTIES ('a'='b')": CreateRemote(
        Kind.CATALOG, ("old",), via="thrift", prefix="old_", properties=(("a", "b"),)
    ),
    "ALTER REMOTE TABLE db.t CONNECTED TO a.b VIA 'ssh' SET TBLPROPERTIES ('a'='b') UNSET TBLPROPERTIES ('c', 'd')": (
        AlterRemote(Kind.TABLE, ("db", "t"), ("a", "b"), "ssh", None, (("a", "b"),), ("c", "d"))
    ),
    "ALTER REMOTE DATABASE d SET DBPROPERTIES ('metastored.remote.timeout' = 2.5)": AlterRemote(
        Kind.DATABASE, ("d",), set=(("metastored.remote.timeout", "2.5"),)
    ),
    "CREATE REMOTE CATALOG c COMMENT 'x' CONNECTED TO spark": CreateRemote(
        Kind.CATALOG, ("c",), comment="x", connected_to=("spark",)
    ),
    "ALTER REMOTE CATALOG c PREFIX ''": AlterRemote(Kind.CATALOG, ("c",), prefix=""),
    "DROP REMOTE TABLE IF EXISTS db.t": DropRemote(Kind.TABLE, ("db", "t"), True),
    "DROP REMOTE SCHEMA d": DropRemote(Kind.DATABASE, ("d",)),
    "DROP REMOTE CATALOG c": DropRemote(Kind.CATALOG, ("c",)),
    "SHOW REMOTES": ShowRemotes(),
    "SHOW REMOTES IN d LIKE 'a*'": ShowRemotes(("d",), "a*"),
    "SHOW CREATE REMOTE TABLE db.t": ShowCreateRemote(Kind.TABLE, ("db", "t")),
    "SHOW CREATE REMOTE DATABASE d": ShowCreateRemote(Kind.DATABASE, ("d",)),
    "CREATE CONNECTOR IF NOT EXISTS c TYPE 'thrift' URL 'thrift://h:9083' COMMENT 'x' WITH DCPROPERTIES ('a'='b')": (
        CreateConnector("c", "thrift", "thrift://h:9083", True, "x", (("a", "b"),))
    ),
    "ALTER CONNECTOR c SET URL 'u'": AlterConnector("c", url="u"),
    "ALTER CONNECTOR c SET DCPROPERTIES ('a'='b')": AlterConnector("c", properties=(("a", "b"),)),
    "ALTER CONNECTOR c SET OWNER ROLE r": AlterConnector("c", owner=Principal("r", ROLE)),
    "DROP CONNECTOR IF EXISTS c": DropConnector("c", True),
    "SHOW CONNECTORS": ShowConnectors(),
    "DESC CONNECTOR EXTENDED c": DescribeConnector("c", True),
    "SHOW DATABASES": ShowDatabases(),
    "SHOW SCHEMAS LIKE 'a*|b'": ShowDatabases("a*|b"),
    "SHOW TABLES": ShowTables(),
    "SHOW TABLES FROM d 'a*'": ShowTables(("d",), "a*"),
    "SHOW PARTITIONS db.t": ShowPartitions(("db", "t")),
    "SHOW PARTITIONS t PARTITION (ds = '2024-01-01', h = 3)": ShowPartitions(
        ("t",), (("ds", "2024-01-01"), ("h", "3"))
    ),
    "DESCRIBE DATABASE EXTENDED d": DescribeDatabase(("d",), True),
    "DESC SCHEMA d": DescribeDatabase(("d",)),
    "DESCRIBE t": DescribeTable(("t",)),
    "DESC TABLE FORMATTED db.t": DescribeTable(("db", "t"), "FORMATTED"),
    "DESCRIBE EXTENDED db.t": DescribeTable(("db", "t"), "EXTENDED"),
    "USE d": Use(("d",)),
    "GRANT CREATE_REMOTE TO USER alice": Grant((Privilege("CREATE_REMOTE"),), (Principal("alice"),)),
    "GRANT CREATE_REMOTE ON DATABASE d TO ROLE r": Grant(
        (Privilege("CREATE_REMOTE"),), (Principal("r", ROLE),), Target("DATABASE", ("d",))
    ),
    "REVOKE CREATE_REMOTE ON DATABASE d FROM USER `al.ice`": Revoke(
        (Privilege("CREATE_REMOTE"),), (Principal("al.ice"),), Target("DATABASE", ("d",))
    ),
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_each_statement_is_parsed_into_a_value(text: str) -> None:
    assert parse(text) == STATEMENTS[text]


@pytest.mark.parametrize("text", STATEMENTS)
def test_keywords_may_be_in_lower_case_and_on_lines_of_their_own(text: str) -> None:
    words = text.split(" ")
    lines = "\n".join(word.lower() if word.isupper() else word for word in words)
    assert parse(f"-- a comment\n/* and; another */ {lines} ;") == STATEMENTS[text]


def test_a_script_has_several_statements_and_empty_ones_do_not_count() -> None:
    assert parse_script(";; USE d; SHOW TABLES;;\n-- the end") == (Use(("d",)), ShowTables())
    assert parse_script(" -- nothing") == ()


def test_a_keyword_is_a_name_where_no_keyword_can_be_and_always_in_backquotes() -> None:
    assert parse("DROP REMOTE TABLE remote.table") == DropRemote(Kind.TABLE, ("remote", "table"))
    assert parse("DROP REMOTE TABLE `if`.`a``b`") == DropRemote(Kind.TABLE, ("if", "a`b"))


def test_texts_have_both_kinds_of_quotes_and_escapes_as_in_hive() -> None:
    statement = parse(r"""SHOW TABLES LIKE "a\"b\\c\n\t\u00e4''" """)
    assert statement == ShowTables(None, "a\"b\\c\n\tä'")
    assert parse("SHOW TABLES LIKE 'it''s -- no comment; no end'") == ShowTables(None, "it's -- no comment; no end")


@pytest.mark.parametrize(
    ("text", "line", "column", "problem", "expected"),
    [
        ("FROBNICATE 1", 1, 1, "'FROBNICATE' is not expected", ("GRANT", "SHOW")),
        ("CREATE REMOTE VIEW v", 1, 15, "'VIEW' is not expected", ("CATALOG", "DATABASE", "SCHEMA", "TABLE")),
        ("CREATE REMOTE TABLE", 1, 20, "the statement is not complete", ("IF", "a name")),
        (
            "CREATE REMOTE TABLE t\n  WITH DBPROPERTIES ('a'='b')",
            2,
            8,
            "'DBPROPERTIES' is not expected",
            ("TBLPROPERTIES",),
        ),
        ("CREATE REMOTE TABLE t\nWITH TBLPROPERTIES ('a' 'b')", 2, 25, "a text in quotes is not expected", ("=",)),
        ("CREATE REMOTE TABLE t VIA 'x", 1, 27, "the quote ' is not closed", ("a text in quotes",)),
        ("CREATE REMOTE TABLE t VIA thrift", 1, 27, "'thrift' is not expected", ("a text in quotes",)),
        ("SHOW TABLES; CREATE REMOTE TABLE t?", 1, 35, "the character '?' is not expected", ("VIA",)),
        ("USE d /* x", 1, 7, "the comment /* is not closed", (".", ";")),
        ("ALTER REMOTE TABLE t", 1, 1, "the statement changes nothing", ("SET",)),
        ("USE a.b.c", 1, 1, "the name a.b.c has 3 parts; at most 2 are possible", ()),
        ("CREATE REMOTE TABLE t WITH TBLPROPERTIES ('a'='1', 'a'='2')", 1, 42, "the property 'a' is given twice", ()),
        ("USE a; USE b USE c", 1, 14, "'USE' is not expected", (";", "the end of the statement")),
    ],
)
def test_an_error_has_a_line_a_column_and_what_was_expected(
    text: str, line: int, column: int, problem: str, expected: tuple[str, ...]
) -> None:
    with pytest.raises(StatementError) as caught:
        parse_script(text)
    error = caught.value
    assert (error.line, error.column, error.problem) == (line, column, problem)
    assert set(expected) <= set(error.expected)
    assert str(error).startswith(f"line {line}, column {column}: {problem}")
    for word in error.expected:
        assert word in str(error)


def test_an_error_lists_only_what_can_really_follow() -> None:
    with pytest.raises(StatementError) as caught:
        parse("CREATE REMOTE TABLE t SET")
    assert caught.value.expected == (".", ";", "CONNECTED", "VIA", "WITH", "the end of the statement")


def test_an_error_repeats_no_text_in_quotes_which_may_be_a_secret_and_no_long_word() -> None:
    with pytest.raises(StatementError) as caught:
        parse("CREATE REMOTE TABLE t WITH TBLPROPERTIES ('metastored.remote.password' 's3cret')")
    assert "s3cret" not in str(caught.value)
    with pytest.raises(StatementError) as caught:
        parse("x" * 100_000)
    assert len(str(caught.value)) < 1000


def test_parse_takes_exactly_one_statement() -> None:
    for text, found in (("", "no statement"), ("USE a; USE b", "2 statements")):
        with pytest.raises(StatementError, match=found):
            parse(text)


def test_an_error_can_be_sent_to_another_process_and_is_an_invalid_argument() -> None:
    error = StatementError("x", 2, 3, ("A", "B"))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.column, again.expected) == (str(error), 2, 3, ("A", "B"))
    assert kind_of(error) is ErrorKind.INVALID_ARGUMENT


def test_keywords_are_those_of_the_grammar() -> None:
    found = keywords()
    assert {"CREATE", "REMOTE", "CREATE_REMOTE", "TBLPROPERTIES"} <= set(found)
    assert not {"NAME", "TEXT", "BLANKS", "LPAR"} & set(found)
