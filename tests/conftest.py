"""What holds for all tests."""

from __future__ import annotations

import os
from pathlib import Path

# Programs that tests start run the code of this tree, as the tests themselves do.
os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent / "src")
