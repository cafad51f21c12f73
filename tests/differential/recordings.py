"""Hive's replies to the scripts of `probes/`, as they were recorded from the real servers.

`recordings/VERSION/TOPIC.txt` has one paragraph for each probe: its label, and the reply, indented. The tests compare
metastored with these files, so that they need no Hive. `make peers-check` plays the scripts to the real servers again
and fails if a reply differs from its recording; `make peers-check ARGS=--record` writes the files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.differential.script import Probe

FOLDER: Final = Path(__file__).with_name("recordings")
INDENT: Final = "    "


class MissingRecording(AssertionError):
    """A probe has no recording, or a recording has no probe."""


def labels(script: Sequence[Probe], version: str) -> list[str]:
    """The labels of the probes that a version has, in order."""
    return [f"{probe.kind}{probe.label}" for probe in script if version in probe.versions]


def recorded(version: str, topic: str, script: Sequence[Probe], folder: Path = FOLDER) -> dict[str, str]:
    """The reply of this Hive to each probe, by label. Every probe has one; there are no others."""
    file = folder / version / f"{topic}.txt"
    if not file.exists():
        raise MissingRecording(f"{file.name} of Hive {version} is not recorded: make peers-check ARGS=--record")
    replies = parsed(file.read_text("utf-8"))
    expected = labels(script, version)
    if list(replies) != expected:
        other = sorted(set(replies) ^ set(expected)) or ["the order"]
        raise MissingRecording(
            f"the recording of {topic} on Hive {version} does not fit its script: {', '.join(other)}."
            " make peers-check ARGS=--record writes it"
        )
    return replies


def parsed(text: str) -> dict[str, str]:
    replies: dict[str, str] = {}
    label = None
    for line in text.split("\n"):
        if line.startswith(INDENT) and label is not None:
            before = replies.get(label)
            replies[label] = line[len(INDENT) :] if before is None else f"{before}\n{line[len(INDENT) :]}"
        elif line:
            label = line
    return replies


def printed(replies: Mapping[str, str]) -> str:
    """The text of a file. A label has no line break and does not begin with a space."""
    return "".join(
        f"{label}\n" + "".join(f"{INDENT}{line}\n" for line in reply.split("\n")) for label, reply in replies.items()
    )
