"""Generates the synchronous modules from the asynchronous ones; with --check only reports whether they are current.

    src/metastored/client/_async/*.py   ->  src/metastored/client/_sync/*.py
    src/metastored/catalog/_async/*.py  ->  src/metastored/catalog/_sync/*.py

Both differ only in the replacements below. Run it after every change in `_async`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (ROOT / "src/metastored/client", ROOT / "src/metastored/catalog")
HEADER = "# Made by tools/unasync.py from _async/{name}: DO NOT EDIT.\n"

WORDS = [
    (r"_backend import aio as io", "_backend import threads as io"),
    (r"metastored\.(client|catalog)\._async", r"metastored.\1._sync"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\b__aiter__\b", "__iter__"),
    (r"\b__anext__\b", "__next__"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bAsyncGenerator\b", "Generator"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\bAsync(Caller|Capabilities|CatalogManager|CatalogProvider|Client|EventPoll|HiveProvider|Lease|Lock|Metadata|Methods|Operations|Pool"
     r"|Read|Statements|Transaction|Write)\b", r"\1"),
    (r"\bAwaitable\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", r"\1"),
    (r"\bimport Awaitable, ", "import "),
    (r"\baconnect\b", "connect"),
    (r"The (\w+), asynchronous: the source from which `tools/unasync\.py` makes `_sync`\.",
     r"The \1, synchronous: made from `_async`."),
]  # fmt: skip


def synchronous(text: str, name: str) -> str:
    """The synchronous form of a module."""
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    return HEADER.format(name=name) + text


def formatted(text: str, target: Path) -> str:
    """Formatted by ruff: names became shorter, and the order of imports may change."""
    ruff = [sys.executable, "-m", "ruff"]
    name = ["--stdin-filename", str(target), "-"]
    for command in (["check", "--quiet", "--select", "I", "--fix"], ["format", "--quiet"]):
        done = subprocess.run(
            [*ruff, *command, *name], input=text, text=True, capture_output=True, check=True, cwd=ROOT
        )
        text = done.stdout
    return text


def main(check: bool) -> int:
    files = {
        package / "_sync" / path.name: path
        for package in PACKAGES
        for path in sorted((package / "_async").glob("*.py"))
    }
    wrong = 0
    for target, source in files.items():
        text = formatted(synchronous(source.read_text("utf-8"), source.name), target)
        if target.exists() and target.read_text("utf-8") == text:
            continue
        wrong += 1
        if check:
            print(f"not current: {target.relative_to(ROOT)}; run python tools/unasync.py")
        else:
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, "utf-8")
    for stale in {path for package in PACKAGES for path in (package / "_sync").glob("*.py")} - set(files):
        wrong += 1
        if check:
            print(f"{stale.relative_to(ROOT)} has no source; run python tools/unasync.py")
        else:
            stale.unlink()
    if not check:
        print(f"{wrong} of {len(files)} files written")
    return 1 if check and wrong else 0


if __name__ == "__main__":
    raise SystemExit(main("--check" in sys.argv[1:]))
