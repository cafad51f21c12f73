"""One transfer from the words of a person: both ends opened, the journal found, the walk made.

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
    """What is copied, and the catalog that it becomes in the target, if it shall be one of its own."""

    place: str
    name: str | None = None


def source_of(text: str) -> Source:
    """`thrift://old:9083`, or `sales=thrift://old:9083`."""
    found = _NAMED.fullmatch(text)
    return Source(text) if found is None else Source(found[2], found[1].lower())


def sources_of(texts: Sequence[str]) -> list[Source]:
    """Several sources need names: their databases may be called alike."""
    found = [source_of(text) for text in texts]
    names = [source.name for source in found]
    if len(found) > 1 and (None in names or len(set(names)) < len(names)):
        raise ConfigError(
            "several sources at once need a name each, which becomes their catalog: write sales=thrift://host:9083"
        )
    return found


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
    """Makes the target like the source, or tells what differs. What was refused is in the tally's failures.

    A dry run has one line for all partitions of a table, and one for each when it is `verbose`.

    An interrupted copy goes on where it was, as its journal says, when it is run again with the same words.
    """
    chosen = source if isinstance(source, Source) else Source(source)
    with ExitStack() as stack:
        here = stack.enter_context(open_end(chosen.place, access, Opening.REQUIRE))
        there = stack.enter_context(open_end(target, access, OPENINGS[mode]))
        tally = Tally(display or Silent(), WORDS[mode], by_table=mode is Mode.DRY_RUN and not verbose)
        # A number that stands for all of it: a database's URL may hold a password.
        words = (_whole(chosen.place), chosen.name or "", _whole(target), str(selection), f"drop={drop}")
        of = hashlib.sha256("\n".join(words).encode("utf-8", "surrogateescape")).hexdigest()
        path = (journal or _path(of, there)) if mode is Mode.COPY else None
        ends = Ends(
            source=here.reader,
            target=there.reader,
            writer=there.writer,
            selection=selection,
            catalogs=Catalogs(chosen.name),
            journal=Journal(path, of),
            tally=tally,
            mode=mode,
            drop=drop,
        )
        transfer(ends)
    return tally


def _whole(place: str) -> str:
    """The same place, wherever one stands."""
    return (
        place if "://" in place and (is_address(place) or place.startswith("postgres")) else str(Path(place).resolve())
    )


def _path(of: str, target: End) -> Path:
    """In the data folder; beside the person who runs it where there is none."""
    name = f"import-{of[:12]}.journal"
    return target.folder / name if target.folder is not None else Path(f"metastored-{name}")
