"""Local files of Spark in tests, written without processes: a quarter of the time of a small write is that of `chmod`.

Hadoop sets the permissions of each new file and directory, and starts a process for it where its native library is not
installed. A JVM in which `java/LocalFiles.java` is installed sets the same permissions itself. Large tests
(`make soak`) and benchmarks keep Hadoop's file system: `run_costs.py` decides it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

SOURCE: Final = Path(__file__).parent / "java" / "LocalFiles.java"
WANTED: Final = "TESTS_LOCAL_FILES"
"""The environment variable of a run whose JVMs get it. metastored refuses unknown ones with its own prefix."""


def source() -> str | None:
    """The source to install; None where Hadoop's own file system is to be used."""
    return SOURCE.read_text("utf-8") if os.environ.get(WANTED) else None


def install(jvm: Any, source: str | None) -> None:
    """Installs it in a JVM, once; `jvm` is `spark._jvm`. Programs have its text: it uses no other names."""
    installed = "metastored.test.local.files"
    if source is None or jvm.java.lang.System.getProperty(installed) is not None:
        return
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.ClassLoader.getSystemClassLoader())
    compiler.cook(source)
    compiler.getClassLoader().loadClass("LocalFiles").getMethod("install", None).invoke(None, None)
    jvm.java.lang.System.setProperty(installed, "true")
