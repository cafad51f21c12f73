"""Both halves of the client, for every test that takes `half`."""

from __future__ import annotations

import pytest

from tests.support.driven import HALVES


@pytest.fixture(params=HALVES)
def half(request: pytest.FixtureRequest) -> str:
    return str(request.param)
