"""Statements executed by the driver of Hive 3.1.3, as its command line does, at any metastore.

All statements are executed by one Java process (`java/HiveStatements.java`). Rows are never read or written by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.apache import run_with_hive_driver


def run_hive(
    uri: str, warehouse: str, folder: Path, statements: Sequence[str], more: Mapping[str, str] | None = None
) -> list[list[str] | str]:
    """The result of each statement: the lines that Hive printed, or the text of its error. `more` are settings.

    `folder` is for Hive's temporary files. Raises MissingPeer where Hive is not on this machine.
    """
    settings = {
        "hive.metastore.uris": uri,
        "hive.metastore.warehouse.dir": warehouse,
        "hive.support.concurrency": "false",
        "hive.cbo.enable": "false",
        "hive.execution.engine": "mr",
        "hive.stats.autogather": "false",
        "fs.defaultFS": "file:///",
        **{
            name: str(folder / name)
            for name in (
                *("hive.exec.scratchdir", "hive.exec.local.scratchdir", "hive.downloaded.resources.dir"),
                "hive.querylog.location",
            )
        },
        **(more or {}),
    }
    given = "".join(json.dumps(line) + "\n" for line in (settings, *statements))
    found = [json.loads(line) for line in run_with_hive_driver("HiveStatements", given).splitlines()]
    assert len(found) == len(statements), found
    return [each["error"] if isinstance(each, dict) else each for each in found]
