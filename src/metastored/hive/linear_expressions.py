"""Regular expressions of users, matched in time that grows with the text only, never with the choices in the pattern.

Python's `re` tries one choice after the other: `(a|a)*b` takes for ever for a text of forty letters. Here all choices
are followed at once, as sets of states (Thompson's construction); the sets that occur are kept.

    letters   .   [a-z_]   [^0-9]   \\d \\w \\s   \\.   (a|b)   (?:…)   * + ? {2} {2,} {2,5}   ^ and $ at the ends

Names are compared in any case, and as a whole. What else `re` knows, such as `(?=…)` and `\\1`, is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MOST_STATES: Final = 2_000
"""How large an expression may be, with its repetitions written out."""
MOST_DEPTH: Final = 50
LONGEST_TEXT: Final = 4_000
"""Names come from remotes too; a metastore stores at most 767 characters of one."""
_KEPT: Final = 2_000
"""How many steps from a set of states are kept; one more removes all."""
_CLASSES: Final[dict[str, Callable[[str], bool]]] = {
    "d": str.isdigit,
    "w": lambda char: char.isalnum() or char == "_",
    "s": str.isspace,
}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r"}
_Test = Callable[[str], bool]
_States = frozenset[int]


class PatternError(ValueError):
    """A pattern that cannot be read. The message says what is wrong, and where."""


class LinearExpression:
    """A pattern that was read. Raises PatternError."""

    def __init__(self, pattern: str) -> None:
        machine = _Machine()
        end = _Reader(pattern, machine).read(machine.start)
        self._machine, self._end = machine, end
        self._first = machine.closure({machine.start})
        self._next: dict[tuple[_States, str], _States] = {}

    def matches(self, text: str) -> bool:
        """Whether the whole text matches, in any case. A text that is longer than any name does not."""
        if len(text) > LONGEST_TEXT:
            return False
        states = self._first
        for char in text.lower():
            key = states, char
            following = self._next.get(key)
            if following is None:
                if len(self._next) >= _KEPT:
                    self._next.clear()
                following = self._next[key] = self._machine.step(states, char)
            if not following:
                return False
            states = following
        return self._end in states


class _Machine:
    """States by number: where each leads without a character, and by which characters."""

    def __init__(self) -> None:
        self._free: list[list[int]] = []
        self._by: list[list[tuple[_Test, int]]] = []
        self.start = self.state()

    def state(self) -> int:
        if len(self._free) >= MOST_STATES:
            raise PatternError(f"the pattern has more than {MOST_STATES} states")
        self._free.append([])
        self._by.append([])
        return len(self._free) - 1

    def free(self, start: int, end: int) -> None:
        self._free[start].append(end)

    def by(self, start: int, test: _Test, end: int) -> None:
        self._by[start].append((test, end))

    def closure(self, states: set[int]) -> _States:
        reached, waiting = set(states), list(states)
        while waiting:
            for each in self._free[waiting.pop()]:
                if each not in reached:
                    reached.add(each)
                    waiting.append(each)
        return frozenset(reached)

    def step(self, states: _States, char: str) -> _States:
        return self.closure({end for state in states for test, end in self._by[state] if test(char)})


class _Reader:
    """Reads a pattern and adds its states to a machine. Each method returns the state at the end of what it read."""

    def __init__(self, pattern: str, machine: _Machine) -> None:
        self._text = pattern
        self._at = 0
        self._machine = machine
        self._depth = 0

    def read(self, start: int) -> int:
        if self._peek() == "^":
            self._at += 1
        end = self._choice(start)
        if self._at < len(self._text):
            raise self._wrong(f"{self._text[self._at]!r} was not expected")
        return end

    def _choice(self, start: int) -> int:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise self._wrong("too many parentheses are open")
        end = self._machine.state()
        self._machine.free(self._sequence(start), end)
        while self._peek() == "|":
            self._at += 1
            self._machine.free(self._sequence(start), end)
        self._depth -= 1
        return end

    def _sequence(self, start: int) -> int:
        # A loop back to its start must not lead into the other choices.
        now = self._machine.state()
        self._machine.free(start, now)
        while (char := self._peek()) and char not in "|)":
            if char == "$" and self._at + 1 == len(self._text):
                self._at += 1
                break
            now = self._repeated(now)
        return now

    def _repeated(self, start: int) -> int:
        """An atom, written out as often as it must and may occur. One that is repeated is read again each time."""
        begin, machine = self._at, self._machine
        end = self._atom(start)
        least, most = self._quantifier()
        if (least, most) == (1, 1):
            return end
        behind, now = self._at, start
        for number in range(least if most is None else most):
            before, now = now, self._again(begin, now)
            if number >= least:
                machine.free(before, now)
        if most is None:
            loop = machine.state()
            machine.free(now, loop)
            machine.free(self._again(begin, loop), loop)
            now = loop
        self._at = behind
        return now

    def _again(self, begin: int, start: int) -> int:
        self._at = begin
        return self._atom(start)

    def _quantifier(self) -> tuple[int, int | None]:
        char = self._peek()
        bounds: tuple[int, int | None] = (1, 1)
        if char and char in "*+?":
            self._at += 1
            bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
        elif char == "{":
            close = self._text.find("}", self._at)
            first, comma, second = self._text[self._at + 1 : max(close, self._at)].partition(",")
            if not (first.isdecimal() and (not second or second.isdecimal())) or len(first) > 4 or len(second) > 4:
                raise self._wrong("a number of repetitions such as {2} or {2,5} was expected")
            self._at = close + 1
            bounds = int(first), int(second) if second else None if comma else int(first)
            if bounds[1] is not None and bounds[1] < bounds[0]:
                raise self._wrong("the number of repetitions ends before it begins")
        else:
            return bounds
        if (after := self._peek()) and after in "?+":
            self._at += 1  # How the choices are tried does not matter here.
        elif after and after in "*{":
            raise self._wrong("a repetition is repeated")
        return bounds

    def _atom(self, start: int) -> int:
        char = self._take()
        if char == "(":
            if self._text.startswith("?", self._at):
                if not self._text.startswith("?:", self._at):
                    raise self._wrong("of the forms (?…) only (?:…) is known")
                self._at += 2
            end = self._choice(start)
            if self._peek() != ")":
                raise self._wrong("a parenthesis is not closed")
            self._at += 1
            return end
        if char in "*+?{":
            raise self._wrong(f"there is nothing to repeat by {char!r}", 1)
        end = self._machine.state()
        self._machine.by(start, self._test(char), end)
        return end

    def _test(self, char: str) -> _Test:
        if char == ".":
            return lambda each: True
        if char == "[":
            return self._set()
        if char == "\\":
            return self._escaped()
        if char in "^$":
            raise self._wrong(f"{char!r} stands at an end of the pattern only", 1)
        return char.lower().__eq__

    def _escaped(self) -> _Test:
        char = self._take()
        if char.lower() in _CLASSES:
            test = _CLASSES[char.lower()]
            return test if char.islower() else lambda each: not test(each)
        if char.isalnum() and char not in _CONTROLS:
            raise self._wrong(f"\\{char} is not known", 2)
        return _CONTROLS.get(char, char).lower().__eq__

    def _set(self) -> _Test:
        negated = self._peek() == "^"
        self._at += negated
        tests: list[_Test] = []
        first = True
        while (char := self._take()) != "]" or first:
            first = False
            if char == "\\":
                tests.append(self._escaped())
                continue
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                last = self._take()
                if last == "\\":
                    last = self._take()
                tests.append(_range(char, last))
                continue
            tests.append(char.lower().__eq__)
        return lambda each: any(test(each) for test in tests) is not negated

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        if self._at >= len(self._text):
            raise self._wrong("the pattern ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _wrong(self, what: str, back: int = 0) -> PatternError:
        return PatternError(f"at position {self._at - back + 1}, {what}")


def _range(first: str, last: str) -> _Test:
    """Texts are compared in lower case: a range of capitals has the small letters too."""
    return lambda each: first <= each <= last or first <= each.upper() <= last
