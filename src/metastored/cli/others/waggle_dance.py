"""Reads a YAML file of Waggle Dance's. The conversion is in `remotes/waggle_dance.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metastored.errors import ConfigError


def read_yaml(file: Path) -> Any:
    """The content of a file. Raises ConfigError where it is not YAML, and OSError."""
    import yaml

    try:
        return yaml.safe_load(file.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: {' '.join(str(error).split())}") from None
