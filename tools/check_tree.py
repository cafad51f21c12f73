"""Fails when a tracked file contains the address of a package index or a path of a developer's machine.

Both work only on that machine. It checks text files that git tracks; caches and virtual environments are not tracked.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

INDEX = (
    re.compile(r"--(?:extra-)?index-url|--find-links|^\s*(?:extra-)?index-url\s*=", re.MULTILINE),
    re.compile(r"https?://\S*/(?:simple|maven2|artifactory|nexus)\b"),
    re.compile(r"https?://(?:[\w.-]*\.)?(?:pythonhosted\.org|pypi\.org/(?!project/))"),
)
# A path as a word of its own or in a file URI, not the end of a longer one such as s3://bucket/work/x.
BEFORE_A_PATH = r"(?:(?<![\w/.}-])|(?<=file://))"
# Folders in which containers and build services check out.
WORKPLACES = re.compile(BEFORE_A_PATH + r"/(?:builds|root|work|workspace)/[\w.-]+")


def faults(text: str, machine_paths: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """The line and the reason of each stray address in a text."""
    for pattern in INDEX:
        for match in pattern.finditer(text):
            yield _line(text, match.start()), f"an index address or option: {match.group().strip()}"
    for match in WORKPLACES.finditer(text):
        yield _line(text, match.start()), f"a path of one machine: {match.group()}"
    for path in machine_paths:
        for match in re.finditer(BEFORE_A_PATH + re.escape(path) + r"(?![\w-])", text):
            yield _line(text, match.start()), f"a path of this machine: {path}"


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def _machine_paths() -> tuple[str, ...]:
    """The user's home directory, and the directories of all worktrees of the repository."""
    lines = _git("worktree", "list", "--porcelain").splitlines()
    checkouts = [line.partition(" ")[2] for line in lines if line.startswith("worktree ")]
    return (str(Path.home()), *checkouts)


def main() -> int:
    machine_paths = _machine_paths()
    count = 0
    # This file and its tests contain the patterns and examples of matches.
    own = {Path("tools/check_tree.py"), Path("tests/tools/test_check_tree.py")}
    for path in map(Path, _git("ls-files", "-z").rstrip("\0").split("\0")):
        if path in own or not path.is_file():
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for line, reason in sorted(set(faults(text, machine_paths))):
            count += 1
            print(f"{path}:{line}: {reason}", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
