"""The syntax of statements as people write it, from the grammar; and the help that the shell prints. Pure."""

from __future__ import annotations

import re
from typing import Final

from metastored.statements.examples import EXAMPLES
from metastored.statements.explanations import PARTS, SECTIONS
from metastored.statements.parsing import GRAMMARS

PLACEHOLDERS: Final = {
    "name": "name", "identifier": "name", "role": "role", "text": "'text'", "number": "number", "value": "key = value",
    "properties": "('key' = 'value', …)", "keys": "('key', …)", "partition": "PARTITION (key = value, …)",
    "column_names": "(column, …)", "grantables": "[ROLE] (privilege [(column, …)] | role), …",
    "cascade": "", "datatype": "type", "option": "key = value", "operator": "=",
    "_table_clause": "<table_clause>", "_table_action": "<table_action>", "function_call": "function()",
    "comparison": "key = value", "state": "state", "CONDITION": "(condition)", "option_key": "key",
    "partition_filter": "PARTITION (key = value, …)", "column_list": "(<column>, …)",
    "view_column": "name [type] [COMMENT 'text']",
    "partition_column": "name [type] [COMMENT 'text']", "as_query": "AS query", "_as_query": "",
    "where": "WHERE condition", "described_column": "column",
    **{part: f"<{part}>" for part in PARTS},
}  # fmt: skip
"""Rules and terminals that are not expanded."""


def rules() -> dict[str, str]:
    """The rules of the grammar by name."""
    text = re.sub(r"//[^\n]*", "", "\n".join(file.read_text("utf-8") for file in GRAMMARS))
    pairs = re.findall(r"^\??(_?[a-z_]+):((?:[^\n]|\n\s+\|)*)$", text, re.MULTILINE)
    return {name: " ".join(body.split()) for name, body in pairs}


def syntax(rule: str, known: dict[str, str]) -> str:
    """A rule as people write syntax: its clauses expanded, keywords as they are, names and texts as placeholders."""
    words: list[str] = []
    body = re.sub(r"-> \w+", "", known[rule])
    body = re.sub(r'\b(\w+) \(","\??( \1)\)\*', r"\1 MORE", body)
    for token in re.findall(r'"[^"]*"[*?]?|[A-Za-z_]+[*?+]?|[\[\]()|][*+]?', body):
        bare = token.rstrip("*?+")
        if bare == "MORE":
            words[-1] += ", …"
        elif bare.startswith('"'):
            words.append(bare.strip('"'))
        elif bare in PLACEHOLDERS:
            words.append(PLACEHOLDERS[bare])
        elif bare in known:
            inner = syntax(bare, known)
            if known[bare].endswith("|"):
                words.append(f"[{inner.rstrip(' |')}]" if inner.strip(" |") else "")
            else:
                words.append(f"({inner})" if _is_choice(inner) else inner)
        else:
            words.append(bare)
        if token.endswith(("*", "+")) and not bare.startswith('"'):
            words.append("…")
    text = " ".join(filter(None, words))
    return text.replace("[ ", "[").replace(" ]", "]").replace("( ", "(").replace(" )", ")")


def _is_choice(text: str) -> bool:
    """Whether alternatives of a clause are in no brackets yet."""
    depth = 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and not depth:
            return True
    return False


def alternatives(rule: str, known: dict[str, str]) -> str:
    """A part with each of its alternatives on a line of its own."""
    rule = rule if rule in known else f"_{rule}"
    names = [each.strip() for each in known[rule].split(" | ")]
    if all(name in known for name in names):
        return "\n    | ".join(syntax(name, known) for name in names)
    return syntax(rule, known)


def wrapped(text: str) -> str:
    """A new line before each optional clause, where the statement is long."""
    if len(text) <= 100:
        return text
    depth, lines = 0, ""
    for at, sign in enumerate(text):
        clause = sign == " " and not depth and text[at + 1] == "[" and not text.startswith(("[IF", "[ROLE"), at + 1)
        lines += "\n    " if clause else sign
        depth += (sign in "([") - (sign in ")]")
    return lines


def help_on(words: str) -> str:
    """The syntax, the explanation and an example of each statement that begins with these words or contains them.

    Without words: the first words of all statements.
    """
    known = rules()
    same = {"SCHEMA": "DATABASE", "DESC": "DESCRIBE"}
    wanted = [same.get(word, word) for word in words.upper().split()]
    matching = []
    for statements in SECTIONS.values():
        for rule, text in statements:
            line = syntax(rule, known)
            if wanted and _begin(line).split()[: len(wanted)] == wanted:
                example = EXAMPLES[rule].replace("\n", "\n    ")
                parts = (wrapped(line), text and f"  {text}", f"  Example:\n    {example}")
                matching.append("\n".join(filter(None, parts)))
    if matching:
        used = {part for part in PARTS if any(f"<{part}>" in each for each in matching)}
        return "\n\n".join([*matching, *(f"<{part}>: {alternatives(part, known)}" for part in PARTS if part in used)])
    lines = ["help GRANT explains a statement; these begin with:"]
    for heading, statements in SECTIONS.items():
        begins = dict.fromkeys(_begin(syntax(rule, known)) for rule, _ in statements)
        lines.append(f"  {heading}: {', '.join(begins)}")
    if wanted:
        lines.insert(0, f"no statement begins with {' '.join(wanted)}")
    return "\n".join(lines)


def _begin(line: str) -> str:
    """The keywords with which a statement begins; of alternatives the first."""
    text = re.sub(r"\(([A-Z_]+) \|[^)]*\)", r"\1", line)
    text = re.sub(r"\[[^\]]*\]", "", text)
    match = re.match(r"[A-Z_ ]*[A-Z_]", text)
    return " ".join(match[0].split()) if match is not None else line
