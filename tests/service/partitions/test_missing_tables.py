"""Missing objects are declared exceptions that name them, in every version."""

from __future__ import annotations

import pytest

from metastored.errors import MetastoreError
from metastored.hive.generation import Generation
from metastored.wire.codec import binary
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.service.conftest import Starter

SLOTS = {Generation.HIVE_2_3: b"\x0c\x00\x01", Generation.HIVE_3_1: b"\x0c\x00\x01"}
"""The field of the result struct: 2.3 declares MetaException as 1, 3.1 NoSuchObjectException."""


@pytest.mark.parametrize("generation", SLOTS)
@pytest.mark.parametrize("db", ["default", "nodb"])
def test_the_partition_names_of_a_missing_table_are_a_declared_exception_that_names_it(
    generation: Generation, db: str, start: Starter
) -> None:
    metastore = start(generation)
    method = METHODS["get_partition_names"]
    call = Call(method, None, body=binary.encode_args(method, (db, "nope", -1)))
    reply = metastore._loop.run_until_complete(metastore._local.handle(call, Session("test", generation)))
    assert isinstance(reply.error, MetastoreError) and type(reply.error).__name__ in method.throws_in(
        "2.3" if generation is Generation.HIVE_2_3 else "3.1"
    )
    assert str(reply.error).endswith(f"{db}.nope table not found")
    assert isinstance(reply.body, bytes) and reply.body.startswith(SLOTS[generation])


@pytest.mark.parametrize(
    ("method", "args", "words"),
    [
        ("grant_role", ("zz", "u", 1, "g", 1, False), "zz role can not be found."),
        ("revoke_role", ("zz", "u", 1), "zz role can not be found."),
    ],
)
def test_other_calls_that_declare_a_meta_exception_alone_name_what_is_missing(
    method: str, args: tuple[object, ...], words: str, start: Starter
) -> None:
    with pytest.raises(MetastoreError, match=words):
        start(Generation.HIVE_2_3).call(method, *args)
