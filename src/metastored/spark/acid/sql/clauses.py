"""The clauses of UPDATE, DELETE, INSERT and MERGE: cut out of the statement's text, and compared with its tree.

Each part is parsed again and must equal its node of the tree, so that a mistake about where a part ends is an error,
and never another statement. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import TokenType, exp

from metastored.model.counting import counted
from metastored.model.names import TableName
from metastored.spark.acid.clauses import SOURCE, TARGET
from metastored.spark.acid.sql.tables import Parts
from metastored.spark.acid.sql.values import (
    Assignment,
    Clause,
    Default,
    Delete,
    Insert,
    Inserts,
    Merge,
    Sql,
    Unqualified,
    Update,
    View,
)
from metastored.spark.source import Edit, Source, parsed_again

INSERT_FORMS: Final = "write INSERT *, INSERT (columns) VALUES (expressions), or INSERT VALUES (expressions)"


class Cutter:
    """Cuts the parts of one statement. `views` are those of all its ACID tables; a part has the ones it names."""

    def __init__(self, source: Source, views: Sequence[View]) -> None:
        self.source = source
        self._views = views
        self._unqualified: list[tuple[int, str]] = []

    def sql(self, first: int, end: int, node: exp.Expression | None) -> Sql:
        """The edited text between two tokens, which is that of this node."""
        source = self.source
        if node is None or parsed_again(source.original(first, end)) != node:
            raise source.error("this part of the statement could not be separated", source.offset(first))
        text = self.edited(first, end)
        columns = [(source.moved(offset, first, end), name) for offset, name in self._unqualified]
        return replace(text, columns=tuple(sorted(Unqualified(at, name) for at, name in columns if at is not None)))

    def edited(self, first: int, end: int, before: str = "") -> Sql:
        text = before + self.source.cut(first, end)
        return Sql(text, tuple(view for view in self._views if view.name in text))

    def after_target(self, table: exp.Table) -> int:
        """The token after the name of the target."""
        end = table.parts[-1].meta["end"]
        return next(at for at, token in enumerate(self.source.tokens) if token.end == end) + 1

    def qualifiers(self, relation: exp.Expression, table: TableName | None = None) -> frozenset[Parts]:
        """The names that columns of a relation can be qualified by: its alias, or its name in all forms.

        `table` is the target of a change, whose columns keep their names.
        """
        alias = relation.args.get("alias")
        if alias is not None and isinstance(alias.this, exp.Identifier):
            if alias.args.get("columns") and table is not None:
                raise self.source.error("an alias with columns cannot be used here", alias.this.meta.get("start", 0))
            return frozenset({(alias.this.name.lower(),)})
        if table is not None:
            full = (table.database, table.table)
            return frozenset({full[1:], full, ("spark_catalog", *full)})
        parts = tuple(part.name.lower() for part in relation.parts) if isinstance(relation, exp.Table) else ()
        return frozenset(parts[at:] for at in range(len(parts)))

    def requalify(
        self, tree: exp.Expression, sides: Mapping[str, frozenset[Parts]], outside: Sequence[object], bare: bool
    ) -> None:
        """Replaces the qualifiers of columns by the names of the sides, `target` and `source`.

        `outside` are the nodes that see neither side. With `bare`, columns outside of subqueries lose their
        qualifiers, because there is only one side; otherwise those without a qualifier are noted.
        """
        for column in tree.find_all(exp.Column):
            scope = _scope(column, tree, outside)
            if scope is None or not isinstance(column.parts[0], exp.Identifier):
                continue
            names = tuple(part.name.lower() for part in column.parts)
            start = column.parts[0].meta.get("start")
            name = next(
                (
                    (side, length)
                    for side, qualifiers in sides.items()
                    for length in range(len(names) - 1, 0, -1)
                    if names[:length] in qualifiers
                ),
                None,
            )
            if start is None:
                raise self.source.error(f"the position of the column {'.'.join(names)} is unknown")
            if name is None:
                if not scope and not bare:
                    self._unqualified.append((start, names[0]))
                continue
            side, length = name
            if names[length - 1] in scope:
                continue  # A relation of a subquery has this name.
            if side in scope:
                raise self.source.error(f"a relation of this subquery is named {side}: give it another alias", start)
            if bare and not scope:
                self.source.replace(Edit(start, column.parts[length].meta["start"], ""))
            else:
                self.source.replace(Edit(start, column.parts[length - 1].meta["end"] + 1, side))

    def assignments(
        self, first: int, end: int, nodes: Sequence[exp.Expression], targets: frozenset[Parts]
    ) -> tuple[Assignment, ...]:
        """`column = expression, …`. The column may be qualified by one of the names of the target."""
        source, made = self.source, list[Assignment]()
        parts = source.split(first, end)
        if len(parts) != len(nodes):
            raise source.error("the assignments could not be separated", source.offset(first))
        for (start, stop), node in zip(parts, nodes, strict=True):
            equals = source.find(start, TokenType.EQ, end=stop)
            if not isinstance(node, exp.EQ) or not isinstance(node.this, exp.Column) or equals == stop:
                raise source.error("an assignment is `column = expression`", source.offset(start))
            names = [part.name.lower() for part in node.this.parts]
            if len(names) > 1 and tuple(names[:-1]) not in targets:
                raise source.error(
                    f"{'.'.join(names)} is not a column of the table: fields of structs cannot be assigned",
                    source.offset(start),
                )
            made.append(Assignment(names[-1], self.value(equals + 1, stop, node.expression)))
        self.refuse_twice([each.column for each in made], first)
        return tuple(made)

    def value(self, first: int, end: int, node: exp.Expression) -> Sql | None:
        """The expression of a column; None for DEFAULT."""
        if end == first + 1 and self.source.is_word(first, "DEFAULT"):
            return None
        return self.sql(first, end, node)

    def refuse_twice(self, columns: Sequence[str], index: int) -> None:
        for column in columns:
            if columns.count(column) > 1:
                raise self.source.error(f"the column {column} is given twice", self.source.offset(index))


def _scope(column: exp.Column, tree: exp.Expression, outside: Sequence[object]) -> frozenset[str] | None:
    """The names of the relations of the subqueries around a column; None for a column that sees no side at all."""
    names: set[str] = set()
    above = column.parent
    while above is not None and above is not tree:
        if any(above is each for each in outside):
            return None
        if isinstance(above, exp.Select):
            relations = [above.args.get("from_"), *(above.args.get("joins") or ()), *(above.args.get("laterals") or ())]
            names |= {(each.this if isinstance(each, (exp.From, exp.Join)) else each).alias_or_name.lower()
                      for each in relations if each is not None}  # fmt: skip
            names.add("")  # A subquery without relations is one too.
        above = above.parent
    return frozenset(names)


def insert(
    cutter: Cutter, tree: exp.Insert, table: TableName, first: int = 0, end: int | None = None, rows: str = ""
) -> Insert:
    """An INSERT, up to the token `end`. `rows` is what precedes the query: the FROM clause before several INSERTs."""
    source = cutter.source
    schema = tree.this if isinstance(tree.this, exp.Schema) else None
    target = tree.this.this if schema is not None else tree.this
    index = cutter.after_target(target)
    if target.args.get("alias") is not None:
        raise source.error("the target of an INSERT has no alias", source.offset(index))
    if tree.args.get("where") is not None:
        raise source.error("REPLACE WHERE is not supported on an ACID table: DELETE, then INSERT", source.offset(index))
    if tree.args.get("exists"):
        raise source.error("IF EXISTS is not supported here", source.offset(index))
    partition: list[tuple[str, str | None]] = []
    if source.at(index, TokenType.PARTITION):
        closing = source.closing(index + 1)
        for start, stop in source.split(index + 2, closing):
            equals = source.find(start, TokenType.EQ, end=stop)
            value = source.constant(equals + 1, stop) if equals < stop else None
            partition.append((source.tokens[start].text.lower(), value))
        index = closing + 1
    columns = None
    if schema is not None:
        columns = tuple(each.name.lower() for each in schema.expressions)
        index = source.closing(index) + 1
        cutter.refuse_twice([*columns, *(name for name, _ in partition)], index - 1)
    by_name = bool(tree.args.get("by_name"))
    index += 2 if by_name else 0
    query = tree.args.get("expression")
    end = len(source.tokens) if end is None else end
    defaults = _defaults(cutter, query, index, end)
    before = rows
    if tree.args.get("with_") is not None and not rows:
        before = source.cut(0, source.find(0, TokenType.INSERT)) + " "
    if not tree.args.get("source"):
        cutter.sql(index, end, query)
    sql = cutter.edited(index, end, before)
    defaults = tuple(each._replace(offset=each.offset + len(before)) for each in defaults)
    return Insert(table, sql, bool(tree.args.get("overwrite")), columns, by_name, tuple(partition), defaults)


def inserts(cutter: Cutter, tree: exp.MultitableInserts, tables: Sequence[TableName]) -> Inserts:
    """`FROM … INSERT … SELECT … INSERT … SELECT …`: each query is the FROM clause and its own SELECT."""
    source = cutter.source
    starts = [at for at in source.top_level(0) if source.at(at, TokenType.INSERT)]
    if len(starts) != len(tree.expressions):
        raise source.error("the INSERTs could not be separated")
    rows = source.cut(0, starts[0]) + " "
    ends = [*starts[1:], len(source.tokens)]
    return Inserts(
        tuple(
            insert(cutter, each, table, start, end, rows)
            for each, table, start, end in zip(tree.expressions, tables, starts, ends, strict=True)
        )
    )


def _defaults(cutter: Cutter, query: exp.Expression | None, index: int, end: int) -> tuple[Default, ...]:
    """The words DEFAULT among the values of VALUES, as positions in the text of the query."""
    source = cutter.source
    if not isinstance(query, exp.Values) or not source.at(index, TokenType.VALUES):
        return ()
    defaults: list[Default] = []
    for start, stop in source.split(index + 1, end):
        row = source.at(start, TokenType.L_PAREN) and source.closing(start) == stop - 1
        for number, (first, last) in enumerate(source.split(start + 1, stop - 1) if row else [(start, stop)]):
            if last == first + 1 and source.is_word(first, "DEFAULT"):
                offset = source.moved(source.offset(first), index, end)
                assert offset is not None
                defaults.append(Default(offset, number))
    return tuple(defaults)


def update(cutter: Cutter, tree: exp.Update, table: TableName) -> Update:
    source = cutter.source
    if tree.args.get("from_") is not None:
        raise source.error("UPDATE … FROM is not a statement of Spark: use MERGE INTO")
    if tree.args.get("with_") is not None:
        raise source.error("WITH before UPDATE is not supported: write a subquery")
    names = cutter.qualifiers(tree.this, table)
    cutter.requalify(tree, {TARGET: names}, (), bare=True)
    start = source.find(cutter.after_target(tree.this), TokenType.SET) + 1
    where = source.find(start, TokenType.WHERE)
    assignments = cutter.assignments(start, where, tree.expressions, names)
    return Update(table, assignments, _where(cutter, tree, where))


def delete(cutter: Cutter, tree: exp.Delete, table: TableName) -> Delete:
    source = cutter.source
    if tree.args.get("using"):
        raise source.error("DELETE … USING is not a statement of Spark: use MERGE INTO")
    if tree.args.get("with_") is not None:
        raise source.error("WITH before DELETE is not supported: write a subquery")
    where = source.find(cutter.after_target(tree.this), TokenType.WHERE)
    cutter.requalify(tree, {TARGET: cutter.qualifiers(tree.this, table)}, (), bare=True)
    return Delete(table, _where(cutter, tree, where))


def _where(cutter: Cutter, tree: exp.Expression, where: int) -> Sql | None:
    node = tree.args.get("where")
    return None if node is None else cutter.sql(where + 1, len(cutter.source.tokens), node.this)


def merge(cutter: Cutter, tree: exp.Merge, table: TableName) -> Merge:
    source = cutter.source
    if tree.args.get("using_cond"):
        raise source.error("a MERGE has an ON condition")
    using = source.find(cutter.after_target(tree.this), TokenType.USING)
    on = source.find(using, TokenType.ON)
    first_when = source.find(on, TokenType.WHEN)
    relation = tree.args["using"]
    names, sources = cutter.qualifiers(tree.this, table), cutter.qualifiers(relation)
    if not sources:
        raise source.error("the source of a MERGE that is a query needs an alias", source.offset(using + 1))
    if names & sources:
        raise source.error(
            "the target and the source of a MERGE have the same name: give aliases", source.offset(using)
        )
    cutter.requalify(tree, {TARGET: names, SOURCE: sources}, (relation, tree.args.get("with_")), bare=False)
    condition = cutter.sql(on + 1, first_when, tree.args.get("on"))
    before = "SELECT * FROM "
    if tree.args.get("with_") is not None:
        before = f"{source.cut(0, source.find(0, TokenType.MERGE))} {before}"
    rows = cutter.edited(using + 1, on, before)
    whens = [at for at in source.top_level(first_when) if source.at(at, TokenType.WHEN)]
    nodes = tree.args["whens"].expressions
    if len(whens) != len(nodes):
        raise source.error("the WHEN clauses could not be separated", source.offset(first_when))
    kinds: dict[str, list[Clause]] = {"matched": [], "not_matched": [], "not_matched_by_source": []}
    for start, stop, node in zip(whens, [*whens[1:], len(source.tokens)], nodes, strict=True):
        kind, clause = _when(cutter, start, stop, node, names)
        if kinds[kind] and kinds[kind][-1].condition is None:
            raise source.error(
                "this clause is never reached: the one before it of the same kind has no condition",
                source.offset(start),
            )
        kinds[kind].append(clause)
    return Merge(table, rows, condition, *(tuple(clauses) for clauses in kinds.values()))


def _when(cutter: Cutter, start: int, stop: int, node: exp.When, names: frozenset[Parts]) -> tuple[str, Clause]:
    source = cutter.source
    by_source = bool(node.args.get("source"))
    kind = "matched" if node.args.get("matched") else "not_matched_by_source" if by_source else "not_matched"
    then = source.find(start, TokenType.THEN, end=stop)
    condition = None
    if node.args.get("condition") is not None:
        condition = cutter.sql(source.find(start, TokenType.AND, end=then) + 1, then, node.args["condition"])
    action = node.args["then"]
    if isinstance(action, exp.Update):
        if kind == "not_matched":
            raise source.error("WHEN NOT MATCHED can only INSERT", source.offset(then + 1))
        star = any(isinstance(each, exp.Star) for each in action.expressions)
        if star and by_source:
            raise source.error("there is no source row for UPDATE SET *", source.offset(then + 1))
        first = source.find(then, TokenType.SET, end=stop) + 1
        return kind, Clause(
            "update", condition, None if star else cutter.assignments(first, stop, action.expressions, names)
        )
    if isinstance(action, exp.Insert):
        if kind != "not_matched":
            raise source.error("only WHEN NOT MATCHED can INSERT", source.offset(then + 1))
        if action.this is None:
            return kind, Clause("insert", condition, (), _values(cutter, then, stop, action))
        return kind, Clause("insert", condition, _inserted(cutter, then, stop, action, names))
    if action.name.upper() == "DELETE" and kind != "not_matched":
        return kind, Clause("delete", condition, ())
    raise source.error(f"this action cannot follow WHEN {kind.replace('_', ' ').upper()}", source.offset(then + 1))


def _inserted(
    cutter: Cutter, then: int, stop: int, action: exp.Insert, names: frozenset[Parts]
) -> tuple[Assignment, ...] | None:
    """`(columns) VALUES (expressions)`; None for `*`."""
    source = cutter.source
    if isinstance(action.this, exp.Star):
        return None
    if not isinstance(action.this, exp.Tuple):
        raise source.error(INSERT_FORMS, source.offset(then + 1))
    values = _values(cutter, then, stop, action)
    columns = []
    for column in action.this.expressions:
        parents = [part.name.lower() for part in column.parts]
        if len(parents) > 1 and tuple(parents[:-1]) not in names:
            raise source.error(f"{'.'.join(parents)} is not a column of the table", source.offset(then + 1))
        columns.append(parents[-1])
    if len(columns) != len(values):
        listed = f"{counted(len(columns), 'column')} and {counted(len(values), 'value')}"
        raise source.error(f"INSERT lists {listed}", source.offset(then + 1))
    cutter.refuse_twice(columns, then + 1)
    return tuple(map(Assignment, columns, values))


def _values(cutter: Cutter, then: int, stop: int, action: exp.Insert) -> tuple[Sql | None, ...]:
    """The expressions of `VALUES (…)` in an INSERT clause; None for DEFAULT."""
    source = cutter.source
    values = source.find(then, TokenType.VALUES, end=stop)
    row = action.args.get("expression")
    if not isinstance(row, exp.Tuple) or not source.at(values + 1, TokenType.L_PAREN):
        raise source.error(INSERT_FORMS, source.offset(then + 1))
    parts = source.split(values + 2, source.closing(values + 1))
    if len(parts) != len(row.expressions):
        raise source.error("the values of INSERT could not be separated", source.offset(values))
    return tuple(cutter.value(first, end, node) for (first, end), node in zip(parts, row.expressions, strict=True))
