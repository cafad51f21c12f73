"""The kinds of constraints, by the names under which they are stored, copied and compared."""

from typing import Final

PRIMARY: Final = "primary_key"
FOREIGN: Final = "foreign_key"
UNIQUE: Final = "unique"
NOT_NULL: Final = "not_null"
DEFAULT: Final = "default"
CHECK: Final = "check"
KINDS: Final = (PRIMARY, FOREIGN, UNIQUE, NOT_NULL, DEFAULT, CHECK)
