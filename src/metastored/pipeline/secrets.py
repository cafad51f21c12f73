"""The values of secrets, from variables of the environment and from files. They are never stored."""

from __future__ import annotations

import os
from pathlib import Path

from metastored.errors import ConfigError
from metastored.pipeline.parameters import Lookup


def secret_lookup(folder: Path) -> Lookup:
    """Finds secrets; the paths of files begin in this folder. A line break at the end of a file is not part of it."""

    def find(kind: str, name: str) -> str:
        if kind == "env":
            value = os.environ.get(name)
            if value is None:
                raise ConfigError(f"the variable {name} of the environment is not set; the pipeline refers to it")
            return value
        try:
            return (folder / name).read_text("utf-8").rstrip("\r\n")
        except OSError as error:
            raise ConfigError(
                f"the file {name}, which the pipeline refers to, cannot be read: {error.strerror}"
            ) from None

    return find
