"""The generations of Hive whose rules differ, in their order.

`metastored serve --compat` chooses one of them; the rest of this package checks `generation >= Generation.HIVE_4_0`
wherever Hive's behaviour changed. The rules themselves are in the modules of their topics.
"""

from enum import IntEnum


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
