"""Types in every spelling that a metastore stores as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given

from metastored.hive.types.arrow import to_arrow_schema
from metastored.hive.types.type_strings import HiveType, TypeSyntaxError, is_valid_column_type, read_type
from tests.hive.type_trees import every_type

SPELLINGS = [
    ("decimal(10, 2)", "decimal(10,2)"),
    ("DECIMAL(10,2)", "decimal(10,2)"),
    ("decimal (10 , 2 )", "decimal(10,2)"),
    ("Decimal( 5 )", "decimal(5,0)"),
    ("VARCHAR (10)", "varchar(10)"),
    ("char( 3 )", "char(3)"),
    ("array< int >", "array<int>"),
    ("map<string, ARRAY<Bigint>>", "map<string,array<bigint>>"),
    ("struct<a: int, B : string>", "struct<a:int,B:string>"),
    ("struct<a b:int>", "struct<a b:int>"),
    ("struct<a:int comment 'it\\'s, one', b:string COMMENT \"two\">", "struct<a:int,b:string>"),
    ("struct< a:int, b:string>", "struct<a:int,b:string>"),
    ("struct<` a `:int>", "struct<` a `:int>"),
    ("uniontype< int , string >", "uniontype<int,string>"),
    ("TIMESTAMP  WITH LOCAL TIME ZONE", "timestamp with local time zone"),
    ("timestamp without time zone", "timestamp"),
    ("double precision", "double"),
    ("int ", "int"),
    (" int", "int"),
]


@pytest.mark.parametrize(("text", "canonical"), SPELLINGS)
def test_every_spelling_is_read(text: str, canonical: str) -> None:
    assert str(read_type(text)) == canonical


@pytest.mark.parametrize(("text", "canonical"), SPELLINGS)
def test_arrow_reads_every_spelling(text: str, canonical: str) -> None:
    assert to_arrow_schema([("c", text)]).equals(to_arrow_schema([("c", canonical)]))


@given(every_type)
def test_the_spelling_of_hive_is_read_as_before(tree: HiveType) -> None:
    assert read_type(str(tree)) == tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "type expected at the position 0"),
        ("zzz", "type expected at the position 0 of 'zzz' but 'zzz' is found"),
        ("int(3)", "the end expected at the position 3"),
        ("timestamp with zone", "the end expected at the position 10"),
        ("decimal(10; 2)", r"\) expected at the position 10"),
        ("struct<a:int comment x>", "> expected at the position 13"),
        ("array<" * 200, "nested deeper than 100 levels"),
        ("x" * 2_000_001, "at most"),
    ],
)
def test_a_text_that_is_no_type_is_refused_with_its_position(text: str, message: str) -> None:
    with pytest.raises(TypeSyntaxError, match=message):
        read_type(text)


def test_hive_stores_such_spellings() -> None:
    stored = [text for text, _ in SPELLINGS if is_valid_column_type(text)]
    assert {"decimal(10, 2)", "array< int >", "double precision", "decimal (10 , 2 )"} <= set(stored)
