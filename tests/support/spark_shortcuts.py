"""Two parts of Spark's JVM that tests replace, since they take processor time and no result depends on them.

- Hadoop sets the permissions of each new local file and directory, and starts a process (`chmod`) for it where its native
  library is not installed: a quarter of the time of a small write. `java/LocalFiles.java` sets the same permissions itself.
- Spark adds up, before and after each run of its rules, how long each of 300 rules has ever taken, for a line of the log:
  a third of the driver's time of a small statement. `java/RuleTimes.java` replaces the maps by empty ones.

Large tests (`make soak`) and benchmarks run Spark as it is: `run_costs.py` decides it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

JAVA: Final = Path(__file__).parent / "java"
CLASSES: Final = ("LocalFiles", "RuleTimes")
WANTED: Final = "TESTS_SPARK_SHORTCUTS"
"""The environment variable of a run whose JVMs get them. metastored refuses unknown ones with its own prefix."""


def sources() -> dict[str, str]:
    """The classes to install, with their sources; empty where Spark is to be as it is."""
    if not os.environ.get(WANTED):
        return {}
    return {name: (JAVA / f"{name}.java").read_text("utf-8") for name in CLASSES}


def install(jvm: Any, sources: Mapping[str, str]) -> None:
    """Installs them in a JVM, once; `jvm` is `spark._jvm`. Programs have its text: it uses no other names."""
    for name, source in sources.items():
        installed = f"metastored.test.{name}"
        if jvm.java.lang.System.getProperty(installed) is not None:
            continue
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.java.lang.ClassLoader.getSystemClassLoader())
        compiler.cook(source)
        compiler.getClassLoader().loadClass(name).getMethod("install", None).invoke(None, None)
        jvm.java.lang.System.setProperty(installed, "true")
