"""The generations of Hive whose rules differ, in their order, and what `metastored serve --compat` selects.

The rest of this package checks `generation >= Generation.HIVE_4_0` wherever Hive's behaviour changed. The rules
themselves are in the modules of their topics.
"""

from enum import IntEnum
from typing import Final, NamedTuple


class Generation(IntEnum):
    """A Hive release line. Comparisons follow age: a later line is greater."""

    HIVE_2_3 = 23
    HIVE_3_1 = 31
    HIVE_4_0 = 40
    HIVE_4_2 = 42

    @classmethod
    def of(cls, text: str) -> "Generation":
        """The generation written as `2.3`, `3.1`, `4.0` or `4.2`."""
        for generation in cls:
            if str(generation) == text:
                return generation
        known = ", ".join(map(str, cls))
        raise ValueError(f"{text!r} is not a Hive generation that metastored supports; choose one of {known}")

    def __str__(self) -> str:
        return f"{self.value // 10}.{self.value % 10}"


class Compat(NamedTuple):
    """The generations that a client meets."""

    replies: Generation
    """The generation of replies, until a request shows that the client is newer."""
    accepts: Generation
    """The newest generation whose requests are accepted, whatever the generation of the replies is."""

    @classmethod
    def of(cls, text: str) -> "Compat":
        """A value of the setting `compat`: `any`, or one generation for both."""
        return ANY if text == "any" else cls.only(Generation.of(text))

    @classmethod
    def only(cls, generation: Generation) -> "Compat":
        """A server that accepts what this generation accepts, and no more."""
        return cls(generation, generation)


ANY: Final = Compat(Generation.HIVE_3_1, Generation.HIVE_4_2)
"""What any Hive accepts is accepted, and each client gets the replies of the Hive that its own requests show."""
