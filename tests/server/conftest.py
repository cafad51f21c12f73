from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.support import Running, serving


@pytest.fixture
def server() -> Iterator[Running]:
    with serving() as running:
        yield running
