"""The real Apache metastores start, say their version, and are gone when the block ends."""

from __future__ import annotations

import os

import pytest

from tests.support import apache
from tests.support.apache import ApacheMetastore, MissingPeer, StartFailure, apache_2_3, apache_peer
from tests.support.thrift_probe import answers, ask_for_string, ask_for_strings


def assert_fresh(metastore: ApacheMetastore, version: str) -> None:
    assert ask_for_string(metastore.host, metastore.port, "getVersion") == version
    assert ask_for_strings(metastore.host, metastore.port, "get_all_databases") == ["default"]
    assert metastore.warehouse.is_dir()


# Before Hive 4 the answer is a constant that nobody raised with the releases.
@pytest.mark.apache
def test_hive_2_3_starts_and_answers(hive_2_3: ApacheMetastore) -> None:
    assert_fresh(hive_2_3, "3.0")


@pytest.mark.apache
def test_hive_3_1_starts_and_answers(hive_3_1: ApacheMetastore) -> None:
    assert_fresh(hive_3_1, "3.0")


@pytest.mark.peers
def test_hive_3_0_starts_and_answers(hive_3_0: ApacheMetastore) -> None:
    assert_fresh(hive_3_0, "3.0")


@pytest.mark.peers
def test_hive_4_0_0_starts_and_answers(hive_4_0_0: ApacheMetastore) -> None:
    assert_fresh(hive_4_0_0, "4.0.0")


@pytest.mark.peers
def test_hive_4_0_1_starts_and_answers(hive_4_0_1: ApacheMetastore) -> None:
    assert_fresh(hive_4_0_1, "4.0.1")


@pytest.mark.peers
def test_hive_4_1_0_starts_and_answers(hive_4_1_0: ApacheMetastore) -> None:
    assert_fresh(hive_4_1_0, "4.1.0")


@pytest.mark.apache
def test_a_server_is_gone_when_its_block_ends() -> None:
    with apache_2_3() as metastore:
        assert answers(metastore.host, metastore.port)
    assert not answers(metastore.host, metastore.port)
    assert not metastore.warehouse.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(metastore.pid, 0)


@pytest.mark.apache
def test_a_server_that_cannot_start_shows_the_end_of_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apache, "HEAP", "-Xmx1k")
    with pytest.raises(StartFailure, match=r"(?s)Hive 2\.3\.10 ended with status 1\. .*heap"), apache_2_3():
        pass


def test_a_version_that_was_not_brought_names_the_command_that_brings_it() -> None:
    with pytest.raises(MissingPeer, match=r"Hive 0\.1 .*make peers brings it"), apache_peer("0.1"):
        pass
