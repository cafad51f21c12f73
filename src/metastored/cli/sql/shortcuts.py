"""Commands of the prompt that are not statements: `help`, `\\d` and its like, `\\timing`. Pure."""

from __future__ import annotations

from typing import Final

from metastored.statements.printing import name as printed_name
from metastored.statements.syntax import help_on

SHORTCUTS: Final = {
    "\\l": ("SHOW DATABASES", "databases"),
    "\\d": ("DESCRIBE EXTENDED {name}", "a table; without a name: SHOW TABLES"),
    "\\dt": ("SHOW TABLES", "tables of the current database"),
    "\\dv": ("SHOW VIEWS", "views"),
    "\\df": ("SHOW FUNCTIONS", "functions"),
    "\\du": ("SHOW ROLES", "roles"),
    "\\dp": ("SHOW GRANT ON TABLE {name}", "grants on a table"),
    "\\c": ("USE {name}", "use another database"),
}
"""What they stand for, and what they show."""
TIMING: Final = "\\timing"
QUIT: Final = "\\q"


def statement_of(line: str) -> str | None:
    """The statement that a shortcut stands for; None for a line that is not a shortcut, or one without its name."""
    word, _, argument = line.strip().rstrip(";").partition(" ")
    argument = argument.strip()
    if word == "\\d" and not argument:
        word = "\\dt"
    text = SHORTCUTS.get(word, ("", ""))[0]
    if not text or ("{name}" in text) != bool(argument):
        return None
    return text.replace("{name}", printed_name(tuple(part.strip("`") for part in argument.split(".")))) + ";"


def help_of(line: str) -> str | None:
    """The answer to `help`, `help GRANT` and `\\?`; None for any other line."""
    word, _, argument = line.strip().rstrip(";").partition(" ")
    if word.lower() not in ("help", "?", "\\?", "\\h"):
        return None
    if argument.strip():
        return help_on(argument)
    lines = [f"  {word:<8} {shown}" for word, (_, shown) in SHORTCUTS.items()]
    lines += [f"  {TIMING:<8} print the time of each statement, or stop it", f"  {QUIT:<8} end the session, as exit"]
    return "\n".join([help_on(""), "", "shortcuts:", *lines])
