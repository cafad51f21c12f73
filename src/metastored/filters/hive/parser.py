"""Parses the text of a partition filter into its tree (see `tree`).

Two grammars share this parser: that of Hive 2.3 and 3.1, and the larger one of Hive 4 (`==`, backticks, `DATE '…'`,
`TIMESTAMP '…'`, adjacent strings; in 4.2 also `IS [NOT] TRUE|FALSE`). The older one ignores whatever follows a complete
filter; the newer one, as metastored has it, refuses it. Errors carry the texts of the real servers, down to the token
numbers of their generated parsers, since people search for them. No table is needed here.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import NoReturn

from metastored.filters.hive.tokens import NUMBERS, Lexer, Token, read_date
from metastored.filters.hive.tree import (
    EVERYTHING,
    Between,
    Comparison,
    Filter,
    FilterLiteral,
    FilterSyntaxError,
    In,
    Like,
    MultiIn,
    Not,
    negate,
)
from metastored.filters.logic import MIRRORED, OPERATORS, And, Or
from metastored.filters.patterns import from_old_pattern
from metastored.hive.generation import Generation
from metastored.hive.limits import MAX_FILTER, MAX_LIKE, shortened

MAX_DEPTH = 100
"""How deep parentheses may nest, so that no text can exhaust Python's stack."""


def parse_filter(text: str, generation: Generation) -> Filter:
    """The tree of a filter; the empty text is the filter that matches every partition."""
    if not text:
        return EVERYTHING
    if len(text) > MAX_FILTER:
        raise FilterSyntaxError(
            f"Error parsing partition filter; it has {len(text)} characters ({shortened(text)}) and "
            f"at most {MAX_FILTER} are accepted: request the partitions in several calls"
        )
    return _Parser(text, generation).filter()


# --- literals ----------------------------------------------------------------------------------------------


_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?", re.ASCII)


def _timestamp(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if _TIMESTAMP.fullmatch(text) else None
    except ValueError:
        return None


def _integer(text: str) -> int:
    digits = "".join(text.split())
    number = int(digits) if len(digits) <= 20 else 2**63
    if not -(2**63) <= number < 2**63:
        raise FilterSyntaxError(f'java.lang.NumberFormatException: For input string: "{digits}"')
    return number


def _sql_pattern(text: str, generation: Generation) -> str:
    """A LIKE pattern in SQL's style, whichever style the client wrote.

    Clients of Hive 2 and 3 write `.*` for any text and `.` for any character, and mean `%` and `_` literally; clients
    of Hive 4 write SQL. Every generation accepts both: `.*` marks the older style, and so does, for an older
    generation, the absence of `%`.
    """
    is_sql = ".*" not in text and (generation >= Generation.HIVE_4_0 or "%" in text)
    if is_sql:
        return text
    return from_old_pattern(text)


# --- the parser --------------------------------------------------------------------------------------------

_COMPARISONS = frozenset({*OPERATORS, "LIKE"})
_LITERALS = frozenset({"string", "integer", "date", "timestamp", "DATE", "TIMESTAMP"})


class _Parser:
    """Recursive descent, one method per rule. `position` is the next token."""

    def __init__(self, text: str, generation: Generation) -> None:
        self.generation = generation
        self.is_new = generation >= Generation.HIVE_4_0
        self.lexer = Lexer(text, generation)
        self.tokens = self.lexer.tokens
        self.position = 0
        self.depth = 0

    # moving on

    @property
    def next(self) -> Token:
        return self.tokens[self.position]

    def kind_after(self, count: int) -> str:
        return self.tokens[min(self.position + count, len(self.tokens) - 1)].kind

    def take(self) -> Token:
        token = self.next
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return token

    def accept(self, kind: str) -> bool:
        if self.next.kind != kind:
            return False
        self.take()
        return True

    def expect(self, kind: str) -> Token:
        if self.next.kind != kind:
            self.fail(f"MismatchedTokenException(%s!={NUMBERS.get(kind)})", kind)
        return self.take()

    def fail(self, old_exception: str = "NoViableAltException(%s@[])", expected: str = "a condition") -> NoReturn:
        token = self.next
        if self.is_new:
            where, error = self.lexer.position(token.start), self.lexer.error
            reason = error or f"{where} mismatched input '{token.text}' expecting {expected}"
            raise FilterSyntaxError(f"Error parsing partition filter: {reason}")
        exception = old_exception % NUMBERS[token.kind]
        complaint = self.lexer.error or "null"
        raise FilterSyntaxError(f"Error parsing partition filter; lexer error: {complaint}; exception {exception}")

    # rules

    def filter(self) -> Filter:
        if self.is_new and self.lexer.error:
            raise FilterSyntaxError(f"Error parsing partition filter: {self.lexer.error}")
        node = self.either()
        if self.lexer.error:
            raise FilterSyntaxError(f"Error parsing partition filter : {self.lexer.error}")
        if self.is_new and self.next.kind != "end":
            self.fail(expected="AND, OR or the end")
        return node

    def either(self) -> Filter:
        return self.chain("OR", self.both, Or)

    def both(self) -> Filter:
        return self.chain("AND", self.expression, And)

    def chain(self, keyword: str, rule: Callable[[], Filter], node: Callable[[tuple[Filter, ...]], Filter]) -> Filter:
        parts = [rule()]
        while self.accept(keyword):
            parts.append(rule())
        return parts[0] if len(parts) == 1 else node(tuple(parts))

    def expression(self) -> Filter:
        node = self.in_parentheses() if self.next.kind == "(" else self.condition()
        # A chain of IS is combined and applied once: applied one by one, a long chain on a long filter
        # would take quadratic time and nest without bound.
        opposite, nots = False, 0
        while self.accept("IS"):
            negated = self.accept("NOT")
            if self.next.kind not in ("TRUE", "FALSE"):
                self.fail(expected="TRUE or FALSE")
            if self.take().kind == "FALSE":
                if nots:
                    nots -= 1
                else:
                    opposite = not opposite
            if negated:
                # A Not is either true or false, so the third around a filter means the same as the first.
                nots = nots + 1 if nots < 2 else 1
        node = negate(node) if opposite else node
        for _ in range(nots):
            node = Not(node)
        return node

    def in_parentheses(self) -> Filter:
        if self.kind_after(1) == "STRUCT":
            return self.multi_in()
        if self.kind_after(1) == "identifier" and self.kind_after(2) == ")":
            self.take()
            key = self.take().text
            self.take()
            return self.in_condition(key)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise FilterSyntaxError(
                f"Error parsing partition filter; parentheses are nested deeper than {MAX_DEPTH} levels"
            )
        self.expect("(")
        node = self.either()
        self.expect(")")
        self.depth -= 1
        return node

    def condition(self) -> Filter:
        if self.next.kind in _LITERALS:
            return self.reversed_comparison()
        if self.next.kind != "identifier":
            self.fail()
        key = self.take().text
        if self.next.kind in _COMPARISONS:
            return self.comparison(key)
        if self.is_new and "IN" in (self.next.kind, self.kind_after(1)):
            return self.in_condition(key)
        if self.next.kind not in ("NOT", "BETWEEN"):
            self.fail(expected="a comparison, BETWEEN or IN")
        return self.between(key)

    def comparison(self, key: str) -> Filter:
        op = self.take().kind
        literal = self.literal()
        if op != "LIKE":
            return Comparison(key, op, literal)
        if not isinstance(literal, str):
            raise FilterSyntaxError("LIKE needs a quoted pattern, such as ds like '2024%'")
        if len(literal) > MAX_LIKE:
            raise FilterSyntaxError(
                f"a pattern of {len(literal)} characters behind LIKE ({shortened(literal)}); "
                f"at most {MAX_LIKE} are accepted"
            )
        return Like(key, _sql_pattern(literal, self.generation))

    def reversed_comparison(self) -> Filter:
        literal = self.literal()
        if self.next.kind not in _COMPARISONS:
            self.fail("MismatchedSetException(%s!=null)", "a comparison")
        op = self.take().kind
        key = self.expect("identifier").text
        if op == "LIKE":
            raise FilterSyntaxError(f"Value should be on the RHS for LIKE operator : Key <{key}>")
        return Comparison(key, MIRRORED[op], literal)

    def between(self, key: str) -> Filter:
        negated = self.accept("NOT")
        self.expect("BETWEEN")
        kind = self.next.kind
        low = self.literal()
        self.expect("AND")
        return Between(key, low, self.literal_like(kind), negated)

    def in_condition(self, key: str) -> Filter:
        negated = self.accept("NOT")
        self.expect("IN")
        self.expect("(")
        kind = self.next.kind
        literals = [self.literal()]
        while self.accept(","):
            literals.append(self.literal_like(kind))
        self.expect(")")
        return In(key, tuple(literals), negated)

    def multi_in(self) -> Filter:
        self.expect("(")
        self.expect("STRUCT")
        self.expect("(")
        keys = [self.expect("identifier").text]
        while self.accept(","):
            keys.append(self.expect("identifier").text)
        self.expect(")")
        self.expect(")")
        negated = self.accept("NOT")
        self.expect("IN")
        self.expect("(")
        rows = [self.row(len(keys))]
        while self.accept(","):
            rows.append(self.row(len(keys)))
        self.expect(")")
        return MultiIn(tuple(keys), tuple(rows), negated)

    def row(self, size: int) -> tuple[FilterLiteral, ...]:
        self.accept("CONST")
        self.expect("STRUCT")
        self.expect("(")
        literals = [self.literal()]
        while self.accept(","):
            literals.append(self.literal())
        self.expect(")")
        if len(literals) != size:
            raise FilterSyntaxError(f"a STRUCT of {size} keys is compared with one of {len(literals)} literals")
        return tuple(literals)

    def literal_like(self, kind: str) -> FilterLiteral:
        """A further literal of a list: in the older grammar, of the same kind as the first."""
        if not self.is_new and self.next.kind != kind:
            self.expect(kind)
        return self.literal()

    def literal(self) -> FilterLiteral:
        token = self.next
        if token.kind not in _LITERALS:
            self.fail(expected="a literal")
        self.take()
        match token.kind:
            case "string":
                texts = [token.text[1:-1]]
                while self.is_new and self.next.kind == "string":
                    texts.append(self.take().text[1:-1])
                return "".join(texts)
            case "integer":
                return _integer(token.text)
            case "DATE" | "TIMESTAMP":
                return self.moment(token.kind.lower(), self.expect("string").text[1:-1])
            case kind:
                return self.moment(kind, token.text)

    def moment(self, kind: str, text: str) -> FilterLiteral:
        moment = read_date(text) if kind == "date" else _timestamp(text)
        if moment is None:
            raise FilterSyntaxError(f"Error parsing partition filter: {text!r} is not a {kind}")
        return moment
