"""Builds the parts of CREATE TABLE: columns with their types, constraints, storage, buckets.

Types are rebuilt as texts; whether Hive has them is checked where a table is made of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metastored.errors import StatementError
from metastored.statements.basics import Pairs, Parts
from metastored.statements.clauses import Clauses, distinct, token_of
from metastored.statements.definitions import Buckets, Column, Constraint, Storage

if TYPE_CHECKING:
    from lark import Token, Tree


class Items(NamedTuple):
    """Columns and constraints, in the parentheses of CREATE TABLE."""

    columns: tuple[Column, ...]
    constraints: tuple[Constraint, ...]


class ColumnWithKeys(NamedTuple):
    """A column and the constraints that were written behind it."""

    column: Column
    constraints: tuple[Constraint, ...]


class TablesBuilder(Clauses):
    """One method for each rule."""

    # Columns

    def on_table_items(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Items]:
        columns: list[Column] = []
        constraints: list[Constraint] = []
        for each in children:
            if isinstance(each, ColumnWithKeys):
                columns.append(each.column)
                constraints += each.constraints
            else:
                constraints.append(each)
        return "items", Items(tuple(columns), tuple(constraints))

    def on_column(self, tree: Tree[Token], children: list[Any]) -> ColumnWithKeys:
        name, type, *options = children
        fields: dict[str, Any] = {}
        keys: list[tuple[str, str | None]] = []
        states: list[str] = []
        for option, value in options:
            if option == "state":
                states.append(value)
            elif option in ("PRIMARY KEY", "UNIQUE", "CHECK"):
                keys.append((option, value))
            elif option in fields:
                raise StatementError(f"the column {name} has {option} twice", tree.meta.line, tree.meta.column)
            else:
                fields[option] = value
        constraints = tuple(
            Constraint(kind, () if kind == "CHECK" else (name,), condition=condition, states=tuple(states))
            for kind, condition in keys
        )
        return ColumnWithKeys(Column(name, type, **fields), constraints)

    def on_column_list(self, tree: Tree[Token], children: list[ColumnWithKeys]) -> tuple[ColumnWithKeys, ...]:
        return tuple(children)

    def on_not_null(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "not_null", True

    def on_primary_key_option(self, tree: Tree[Token], children: list[Any]) -> tuple[str, None]:
        return "PRIMARY KEY", None

    def on_unique_option(self, tree: Tree[Token], children: list[Any]) -> tuple[str, None]:
        return "UNIQUE", None

    def on_default(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        value: Any = tree.children[1]
        return "default", str(token_of(value)) if value.data == "text" else children[0]

    def on_function_call(self, tree: Tree[Token], children: list[Any]) -> str:
        return f"{token_of(tree)}{''.join(children)}"

    def on_parentheses(self, tree: Tree[Token], children: list[Any]) -> str:
        return "()"

    def on_check(self, tree: Tree[Token], children: list[Any]) -> tuple[str, str]:
        return "CHECK", str(tree.children[1])[1:-1].strip()

    def on_state(self, tree: Tree[Token], children: list[Any]) -> tuple[str, str]:
        return "state", token_of(tree).type

    # Types

    def on_datatype(self, tree: Tree[Token], children: list[str]) -> str:
        word = str(token_of(tree)).lower()
        if children:
            return word + children[0]
        precise = len(tree.children) > 1 and tree.children[1] is not None
        return f"{word} precision" if precise else word

    def on_type_numbers(self, tree: Tree[Token], children: list[str]) -> str:
        return f"({','.join(children)})"

    def on_type_types(self, tree: Tree[Token], children: list[str]) -> str:
        return f"<{','.join(children)}>"

    def on_time_zone(self, tree: Tree[Token], children: list[Any]) -> str:
        return " with local time zone"

    def on_collation(self, tree: Tree[Token], children: list[Any]) -> str:
        return f" collate {tree.children[1]}"

    def on_interval(self, tree: Tree[Token], children: list[str]) -> str:
        return " " + " to ".join(children)

    def on_time_unit(self, tree: Tree[Token], children: list[Any]) -> str:
        return token_of(tree).type.lower()

    def on_type_argument(self, tree: Tree[Token], children: list[str]) -> str:
        return children[0]

    def on_type_field(self, tree: Tree[Token], children: list[Any]) -> str:
        return f"{children[0]}:{children[1]}"

    # Constraints

    def on_constraint(self, tree: Tree[Token], children: list[Any]) -> Constraint:
        fields: dict[str, Any] = {"states": tuple(value for field, value in children if field == "state")}
        for field, value in children:
            if field == "constraint_name":
                fields["name"] = value
            elif field == "CHECK":
                fields |= {"kind": field, "condition": value}
            elif field == "FOREIGN KEY":
                fields |= {"kind": field, "columns": value[0], "references": value[1], "referenced": value[2]}
            elif field != "state":
                fields |= {"kind": field, "columns": value}
        return Constraint(**fields)

    def on_constraint_name(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "constraint_name", children[0]

    def on_primary_key(self, tree: Tree[Token], children: list[tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
        return "PRIMARY KEY", children[0]

    def on_unique(self, tree: Tree[Token], children: list[tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
        return "UNIQUE", children[0]

    def on_foreign_key(self, tree: Tree[Token], children: list[Any]) -> tuple[str, tuple[Any, Parts, Any]]:
        own, (_, name), referenced = children
        if len(own) != len(referenced):
            raise StatementError(
                f"a foreign key of {len(own)} columns cannot refer to {len(referenced)}",
                tree.meta.line,
                tree.meta.column,
            )
        return "FOREIGN KEY", (own, name, referenced)

    # Clauses

    def on_partitioned_by(self, tree: Tree[Token], children: list[Column]) -> tuple[str, tuple[Column, ...]]:
        return "partitioned_by", tuple(children)

    def on_partition_column(self, tree: Tree[Token], children: list[Any]) -> Column:
        name, *rest = children
        type = next((each for each in rest if isinstance(each, str)), None)
        return Column(name, type, **dict(each for each in rest if isinstance(each, tuple)))

    def on_clustered_by(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Buckets]:
        columns, *rest = children
        number = rest[-1]
        if not number.isdecimal() or not 0 < int(number) < 2**31:
            raise StatementError(
                f"the number of buckets is a whole number above 0, not {number}", tree.meta.line, tree.meta.column
            )
        return "buckets", Buckets(columns, int(number), rest[0] if len(rest) == 2 else ())

    def on_sorted_by(self, tree: Tree[Token], children: list[str]) -> tuple[str, ...]:
        return tuple(children)

    def on_sorted_column(self, tree: Tree[Token], children: list[str]) -> str:
        word: Any = tree.children[1]
        return f"-{children[0]}" if word is not None and word.type == "DESC" else children[0]

    def on_row_format(self, tree: Tree[Token], children: list[Storage]) -> tuple[str, Storage]:
        return "row_format", children[0]

    def on_serde(self, tree: Tree[Token], children: list[Any]) -> Storage:
        return Storage(serde=children[0], properties=children[1][1] if len(children) == 2 else ())

    def on_delimited(self, tree: Tree[Token], children: list[list[tuple[str, str]]]) -> Storage:
        return Storage(properties=distinct(tree, [pair for pairs in children for pair in pairs], "delimiter"))

    def on_fields_delimiter(self, tree: Tree[Token], children: list[str]) -> list[tuple[str, str]]:
        pairs = [("field.delim", children[0]), ("serialization.format", children[0])]
        return [*pairs, ("escape.delim", children[1])] if len(children) == 2 else pairs

    def on_items_delimiter(self, tree: Tree[Token], children: list[str]) -> list[tuple[str, str]]:
        return [("collection.delim", children[0])]

    def on_keys_delimiter(self, tree: Tree[Token], children: list[str]) -> list[tuple[str, str]]:
        return [("mapkey.delim", children[0])]

    def on_lines_delimiter(self, tree: Tree[Token], children: list[str]) -> list[tuple[str, str]]:
        if children[0] != "\n":
            raise StatementError("LINES TERMINATED BY must be '\\n'", tree.meta.line, tree.meta.column)
        return [("line.delim", children[0])]

    def on_null_delimiter(self, tree: Tree[Token], children: list[str]) -> list[tuple[str, str]]:
        return [("serialization.null.format", children[0])]

    def on_stored_as(self, tree: Tree[Token], children: list[str]) -> tuple[str, Storage]:
        return "stored_as", Storage(format=children[0])

    def on_stored_as_classes(self, tree: Tree[Token], children: list[str]) -> tuple[str, Storage]:
        return "stored_as", Storage(input=children[0], output=children[1])

    def on_stored_by(self, tree: Tree[Token], children: list[str]) -> tuple[str, Storage]:
        return "stored_as", Storage(handler=children[0])

    def on_location(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "location", children[0]

    def on_managed_location(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "managed_location", children[0]

    def on_options(self, tree: Tree[Token], children: list[tuple[str, str]]) -> tuple[str, Pairs]:
        return "options", distinct(tree, children, "option")

    def on_option(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return children[0], children[1]

    def on_option_key(self, tree: Tree[Token], children: list[str]) -> str:
        return ".".join(children)

    def on_option_word(self, tree: Tree[Token], children: list[Any]) -> str:
        return str(token_of(tree))
