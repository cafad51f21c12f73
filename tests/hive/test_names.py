"""Names, catalogs in database fields, and partition names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.hive import names
from metastored.hive.generation import Generation

V2, V3, V4 = Generation.HIVE_2_3, Generation.HIVE_3_1, Generation.HIVE_4_0


@pytest.mark.parametrize("text", ["2.3", "3.1", "4.0", "4.2"])
def test_a_generation_is_written_as_its_release(text: str) -> None:
    assert str(Generation.of(text)) == text


def test_an_unknown_generation_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'1\.2' is not .* 2\.3, 3\.1, 4\.0, 4\.2"):
        Generation.of("1.2")


@pytest.mark.parametrize("name", ["1a", "_a", "PDB", "a_1"])
def test_words_are_names_of_databases_and_tables(name: str) -> None:
    for generation in Generation:
        assert names.is_valid_database_name(name, generation)
        assert names.is_valid_table_name(name, generation)
    assert names.is_valid_function_name(name)


@pytest.mark.parametrize("name", ["a-b", "a.b", "a b", "a$b"])
def test_special_characters_are_for_hive_4(name: str) -> None:
    for generation in (V2, V3):
        assert not names.is_valid_database_name(name, generation)
        assert not names.is_valid_table_name(name, generation)
    assert names.is_valid_database_name(name, V4)
    assert names.is_valid_table_name(name, V4)
    assert not names.is_valid_function_name(name)


def test_a_slash_is_allowed_in_older_table_names_only() -> None:
    assert names.is_valid_table_name("a/b", V3)
    assert not names.is_valid_database_name("a/b", V3)


@pytest.mark.parametrize("name", ["", "ünï", "a\n", "a\\b"])
def test_no_generation_takes_other_names(name: str) -> None:
    for generation in Generation:
        assert not names.is_valid_database_name(name, generation)
        assert not names.is_valid_table_name(name, generation)


def test_any_text_is_a_column_name() -> None:
    assert all(map(names.is_valid_column_name, ["a b", "", "ü"]))


def test_names_are_stored_trimmed_and_in_lower_case() -> None:
    assert names.normalize(" \tPd_X\n") == "pd_x"


def test_only_the_characters_that_java_trims_are_trimmed() -> None:
    assert names.normalize("\u00a0a") == "\u00a0a"


@pytest.mark.parametrize(
    ("text", "catalog", "database"),
    [
        ("pdb", None, "pdb"),
        ("", None, ""),
        (None, None, None),
        ("@hive#pdb", "hive", "pdb"),
        ("@hive#", "hive", None),
        ("@hive#!", "hive", ""),
        ("@cat2#p*", "cat2", "p*"),
        ("@hive#a#b", "hive", "a#b"),
    ],
)
def test_a_database_field_may_carry_a_catalog(text: str | None, catalog: str | None, database: str | None) -> None:
    assert names.decode_catalog_name(text) == (catalog, database)
    assert names.encode_catalog_name(catalog, database) == text


@pytest.mark.parametrize("text", ["@hivepdb", "@", "@#db"])
def test_a_marker_without_a_catalog_is_an_error_in_hives_words(text: str) -> None:
    expected = f"{text} is prepended with the catalog marker but does not appear to have a catalog name in it"
    with pytest.raises(names.CatalogNameError) as error:
        names.decode_catalog_name(text)
    assert str(error.value) == expected


@given(
    st.text(min_size=1).filter(lambda catalog: "#" not in catalog),
    st.none() | st.text().filter(lambda database: database != "!"),
)
def test_catalog_names_survive_the_way_there_and_back(catalog: str, database: str | None) -> None:
    encoded = names.encode_catalog_name(catalog, database)
    assert names.decode_catalog_name(encoded) == (catalog, database)


def test_exactly_the_characters_that_hive_escapes_are_escaped() -> None:
    value = "a/b=c%d:e f#g\"h'i*j?k{l}m[n]o\\p^q\x01é"
    name = "a%2Fb%3Dc%25d%3Ae f%23g%22h%27i%2Aj%3Fk%7Bl}m%5Bn%5Do%5Cp%5Eq%01é"
    assert names.escape(value) == name
    assert names.escape("A B\x7f\x00\r~}|<>^`") == "A B%7F%00%0D~}|<>%5E`"


def test_a_percent_sign_without_two_hex_digits_stays() -> None:
    assert names.unescape("a%2Fb%zz%4%e9%") == "a/b%zz%4é%"


@given(st.text())
def test_escaping_can_be_undone(value: str) -> None:
    assert names.unescape(names.escape(value)) == value


@pytest.mark.parametrize(
    ("keys", "values", "name"),
    [
        (("ds", "h"), ["2024-01-01", "1"], "ds=2024-01-01/h=1"),
        (("DS",), ["A"], "ds=A"),
        (("ds", "h"), ["", None], "ds=__HIVE_DEFAULT_PARTITION__/h=__HIVE_DEFAULT_PARTITION__"),
        (("ts", "ds"), ["2024-01-01 00:00:00", "x"], "ts=2024-01-01 00%3A00%3A00/ds=x"),
        (("a:b",), ["1"], "a%3Ab=1"),
    ],
)
def test_a_partition_is_named_by_its_keys_and_values(
    keys: tuple[str, ...], values: list[str | None], name: str
) -> None:
    assert names.make_part_name(keys, values) == name


@pytest.mark.parametrize(
    ("keys", "values", "message"),
    [
        (("ds", "h"), ["x"], "Invalid partition key & values; keys [ds, h, ], values [x, ]"),
        (("ds", "h"), ["x", "1", "2"], "Invalid partition key & values; keys [ds, h, ], values [x, 1, 2, ]"),
        ((), ["a"], "Invalid partition key & values; keys [], values [a, ]"),
        ((), [], "Invalid partition key & values; keys [], values []"),
    ],
)
def test_the_wrong_number_of_values_is_an_error_in_hives_words(
    keys: tuple[str, ...], values: list[str | None], message: str
) -> None:
    with pytest.raises(names.PartitionNameError) as error:
        names.make_part_name(keys, values)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("", {}),
        ("zzz", {}),
        ("ds=a%2Fb/h=1", {"ds": "a/b", "h": "1"}),
        ("a=b=c/d=e", {"a=b": "c", "d": "e"}),
        ("a=b/", {"a": "b"}),
        ("/a=b", {"a": "b"}),
        ("a=/b=c", {"b": "c"}),
        ("=x", {}),
        ("a/b=1", {"b": "1"}),
        ("A=1/a=2", {"A": "1", "a": "2"}),
    ],
)
def test_a_partition_name_is_read_as_hive_reads_it(name: str, spec: dict[str, str]) -> None:
    assert names.partition_name_to_spec(name) == spec
    assert names.partition_name_to_vals(name) == list(spec.values())


def test_values_are_found_in_whatever_order_the_name_has_them() -> None:
    assert names.partition_values("h=1/ds=a%2Fb", ["ds", "h"]) == ["a/b", "1"]


@pytest.mark.parametrize(("name", "missing"), [("zzz", "ds"), ("ds=a", "h"), ("DS=a/h=1", "ds")])
def test_a_key_missing_from_a_name_is_named(name: str, missing: str) -> None:
    with pytest.raises(names.PartitionNameError, match=f"^incomplete partition name - missing {missing}$"):
        names.partition_values(name, ["ds", "h"])


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_partition_values_survive_their_name(values: list[str]) -> None:
    keys = tuple(f"k{place}" for place in range(len(values)))
    assert names.partition_values(names.make_part_name(keys, values), keys) == values


def test_a_tables_directory_has_numbers_for_signs() -> None:
    assert names.directory_name("plain_1") == "plain_1"
    assert names.directory_name("a/b c") == "a-47-b-32-c"


# --- as gate and metastore read them ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "catalog", "read"),
    [
        ("DB ", None, ("hive", "db")),
        ("db", " Spark", ("spark", "db")),
        ("@Spark#DB", None, ("spark", "db")),
        ("@spark#db", "other", ("spark", "db")),
        ("@ hive # db", None, ("hive", "db")),
        ("db\u00a0", None, ("hive", "db\u00a0")),
        ("db", "", ("", "db")),
        ("db", " ", ("", "db")),
        ("@hive#", None, ("hive", None)),
        ("@hive#!", None, ("hive", "")),
        (None, None, ("hive", None)),
        ("cat.db", None, ("hive", "cat.db")),
    ],
)
def test_a_database_is_read_with_its_catalog(text: str | None, catalog: str | None, read: tuple[str, str]) -> None:
    assert names.read_database(text, catalog) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("D.T", ("hive", "d", "t")),
        (" c . d . t ", ("c", "d", "t")),
        ("d.t\u00a0", ("hive", "d", "t\u00a0")),
        ("@c#d.t", ("hive", "@c#d", "t")),
        (".d.t", ("", "d", "t")),
    ],
)
def test_a_full_name_is_read_as_two_or_three_names(text: str, read: tuple[str, str, str]) -> None:
    assert names.read_full_name(text) == read


@pytest.mark.parametrize("text", ["t", "", "a.b.c.d"])
def test_other_texts_are_no_full_names(text: str) -> None:
    with pytest.raises(names.FullNameError, match=r"write it as db\.table"):
        names.read_full_name(text)


@pytest.mark.parametrize(
    ("found", "keys"),
    [
        (["ds=1/h=2", "ds=3/h=4"], ("ds", "h")),
        (["ds=1", "ds=2"], ("ds",)),
        (["ds=a%2Fb/h=2", "ds=3/h=4"], ("ds", "h")),
        (["ds=a=b/h=2"], ("ds", "h")),
        (["a.b=1", "a.b=2"], ("a.b",)),
        (["a%3Ab=1"], ("a:b",)),
        (["DS=1/h=2"], ("ds", "h")),
        (["ds=1\nds=2", "no"], ("ds",)),
        ([], ("ds",)),
        (["ds=1"], ()),
    ],
)
def test_the_values_of_many_names_are_those_of_each_name(found: list[str], keys: tuple[str, ...]) -> None:
    expected = [names.partition_name_to_vals(each) for each in found]
    assert [list(each) for each in names.partition_names_to_vals(found, keys)] == expected
