"""From the text of a filter to its tree. Errors say at which character and what was expected there.

The grammar contains that of every version of Hive (`(ds) in ('1')`, `ds == '1'`, `DATE '2024-01-01'`, bare dates), and
NOT, decimals, booleans, NULL, arithmetic, `<=>`, functions and CAST. Nothing here knows the keys of a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Final, NamedTuple

from metastored.filters.logic import MIRRORED, OPERATORS, And, Or
from metastored.filters.patterns import from_old_pattern
from metastored.filters.where.tree import (
    EVERYTHING,
    Call,
    Compare,
    Condition,
    Holds,
    In,
    IsNull,
    Key,
    Like,
    Literal,
    LiteralValue,
    Operand,
    Same,
    Truth,
    negate,
)
from metastored.hive.limits import MAX_FILTER, MAX_LIKE

MAX_DEPTH: Final = 100
"""How deep parentheses, NOT and functions can nest, so that no text can exhaust Python's stack."""

VALUE: Final = "a key, a function or a value such as 7, 1.5, 'text', TRUE or DATE '2024-01-31'"


class FilterFault(ValueError):
    """A filter that cannot be read or evaluated; the message has the position and what was expected."""


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


_TOKENS: Final = re.compile(
    r"""(?P<space>\s+)|(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"""|(?P<timestamp>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?)|(?P<date>\d{4}-\d\d-\d\d)"""
    r"""|(?P<number>-?\s*(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![A-Za-z0-9_]))"""
    r"""|(?P<word>[A-Za-z0-9_]+)|(?P<quoted>`(?:``|[^`])*`)|(?P<sign><=>|<=|>=|<>|!=|==|[<>=(),*/%+-])""",
    re.DOTALL | re.ASCII,
)
_SYNONYMS: Final = {"<>": "!=", "==": "="}
_SUMS: Final = frozenset({"+", "-"})
_PRODUCTS: Final = frozenset({"*", "/", "%"})
_RESERVED: Final = frozenset({"AND", "OR", "NOT", "IN", "LIKE", "BETWEEN", "IS"})


def parse(text: str, sql_patterns: bool = False) -> Condition:
    """The tree of a filter; an empty text is the filter that always holds. Raises FilterFault.

    With `sql_patterns`, `.*` behind LIKE has no meaning of its own, as in Spark.
    """
    if len(text) > MAX_FILTER:
        raise FilterFault(f"it has {len(text)} characters, and at most {MAX_FILTER} are accepted")
    return _Parser(text, sql_patterns).filter() if text.strip() else EVERYTHING


def fault(text: str, at: int, expected: str) -> FilterFault:
    """The error at a position: what is there, and what was expected."""
    there = repr(text[at : at + 20]) if at < len(text) else "the end"
    return FilterFault(f"at character {at + 1} ({there}): {expected}")


def _tokens(text: str) -> list[_Token]:
    tokens, at = [], 0
    while at < len(text):
        match = _TOKENS.match(text, at)
        if match is None:
            quote = text[at] in "'\"`"
            raise fault(text, at, "the closing quote is missing" if quote else "no such sign in filters")
        kind, word = str(match.lastgroup), match[0]
        if kind == "sign":
            kind = word = _SYNONYMS.get(word, word)
        elif kind == "word" and word.upper() in _RESERVED:
            kind = word.upper()
        if kind != "space":
            tokens.append(_Token(kind, word, at))
        at = match.end()
    return [*tokens, _Token("end", "", len(text))]


class _Parser:
    """Recursive descent; `place` is the index of the next token."""

    def __init__(self, text: str, sql_patterns: bool) -> None:
        self.text = text
        self.sql_patterns = sql_patterns
        self.tokens = _tokens(text)
        self.place = 0
        self.depth = 0

    # Moving on

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def after(self, count: int) -> _Token:
        return self.tokens[min(self.place + count, len(self.tokens) - 1)]

    def take(self) -> _Token:
        token = self.next
        self.place = min(self.place + 1, len(self.tokens) - 1)
        return token

    def accept(self, kind: str) -> bool:
        if self.next.kind != kind:
            return False
        self.take()
        return True

    def word(self, *words: str) -> bool:
        """Takes the next token if it is one of these words."""
        if self.next.kind != "word" or self.next.text.upper() not in words:
            return False
        self.take()
        return True

    def expect(self, kind: str) -> _Token:
        if self.next.kind != kind:
            raise self.wrong(f"{kind} was expected")
        return self.take()

    def wrong(self, expected: str) -> FilterFault:
        return fault(self.text, self.next.at, expected)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.wrong(f"the filter is nested deeper than {MAX_DEPTH} levels")

    # Conditions

    def filter(self) -> Condition:
        node = self.either()
        if self.next.kind != "end":
            raise self.wrong("AND, OR or the end was expected")
        return node

    def either(self) -> Condition:
        return self.chain("OR", self.both, Or)

    def both(self) -> Condition:
        return self.chain("AND", self.inverted, And)

    def chain(
        self, keyword: str, rule: Callable[[], Condition], node: Callable[[tuple[Condition, ...]], Condition]
    ) -> Condition:
        parts = [rule()]
        while self.accept(keyword):
            parts.append(rule())
        return parts[0] if len(parts) == 1 else node(tuple(parts))

    def inverted(self) -> Condition:
        times = 0
        while self.accept("NOT"):
            times += 1
        node = self.truth(self.condition())
        return negate(node) if times % 2 else node

    def truth(self, node: Condition) -> Condition:
        levels = 0
        while self.next.kind == "IS":
            self.take()
            negated = self.accept("NOT")
            value = self.take()
            if value.kind != "word" or value.text.upper() not in ("TRUE", "FALSE"):
                raise fault(self.text, value.at, "TRUE, FALSE or NULL was expected behind IS")
            levels += 1
            if levels > MAX_DEPTH:
                raise self.wrong(f"the filter is nested deeper than {MAX_DEPTH} levels")
            node = Truth(node, value.text.upper() == "TRUE", negated)
        return node

    def condition(self) -> Condition:
        if self.next.kind == "(":
            several = self.struct_in()
            if several is not None:
                return several
            self.deeper()
            self.take()
            node = self.either()
            self.expect(")")
            self.depth -= 1
            # The parentheses may be around an operand alone, as in `(ds) in ('1')`.
            if not isinstance(node, Holds) or node.negated:
                return node
            return self.predicate(self.sum_of(self.product_of(node.operand)))
        return self.predicate(self.operand())

    def predicate(self, left: Operand) -> Condition:
        kind = self.next.kind
        if kind in OPERATORS:
            self.take()
            return _comparison(left, kind, self.operand())
        if self.accept("<=>"):
            return Same(left, self.operand())
        negated = self.accept("NOT")
        if self.accept("BETWEEN"):
            low = self.operand()
            self.expect("AND")
            inside = And((_comparison(left, ">=", low), _comparison(left, "<=", self.operand())))
            return negate(inside) if negated else inside
        if self.accept("IN"):
            return In(left, self.items(), negated)
        if self.accept("LIKE"):
            return Like(left, self.pattern(), negated)
        if negated:
            raise self.wrong("BETWEEN, IN or LIKE was expected behind NOT")
        if kind == "IS" and self.tokens[self.place + 1 + (self.after(1).kind == "NOT")].text.upper() == "NULL":
            self.take()
            negated = self.accept("NOT")
            self.take()
            return IsNull(left, negated)
        if isinstance(left, Literal) and not isinstance(left.value, bool):
            raise self.wrong("a comparison (=, !=, <, <=, >, >=), BETWEEN, IN or LIKE was expected")
        if isinstance(left, Key) and kind not in ("end", "AND", "OR", ")", "IS"):
            raise self.wrong("a comparison (=, !=, <, <=, >, >=), BETWEEN, IN, LIKE or IS was expected")
        return Holds(left)

    def items(self) -> tuple[Operand, ...]:
        self.expect("(")
        operands = [self.operand()]
        while self.accept(","):
            operands.append(self.operand())
        self.expect(")")
        return tuple(operands)

    def pattern(self) -> str:
        token = self.next
        if token.kind != "string":
            raise self.wrong("a quoted pattern was expected, such as '2024%'")
        self.take()
        written = token.text[1:-1]
        if len(written) > MAX_LIKE:
            raise fault(self.text, token.at, f"the pattern is longer than {MAX_LIKE} characters")
        # Clients of Hive 2 and 3 write `.*` for any text and `.` for any character.
        is_old = ".*" in written and not self.sql_patterns
        return from_old_pattern(written) if is_old else written

    def struct_in(self) -> Condition | None:
        """`(struct(a, b)) [not] in (const struct(1, 2), …)`: each row is a list of comparisons."""
        if self.after(1).text.upper() != "STRUCT" or self.after(2).kind != "(":
            return None
        self.take()
        self.take()
        operands = self.items()
        self.expect(")")
        negated = self.accept("NOT")
        self.expect("IN")
        self.expect("(")
        rows = [self.row(operands)]
        while self.accept(","):
            rows.append(self.row(operands))
        self.expect(")")
        condition = Or(tuple(rows))
        return negate(condition) if negated else condition

    def row(self, operands: tuple[Operand, ...]) -> Condition:
        at = self.next.at
        self.word("CONST")
        if not self.word("STRUCT"):
            raise self.wrong("STRUCT(…) was expected")
        items = self.items()
        if len(items) != len(operands):
            raise fault(self.text, at, f"{len(operands)} values were expected, one for each key")
        return And(tuple(_comparison(one, "=", other) for one, other in zip(operands, items, strict=True)))

    # Operands

    def operand(self) -> Operand:
        return self.sum_of(self.product())

    def sum_of(self, left: Operand) -> Operand:
        """`+` and `-` behind an operand."""
        count = 0
        while self.is_sum():
            operator, count = self.operator(count)
            left = Call(operator.kind, (left, self.product()), None, operator.at)
        return left

    def is_sum(self) -> bool:
        token = self.next
        if token.kind == "number" and token.text.startswith("-"):
            # Behind an operand, the sign of a number is an operator: `h-1`.
            number = token.text[1:].lstrip()
            at = token.at + len(token.text) - len(number)
            self.tokens[self.place : self.place + 1] = [_Token("-", "-", token.at), _Token("number", number, at)]
        return self.next.kind in _SUMS

    def product(self) -> Operand:
        return self.product_of(self.factor())

    def product_of(self, left: Operand) -> Operand:
        """`*`, `/` and `%` behind an operand."""
        count = 0
        while self.next.kind in _PRODUCTS:
            operator, count = self.operator(count)
            left = Call(operator.kind, (left, self.factor()), None, operator.at)
        return left

    def operator(self, count: int) -> tuple[_Token, int]:
        """Takes an operator. Each one is a level of the tree."""
        if count >= MAX_DEPTH:
            raise self.wrong(f"the filter has more than {MAX_DEPTH} operators in a row")
        return self.take(), count + 1

    def factor(self) -> Operand:
        token = self.next
        match token.kind:
            case "-":
                self.deeper()
                self.take()
                opposite = Call("-", (Literal(0, token.at), self.factor()), None, token.at)
                self.depth -= 1
                return opposite
            case "string":
                texts = [_unquoted(self.take().text)]
                while self.next.kind == "string":
                    texts.append(_unquoted(self.take().text))
                return Literal("".join(texts), token.at)
            case "number":
                return Literal(_number("".join(self.take().text.split())), token.at)
            case "date" | "timestamp":
                return self.moment(token.kind, self.take().text, token.at)
            case "(":
                self.deeper()
                self.take()
                inner = self.operand()
                self.expect(")")
                self.depth -= 1
                return inner
            case "quoted":
                return Key(self.take().text[1:-1].replace("``", "`"), token.at)
            case "word":
                return self.named()
        raise self.wrong(f"{VALUE} was expected")

    def named(self) -> Operand:
        token = self.take()
        word = token.text.upper()
        if word in ("DATE", "TIMESTAMP") and self.next.kind == "string":
            return self.moment(word.lower(), self.take().text[1:-1], token.at)
        if self.next.kind == "(" and word != "STRUCT":
            return self.call(token)
        if word in ("TRUE", "FALSE"):
            return Literal(word == "TRUE", token.at)
        return Literal(None, token.at) if word == "NULL" else Key(token.text, token.at)

    def call(self, token: _Token) -> Operand:
        self.deeper()
        name, type = token.text.lower(), None
        self.expect("(")
        args: list[Operand] = []
        if self.next.kind != ")":
            args.append(self.operand())
            if name == "cast":
                if not self.word("AS"):
                    raise self.wrong("AS and a type was expected, such as CAST(ds AS INT)")
                type = self.type()
            while self.accept(","):
                args.append(self.operand())
        self.expect(")")
        self.depth -= 1
        return Call(name, tuple(args), type, token.at)

    def type(self) -> str:
        token = self.take()
        if token.kind != "word":
            raise fault(self.text, token.at, "a type was expected, such as INT or DECIMAL(10,2)")
        if self.next.kind != "(":
            return token.text
        numbers = ",".join(str(each.value) for each in self.items() if isinstance(each, Literal))
        return f"{token.text}({numbers})"

    def moment(self, kind: str, written: str, at: int) -> Literal:
        try:
            day = date.fromisoformat(written) if kind == "date" else datetime.fromisoformat(written)
        except ValueError:
            example = "2024-01-31" if kind == "date" else "2024-01-31 12:00:00"
            raise fault(self.text, at, f"{written!r} is not a {kind}; write one such as {example}") from None
        return Literal(day, at)


def _comparison(left: Operand, op: str, right: Operand) -> Compare:
    """A comparison with the literal on the right."""
    if isinstance(left, Literal) and not isinstance(right, Literal):
        return Compare(right, MIRRORED[op], left, mirrored=True)
    return Compare(left, op, right)


def _unquoted(written: str) -> str:
    return re.sub(r"\\(.)", r"\1", written[1:-1], flags=re.DOTALL)


def _number(written: str) -> LiteralValue:
    return int(written) if re.fullmatch(r"-?\d{1,38}", written) else Decimal(written)
