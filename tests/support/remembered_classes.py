"""Classes of the JVM and their static methods, looked up once by py4j in a test run instead of at each use.

PySpark asks the JVM for `functions`, then for its method `col`, at each column: of three messages two have the same
answer each time, and a look-up of a short name searches all jars. What the methods return is never remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JVMView


def remember() -> None:
    """For all sessions of this process."""
    for owner, kind in ((JVMView, JavaClass), (JavaClass, JavaMember)):
        if not hasattr(owner, "look_up"):
            owner.look_up = owner.__getattr__
            owner.__getattr__ = _remembering(owner.look_up, kind)


def _remembering(look_up: Callable[[Any, str], Any], kind: type) -> Callable[[Any, str], Any]:
    def __getattr__(owner: Any, name: str) -> Any:
        found = look_up(owner, name)
        if isinstance(found, kind):
            owner.__dict__[name] = found  # Python asks `__getattr__` only for names that it does not find.
        return found

    return __getattr__
