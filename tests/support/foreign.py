"""A program in the environment of clients that clash with the tests' own: it runs a script and gives back its result.

    result = run_foreign("result = HiveMetastoreClient(host, port).open().get_all_databases()", host=…, port=…)

The script sees its arguments under their names, and assigns its result to `result`; both must be valid in JSON.
It has no metastored in its sight, and a folder of its own that is gone afterwards. It never outlives its time.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.support.needs import require

PYTHON = Path(__file__).resolve().parents[2] / ".venv-witness/bin/python"
TIMEOUT = 180.0

PROGRAM = """\
import json, sys

with open(sys.argv[1], encoding="utf-8") as file:
    task = json.load(file)
names = {**task["given"], "result": None}
exec(compile(task["script"], "<script>", "exec"), names)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(names["result"], file)
"""


def run_foreign(script: str, **given: Any) -> Any:
    """The value that the script assigned to `result`; an error in it fails the test, with the output."""
    require("witness")
    with tempfile.TemporaryDirectory(prefix="metastored-foreign-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        # A file, not an argument: Spark Connect takes a program without one for its own tests.
        program, task, result = folder / "program.py", folder / "task.json", folder / "result.json"
        program.write_text(PROGRAM, encoding="utf-8")
        task.write_text(json.dumps({"given": given, "script": script}), encoding="utf-8")
        done = subprocess.run(
            [PYTHON, program, task, result],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            timeout=TIMEOUT,
        )
        assert done.returncode == 0, done.stdout.decode(errors="replace")
        return json.loads(result.read_text(encoding="utf-8"))
