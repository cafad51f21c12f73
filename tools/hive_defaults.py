"""Writes src/metastored/service/hive_defaults.tsv: Hive's own settings and their defaults, read from Hive's classes.

It runs Hive 2.3.10, 3.1.3, 4.0.1 and 4.1.0, as far as `make setup` and `make peers` installed them. Run it when a
version is added: `python tools/hive_defaults.py`; with --check it only reports whether the file is current.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from tests.support.apache import hive_defaults  # noqa: E402

OUT = ROOT / "src/metastored/service/hive_defaults.tsv"
VERSIONS: Final = {"2.3": "2.3.10", "3.1": "3.1.3", "4.0": "4.0.1", "4.2": "4.1.0"}
"""The releases whose defaults are read for each value of `compat`; no release of 4.2 is available."""
READABLE: Final = re.compile(r"(hive|hdfs|mapred|metastore).*")
OF_THIS_MACHINE: Final = re.compile(r"/tmp\b.*|.*(password|passphrase|secret|credential).*", re.I)
"""Values that depend on the machine of the tool, and secrets that no server returns."""
HEAD = """\
# Made by tools/hive_defaults.py from Hive's own classes: do not edit.
# The generations that know a key, the key, its default; tab and line feed are written \\t and \\n.
"""


def lines() -> list[str]:
    """One for each key and value, with the generations that have both."""
    known: dict[tuple[str, str], list[str]] = {}
    for generation, version in VERSIONS.items():
        values: dict[str, str] = {}
        for line in hive_defaults(version).splitlines():
            key, tab, value = line.partition("\t")
            if tab:
                values.setdefault(key, value)
        for key, value in values.items():
            if READABLE.fullmatch(key) and not any(map(OF_THIS_MACHINE.fullmatch, (key, value))):
                known.setdefault((key, value), []).append(generation)
    return [f"{','.join(generations)}\t{key}\t{value}\n" for (key, value), generations in sorted(known.items())]


def main() -> None:
    text = HEAD + "".join(lines())
    if "--check" in sys.argv:
        if OUT.read_text(encoding="utf-8") != text:
            sys.exit(f"{OUT.relative_to(ROOT)} differs from Hive's classes: run tools/hive_defaults.py")
        return
    OUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
