"""Writes docs/reference/configuration.md from the settings schema; with --check only says whether it is current.

Run it after every change of `src/metastored/config.py`: `python tools/configuration_reference.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from metastored.config import CONFIG_VARIABLE, PREFIX, Key, keys_by_group  # noqa: E402

OUT = ROOT / "docs/reference/configuration.md"
HEAD = f"""# Configuration

Made by `tools/configuration_reference.py` from `src/metastored/config.py`: do not edit.

Every key can be given in a YAML file (`metastored serve --config FILE`, or the variable `{CONFIG_VARIABLE}`), as an
environment variable and as a flag. The environment wins over the file, a flag over both. Unknown keys are refused.

```yaml
# metastored.yaml
host: 0.0.0.0
database_url: postgresql://metastored@db.example.com/metastored
warehouse: s3a://warehouse/hive
workers: 4
```

The variable of a key is its name in capitals behind `{PREFIX}` (`{PREFIX}DATABASE_URL`); its flag has dashes
(`--database-url`).

"""
TABLE = """
## {}

| key | value | default | |
|---|---|---|---|
"""


def render(groups: Mapping[str, Iterable[Key]]) -> str:
    """The page: a table for each group."""
    return HEAD + "".join(TABLE.format(group) + "".join(map(_row, keys)) for group, keys in groups.items())


def _row(key: Key) -> str:
    kind = key.kind.replace("|", "\\|")
    default = f"`{key.default_text}`" if key.default_text else ""
    return f"| `{key.name}` | {kind} | {default} | {key.description} |\n"


def main(check: bool) -> int:
    text = render(keys_by_group())
    current = OUT.exists() and OUT.read_text("utf-8") == text
    if check:
        if not current:
            print(f"not current: {OUT.relative_to(ROOT)}; run python tools/configuration_reference.py")
        return 0 if current else 1
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main("--check" in sys.argv[1:]))
