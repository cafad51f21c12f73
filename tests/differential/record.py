"""Plays the scripts of `probes/` to the real Hives, and compares their replies with the recordings: `make peers-check`.

With `--record` it writes the recordings instead. It needs `make setup` and `make peers`, and ends with an error if a
Hive is missing. Each Hive plays all topics in their order on one server, since later topics meet what earlier ones
left; events are played to a server of their own, which keeps them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tests.differential.peer import Peer
from tests.differential.probes import TOPICS
from tests.differential.recordings import FOLDER, MissingRecording, printed, recorded
from tests.differential.script import lines
from tests.support.apache import ApacheMetastore, MissingPeer, apache_2_3, apache_3_1, apache_peer
from tests.support.client import Client

EVENTS: Final = "events"
PLAIN_TOPICS: Final = tuple(topic for topic in TOPICS if topic != EVENTS)
OWN_TOPICS_OF_HIVE_4: Final = (
    *("acid", "requests", "translation", "resource_plans", "schema_registry"),
    *("hive_4_documents", "hive_4_objects", "hive_4_acid"),
)
"""Those in which the versions of Hive 4 differ from each other, or from all before."""
TOPICS_OF_HIVE_4: Final = (
    *("spark", "service", "databases", "tables", "alter_table", "partitions", "changing_partitions"),
    *("partition_edges", "truncating"),
    *("functions", "views", "catalogs", "roles", "constraints", "filters", "column_statistics", "rest", "indexes"),
    "absent",
    *OWN_TOPICS_OF_HIVE_4,
)


class Played(NamedTuple):
    """A server and the topics that are played to it, in order."""

    version: str
    compat: str
    """metastored's mode that is compared with it."""
    start: Callable[[], AbstractContextManager[ApacheMetastore]]
    topics: tuple[str, ...]


SERVERS: Final = (
    Played("2.3", "2.3", apache_2_3, PLAIN_TOPICS),
    Played("2.3", "2.3", partial(apache_2_3, events=True), (EVENTS,)),
    Played("3.1", "3.1", apache_3_1, PLAIN_TOPICS),
    Played("3.1", "3.1", partial(apache_3_1, events=True), (EVENTS,)),
    Played("4.0.0", "4.0", partial(apache_peer, "4.0.0"), TOPICS_OF_HIVE_4),
    Played("4.0.1", "4.0", partial(apache_peer, "4.0.1"), TOPICS_OF_HIVE_4),
    Played("4.1", "4.2", partial(apache_peer, "4.1.0"), TOPICS_OF_HIVE_4),
)


def replies(played: Played) -> Iterator[tuple[str, dict[str, str]]]:
    """The topics, and the reply to each probe by its label."""
    with (
        tempfile.TemporaryDirectory(prefix="metastored-record-") as beside,
        played.start() as hive,
        Client(hive.host, hive.port) as client,
    ):
        for topic in played.topics:
            # User and settings of one script must not affect the next.
            client.close()
            yield topic, dict(lines(TOPICS[topic], Peer(client, played.version, hive.warehouse, Path(beside))))


def differences(version: str, topic: str, replied: dict[str, str]) -> list[str]:
    try:
        expected = recorded(version, topic, TOPICS[topic])
    except MissingRecording as missing:
        return [str(missing)]
    return [
        f"Hive {version}, {topic}: {label}\n  recorded: {expected[label]}\n  now: {reply}"
        for label, reply in replied.items()
        if reply != expected[label]
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares the recordings with the real Hives.")
    parser.add_argument("--record", action="store_true", help="write the recordings instead")
    parser.add_argument("versions", nargs="*", help="such as 2.3; all of them unless given")
    arguments = parser.parse_args()
    wrong = 0
    for played in SERVERS:
        if arguments.versions and played.version not in arguments.versions:
            continue
        try:
            for topic, replied in replies(played):
                if arguments.record:
                    file = FOLDER / played.version / f"{topic}.txt"
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(printed(replied), encoding="utf-8")
                else:
                    found = differences(played.version, topic, replied)
                    print(*found, sep="\n", end="\n" if found else "")
                    wrong += len(found)
        except MissingPeer as reason:
            print(reason)
            wrong += 1
        print(f"Hive {played.version}: {len(played.topics)} topics", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
