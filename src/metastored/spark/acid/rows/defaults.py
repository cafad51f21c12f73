"""The default values of columns: Hive's DEFAULT constraints, which the metastore stores as expressions in SQL.

A new row has them for columns without a value. A column without a constraint is null. Whoever may alter a table can
store any text: only constants, the current date and time, and the user are accepted, since Spark's SQL can call methods
of Java and end an expression early. Nothing is evaluated here.
"""

from __future__ import annotations

from typing import Final

from metastored.client._sync.client import Client
from metastored.errors import ApplicationError, NoSuchObjectException, NotSupported, StatementError
from metastored.model.names import TableName
from metastored.wire.generated.constraints import DefaultConstraintsRequest

NULL: Final = "NULL"
_METHOD: Final = "get_default_constraints"


def default_values(client: Client, name: TableName) -> dict[str, str]:
    """The expressions of the columns that have one, by column in lower case. Servers before Hive 3 have none."""
    if client.capabilities.lacks(_METHOD):
        return {}
    request = DefaultConstraintsRequest(catName=name.catalog_field, db_name=name.database, tbl_name=name.table)
    try:
        constraints = client.api.get_default_constraints(request).defaultConstraints or ()
    except NoSuchObjectException:
        return {}
    except ApplicationError as error:
        if error.type != ApplicationError.UNKNOWN_METHOD:
            raise
        client.capabilities.learned(_METHOD, False)
        return {}
    values = {
        (each.column_name or "").lower(): each.default_value
        for each in constraints
        if each.default_value and each.enable_cstr is not False
    }
    for column, value in values.items():
        if not is_constant(value):
            raise NotSupported(
                f"the default of the column {column} of {name} is not a constant: {value!r}. Alter the constraint, or "
                "give all columns values"
            )
    return values


def is_constant(text: str) -> bool:
    """Whether a text is one expression that Hive allows as a default: a literal, a cast of one, or a current value."""
    from sqlglot import TokenType, exp

    from metastored.spark.source import flat, parsed_again

    allowed = (
        exp.Literal, exp.Concat, exp.Null, exp.Boolean, exp.Neg, exp.Paren, exp.Cast, exp.DataType, exp.DataTypeParam,
        exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentUser,
    )  # fmt: skip
    try:
        tokens = flat(text).tokens
    except StatementError:
        return False
    # A comment could reach beyond the expression, and the parser stops at the end of the first statement.
    if any(each.comments or each.token_type is TokenType.SEMICOLON for each in tokens):
        return False
    tree = parsed_again(text)
    return tree is not None and all(isinstance(each, allowed) for each in tree.walk())
