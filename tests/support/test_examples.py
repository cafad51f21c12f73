"""How many examples Hypothesis generates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.support.examples import COMPLETE, QUICK, examples


@pytest.fixture
def profile(request: pytest.FixtureRequest) -> Iterator[None]:
    """The profile of the parameter, for one test."""
    before = settings.get_current_profile_name()
    settings.load_profile(request.param)
    yield
    settings.load_profile(before)


@pytest.mark.parametrize("profile", [QUICK], indirect=True)
def test_a_quick_run_has_a_quarter_of_the_examples_and_at_least_two(profile: None) -> None:
    assert (examples(300), examples(12), examples(4)) == (75, 3, 2)
    assert settings().max_examples == 25


@pytest.mark.parametrize("profile", [COMPLETE], indirect=True)
def test_other_runs_have_all_examples(profile: None) -> None:
    assert (examples(300), examples(12)) == (300, 12)
    assert settings().max_examples == 100


@pytest.mark.parametrize("profile", [COMPLETE, QUICK], indirect=True)
def test_no_run_measures_time(profile: None) -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
