"""The files of `recordings/`: one reply for each probe, no others, and a text that is read as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.probes import TOPICS
from tests.differential.record import SERVERS
from tests.differential.recordings import FOLDER, MissingRecording, labels, parsed, printed, recorded


def test_a_file_is_read_as_it_was_written() -> None:
    replies = {"get: one": "'a'", "get: two": "!MetaException first line\n\n    indented", "tree: now": ""}
    assert parsed(printed(replies)) == replies


def test_a_probe_without_a_recording_is_an_error(tmp_path: Path) -> None:
    script = TOPICS["service"]
    with pytest.raises(MissingRecording, match="make peers-check ARGS=--record"):
        recorded("2.3", "service", script, tmp_path)
    first, *others = labels(script, "2.3")
    (tmp_path / "2.3").mkdir()
    (tmp_path / "2.3/service.txt").write_text(printed(dict.fromkeys(others, "None")), encoding="utf-8")
    with pytest.raises(MissingRecording, match="does not fit its script") as raised:
        recorded("2.3", "service", script, tmp_path)
    assert first in str(raised.value)


def test_every_recording_is_of_a_topic_that_is_played() -> None:
    played = {f"{server.version}/{topic}.txt" for server in SERVERS for topic in server.topics}
    assert {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.txt")} == played
