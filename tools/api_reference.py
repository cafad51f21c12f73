"""Writes docs/reference/api.md from the method table and the code; with --check only says whether it is current.

Every method of the API is in it: since when Hive has it, what it needs, and whether metastored serves it.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from metastored.service.core import compat  # noqa: E402
from metastored.service.core.serving import served  # noqa: E402
from metastored.wire.methods import METHODS, Method  # noqa: E402
from metastored.wire.types import VERSIONS  # noqa: E402

OUT = ROOT / "docs/reference/api.md"

HEAD = """\
# The metastore API

Made by `tools/api_reference.py` from the method table (`src/metastored/wire/api/`) and the code; do not edit.

metastored serves {served} of the {all} methods that Hive 2.3 to 4.2, and what comes after it, have between them. A
method that is not served answers `Invalid method name`, as a Hive server that does not know it. `Hive` says which
versions have the method; metastored serves every method to every client. `asks` is the privilege it needs where
authorisation is on, and `event` the notification it writes.
"""


def versions(method: Method) -> str:
    first, last = method.versions[0], method.versions[-1]
    if last == VERSIONS[-1]:
        return f"{first} and later"
    return first if first == last else f"{first} to {last}"


def text() -> str:
    known = served()
    out = [HEAD.format(served=len(known), all=len(METHODS))]
    topics: dict[str, list[Method]] = {}
    for method in METHODS.values():
        topics.setdefault(method.topic, []).append(method)
    for topic, methods in sorted(topics.items()):
        count = sum(method.name in known for method in methods)
        out.append(f"## {topic.replace('_', ' ').capitalize()}\n\n{count} of {len(methods)} served.\n")
        out.append("| method | what it does | served | Hive | verb | asks | event |\n|---|---|---|---|---|---|---|")
        for method in sorted(methods, key=lambda one: one.name.lower()):
            serves = "yes" if method.name in known else "no"
            out.append(
                f"| `{method.name}` | {method.doc} | {serves} | {versions(method)} | {method.verb} "
                f"| {method.privileges} | {method.event} |"
            )
        out.append("")
    out.append("## What differs between the versions\n")
    out.append("`--compat` says which version a client is answered as until it shows that it is newer.\n")
    out.append("| since | what is different from before |\n|---|---|")
    out += (f"| {line.since} | {line.what} |" for line in compat.table())
    return "\n".join(out).rstrip() + "\n"


def main(check: bool) -> int:
    wanted = text()
    if OUT.exists() and OUT.read_text("utf-8") == wanted:
        return 0
    if check:
        print(f"not current: {OUT.relative_to(ROOT)}; run python tools/api_reference.py")
        return 1
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(wanted, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main("--check" in sys.argv[1:]))
