"""How many examples Hypothesis generates for a test: all of them, or a quarter with its profile `quick`.

`make quick` uses that profile, `make test` does not. With both, Hypothesis does not measure time: a test that is slow
because the machine is busy does not fail.
"""

from __future__ import annotations

from typing import Final

from hypothesis import HealthCheck, settings

COMPLETE: Final = "complete"
QUICK: Final = "quick"
SHARE: Final = 4


def register_profiles() -> None:
    """Loads the profile of complete runs. `--hypothesis-profile=quick`, which pytest reads later, chooses the other."""
    complete = settings(settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile(COMPLETE, complete)
    settings.register_profile(QUICK, complete, max_examples=complete.max_examples // SHARE)
    settings.load_profile(COMPLETE)


def examples(count: int) -> int:
    """The number for `max_examples` of a test that has `count` of them in a complete run."""
    return max(2, count // SHARE) if settings.get_current_profile_name() == QUICK else count
