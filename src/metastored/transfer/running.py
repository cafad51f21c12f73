"""Runs one transfer from the arguments of a command: opens source, target and journal, then compares.

tally = run("thrift://old:9083", "./metastore", Access())        # an import
tally = run("./metastore", "thrift://old:9083", Access())        # an export
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from metastored.errors import ConfigError
from metastored.transfer.copying import transfer
from metastored.transfer.ends import Ends, Mode
from metastored.transfer.journal import Journal
from metastored.transfer.local import Opening
from metastored.transfer.places import Access, End, is_address, open_end
from metastored.transfer.report import Action, Display, Silent, Tally
from metastored.transfer.selection import Catalogs, Selection

WORDS: Final[dict[Mode, dict[Action, str] | None]] = {
    Mode.COPY: None,
    Mode.DRY_RUN: {Action.ADD: "would be added", Action.ALTER: "would be altered", Action.DROP: "would be dropped"},
    Mode.VERIFY: {
        Action.ADD: "is missing in the target",
        Action.ALTER: "differs",
        Action.DROP: "is in the target only",
    },
}
OPENINGS: Final = {Mode.COPY: Opening.CREATE, Mode.DRY_RUN: Opening.PRETEND, Mode.VERIFY: Opening.REQUIRE}
_NAMED: Final = re.compile(r"(\w+)=(.+)", re.DOTALL)


class Source(NamedTuple):
    """The address of a source, and the name of its catalog in the target, if it gets its own."""

    address: str
    name: str | None = None


def source_of(text: str) -> Source:
    """`thrift://old:9083`, or `sales=thrift://old:9083`."""
    match = _NAMED.fullmatch(text)
    return Source(text) if match is None else Source(match[2], match[1].lower())


def sources_of(texts: Sequence[str]) -> list[Source]:
    """Parses several sources. They need names, since their databases may have the same names."""
    sources = [source_of(text) for text in texts]
    names = [source.name for source in sources]
    if len(sources) > 1 and (None in names or len(set(names)) < len(names)):
        raise ConfigError(
            "several sources at once need a name each, which becomes their catalog: write sales=thrift://host:9083"
        )
    return sources


def run(
    source: Source | str,
    target: str,
    access: Access,
    *,
    selection: Selection = Selection(),  # noqa: B008
    mode: Mode = Mode.COPY,
    drop: bool = False,
    journal: Path | None = None,
    display: Display | None = None,
    verbose: bool = False,
) -> Tally:
    """Makes the target equal to the source, or reports the differences. Refused objects are in the tally's failures.

    A dry run has one line for all partitions of a table, and one for each when it is `verbose`.

    An interrupted copy resumes from its journal when it is run again with the same arguments.
    """
    chosen = source if isinstance(source, Source) else Source(source)
    with ExitStack() as stack:
        here = stack.enter_context(open_end(chosen.address, access, Opening.REQUIRE))
        there = stack.enter_context(open_end(target, access, OPENINGS[mode]))
        tally = Tally(display or Silent(), WORDS[mode], by_table=mode is Mode.DRY_RUN and not verbose)
        # A hash of the arguments, since a database's URL may contain a password.
        words = (_absolute(chosen.address), chosen.name or "", _absolute(target), str(selection), f"drop={drop}")
        fingerprint = hashlib.sha256("\n".join(words).encode("utf-8", "surrogateescape")).hexdigest()
        path = (journal or _path(fingerprint, there)) if mode is Mode.COPY else None
        ends = Ends(
            source=here.reader,
            target=there.reader,
            writer=there.writer,
            selection=selection,
            catalogs=Catalogs(chosen.name),
            journal=Journal(path, fingerprint),
            tally=tally,
            mode=mode,
            drop=drop,
        )
        transfer(ends)
    return tally


def _absolute(address: str) -> str:
    """The address, or the absolute path, independent of the working directory."""
    return (
        address
        if "://" in address and (is_address(address) or address.startswith("postgres"))
        else str(Path(address).resolve())
    )


def _path(fingerprint: str, target: End) -> Path:
    """In the data folder; in the working directory if there is none."""
    name = f"import-{fingerprint[:12]}.journal"
    return target.folder / name if target.folder is not None else Path(f"metastored-{name}")
