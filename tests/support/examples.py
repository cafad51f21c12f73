"""How many examples Hypothesis generates for a test: all of them, or a quarter with its profile `quick`.

`make quick` uses that profile, `make test` does not.
"""

from __future__ import annotations

from typing import Final

from hypothesis import settings

QUICK: Final = "quick"
SHARE: Final = 4


def register_profile() -> None:
    """Makes the profile known to the option `--hypothesis-profile`, which pytest reads when the conftest is loaded."""
    settings.register_profile(QUICK, max_examples=settings().max_examples // SHARE)


def examples(count: int) -> int:
    """The number for `max_examples` of a test that has `count` of them in a complete run."""
    return max(2, count // SHARE) if settings.get_current_profile_name() == QUICK else count
