"""[MS-HMSHTTP] section 6: the nine methods and their signatures."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.wire.methods import METHODS
from tests.server.http.support import API, DB, TABLE
from tests.specs.conftest import Server
from tests.specs.test_http_section_3_operations import body

pytestmark = pytest.mark.slow

SIGNATURES = {
    "get_database": ("Database", "string", "1:NoSuchObjectException 2:MetaException"),
    "get_databases": ("list<string>", "string", "1:MetaException"),
    "get_all_databases": ("list<string>", "", "1:MetaException"),
    "get_tables_by_type": ("list<string>", "string string string", "1:MetaException"),
    "get_all_tables": ("list<string>", "string", "1:MetaException"),
    "get_table": ("Table", "string string", "1:MetaException 2:NoSuchObjectException"),
    "get_tables": ("list<string>", "string string", "1:MetaException"),
    "get_partitions": ("list<Partition>", "string string i16", "1:NoSuchObjectException 2:MetaException"),
    "get_partition_names": ("list<string>", "string string i16", "1:MetaException"),
}
ARGUMENTS: dict[str, dict[str, Any]] = {"string": {"str": "default"}, "i16": {"i16": 1}}


def test_6_1_a_the_nine_methods_are_served_and_no_other(own: Server) -> None:
    with own.browser() as browser:
        for method, (_, arguments, _) in SIGNATURES.items():
            given = [ARGUMENTS[each] for each in arguments.split()]
            if method == "get_table":
                given = [{"str": DB}, {"str": TABLE}]
            answer = browser.post(body(method, *given))
            assert answer.status == 200 and answer.json[2] == 2, method
        for method in sorted(set(METHODS) - set(SIGNATURES)):
            refused = browser.post(body(method), API).json
            # Thrift's UNKNOWN_METHOD, as a server answers that was made from a schema of nine methods.
            assert refused[2] == 3 and refused[4]["2"] == {"i32": 1}, method


def test_6_1_b_the_methods_have_the_signatures_of_the_schema() -> None:
    for name, (returns, arguments, throws) in SIGNATURES.items():
        method = METHODS[name]
        assert [str(each.type) for each in method.args] == arguments.split(), name
        assert [each.id for each in method.args] == list(range(1, len(method.args) + 1))
        assert str(method.returns) == returns
        declared = {slot: error for error, slot in method.throws_in("2.3").items()}
        assert " ".join(f"{slot}:{declared[slot]}" for slot in sorted(declared)) == throws
