"""The text of a statement with its tokens and its tree: parsed by sqlglot, cut and edited by positions. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple

from metastored.errors import AcidStatementError, MissingExtra, StatementError

try:
    from sqlglot import Token, TokenType, exp
    from sqlglot.dialects.spark import Spark
    from sqlglot.errors import ParseError, TokenError
except ImportError:
    raise MissingExtra("SQL of Spark", "spark") from None

_OPENING: Final = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING: Final = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})


class _Parser(Spark.Parser):  # type: ignore[valid-type, misc]
    """Spark's parser without its warning about statements that it does not parse: these are handled here."""

    def _warn_unsupported(self) -> None:
        return


class _FlatTokenizer(Spark.Tokenizer):
    """Spark's tokenizer, for which no word makes the rest of a statement one token."""

    COMMANDS: ClassVar[set[TokenType]] = set()


class Edit(NamedTuple):
    """A replacement in the text; `end` is exclusive."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Source:
    """One statement."""

    text: str
    tokens: list[Token]
    tree: exp.Expression | None
    """None where sqlglot cannot parse the statement."""
    problem: StatementError | None = None
    """Why sqlglot cannot parse it."""
    edits: list[Edit] = field(default_factory=list)

    def error(self, problem: str, offset: int = 0) -> AcidStatementError:
        """An error at a position of the text."""
        before = self.text[:offset]
        return AcidStatementError(problem, before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)

    def cut(self, first: int, end: int) -> str:
        """The edited text from one token up to another, which is not included."""
        start, stop = self._span(first, end)
        parts: list[str] = []
        for edit in self._within(start, stop):
            parts += [self.text[start : edit.start], edit.text]
            start = edit.end
        return "".join([*parts, self.text[start:stop]])

    def replace(self, edit: Edit) -> None:
        """Adds an edit in the place of those within it."""
        self.edits = [each for each in self.edits if not (edit.start <= each.start and each.end <= edit.end)] + [edit]

    def moved(self, offset: int, first: int, end: int) -> int | None:
        """A position in the edited text between two tokens; None for one outside of it."""
        start, stop = self._span(first, end)
        if not start <= offset < stop:
            return None
        before = [edit for edit in self._within(start, stop) if edit.end <= offset]
        return offset - start + sum(len(edit.text) - (edit.end - edit.start) for edit in before)

    def _within(self, start: int, stop: int) -> list[Edit]:
        return sorted(edit for edit in self.edits if start <= edit.start and edit.end <= stop)

    def original(self, first: int, end: int) -> str:
        """The same without the edits."""
        start, stop = self._span(first, end)
        return self.text[start:stop]

    def constant(self, first: int, end: int) -> str:
        """The same, of a value that is a constant. Raises AcidStatementError for columns and subqueries."""
        text = self.original(first, end)
        tree = parsed_again(text)
        if tree is None or tree.find(exp.Column, exp.Query, exp.Table) is not None:
            raise self.error("a value of a PARTITION clause is a constant", self.offset(first))
        return text

    def _span(self, first: int, end: int) -> tuple[int, int]:
        if first >= end:
            raise self.error("a part of the statement is empty", self.offset(first))
        return self.tokens[first].start, self.tokens[end - 1].end + 1

    def offset(self, index: int) -> int:
        """The position of a token; that of the end of the text after the last one."""
        return self.tokens[index].start if index < len(self.tokens) else len(self.text)

    def at(self, index: int, *types: TokenType) -> bool:
        return index < len(self.tokens) and self.tokens[index].token_type in types

    def is_word(self, index: int, word: str) -> bool:
        """Whether a token is this word, without quotes."""
        return (
            index < len(self.tokens)
            and self.tokens[index].text.upper() == word
            and self.text[self.tokens[index].start] not in "`'\""
        )

    def top_level(self, first: int, end: int | None = None) -> Iterator[int]:
        """The tokens that are in no parentheses and in no CASE."""
        depth = cases = 0
        for index in range(first, len(self.tokens) if end is None else end):
            type = self.tokens[index].token_type
            if type in _CLOSING or (type is TokenType.END and cases):
                depth -= 1
                cases -= type is TokenType.END
            elif depth == 0:
                yield index
            if type in _OPENING:
                depth += 1
                cases += type is TokenType.CASE

    def find(self, first: int, *types: TokenType, end: int | None = None) -> int:
        """The first such token on the top level, or the end."""
        stop = len(self.tokens) if end is None else end
        return next((at for at in self.top_level(first, stop) if self.tokens[at].token_type in types), stop)

    def split(self, first: int, end: int) -> list[tuple[int, int]]:
        """The parts between commas on the top level."""
        commas = [at for at in self.top_level(first, end) if self.tokens[at].token_type is TokenType.COMMA]
        return list(zip([first, *(at + 1 for at in commas)], [*commas, end], strict=True))

    def closing(self, opening: int) -> int:
        """The parenthesis that closes this one."""
        depth = 0
        for index in range(opening, len(self.tokens)):
            type = self.tokens[index].token_type
            depth += (type is TokenType.L_PAREN) - (type is TokenType.R_PAREN)
            if depth == 0:
                return index
        raise self.error("this parenthesis is not closed", self.offset(opening))


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text in Spark's language. Raises TokenError for open quotes."""
    return list(Spark().tokenize(text))


def flat(text: str) -> Source:
    """A text by its tokens alone, also those of scripts and of statements that sqlglot has as one token.

    Raises StatementError for open quotes.
    """
    try:
        return Source(text, list(_FlatTokenizer(dialect=Spark()).tokenize(text)), None)
    except TokenError:
        raise StatementError("quotes or a comment are not closed", 1, 1) from None


def parsed(text: str) -> Source:
    """One statement. Raises StatementError for a text without tokens, with several statements or with open quotes."""
    dialect = Spark()
    try:
        tokens = list(dialect.tokenize(text))
    except TokenError:
        raise StatementError("quotes or a comment are not closed", 1, 1) from None
    source = Source(text, _without_end(tokens), None)
    if not tokens:
        raise StatementError("there is no statement", 1, 1)
    try:
        trees = _Parser(dialect=dialect).parse(list(tokens), text)
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        line, column = first.get("line") or 1, first.get("col") or 1
        source.problem = StatementError(f"the statement cannot be parsed at line {line}, column {column}", line, column)
        return source
    statements = [tree for tree in trees if tree is not None]
    if len(statements) != 1:
        source.problem = source.error("there are several statements: give them one by one")
    else:
        source.tree = statements[0]
    if isinstance(source.tree, exp.Command):
        # sqlglot has all words after the first one as one token.
        source.tokens[1:] = _without_end(list(dialect.tokenize(blanked(text, tokens[0].end + 1))))
    return source


def _without_end(tokens: list[Token]) -> list[Token]:
    """The tokens without semicolons at the end."""
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    return tokens


def blanked(text: str, end: int) -> str:
    """The text with blanks up to a position, so that all other positions stay the same."""
    return "".join("\n" if sign == "\n" else " " for sign in text[:end]) + text[end:]


def parsed_again(text: str) -> exp.Expression | None:
    """The tree of an expression or a query that was cut out of a statement; None where it cannot be parsed."""
    dialect = Spark()
    for words in ("SELECT ", ""):
        try:
            tree = _Parser(dialect=dialect).parse(list(dialect.tokenize(words + text)), words + text)[0]
        except (ParseError, TokenError):
            continue
        if words and isinstance(tree, exp.Select) and len(tree.expressions) == 1 and len(_given(tree)) == 1:
            expression = tree.expressions[0]
            return expression if isinstance(expression, exp.Expression) else None
        if not words:
            return tree if isinstance(tree, exp.Expression) else None
    return None


def _given(tree: exp.Expression) -> Sequence[str]:
    return [name for name, value in tree.args.items() if value]
