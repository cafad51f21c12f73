"""The conditions of an `alter_table`: properties of its environment, and how a refusal begins. Pure.

Hive has one since 2.3.10 (HIVE-26882): a parameter must still have a value. metastored adds one of its own. A server
that does not know a property ignores it.
"""

from __future__ import annotations

from typing import Final

EXPECTED_KEY: Final = "expected_parameter_key"
"""The name of a parameter that must have a value when the alter takes effect."""
EXPECTED_VALUE: Final = "expected_parameter_value"
CHANGES_ONLY: Final = "metastored.changes_only"
"""The names of the parameters that an alter changes, separated by commas. If the stored table differs in anything else
from the one that was sent, then somebody else has changed it, and the alter is refused."""

OTHER_VALUE: Final = "The table has been modified. The parameter value for key '"
"""How a refusal because of a value begins; the key and the values follow."""
OTHER_TABLE: Final = "The table has been modified. It differs from the one that was sent in more than "
"""How a refusal because of `CHANGES_ONLY` begins."""
