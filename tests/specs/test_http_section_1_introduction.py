"""[MS-HMSHTTP] section 1: Basic authentication, and a server that is reached by its address."""

from __future__ import annotations

import pytest

import metastored
from tests.server.http.support import ALL, API, PASSWORD, USER, any_certificate
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow


def test_1_3_a_basic_authentication_is_used_for_all_requests(own: Server) -> None:
    with own.browser() as browser:
        assert browser.post(ALL).status == 200
        refused = browser.post(ALL, credentials={})
        assert refused.status == 401 and refused.headers["www-authenticate"].startswith('Basic realm="')


def test_1_5_a_a_server_that_was_deployed_is_reached_by_its_address_alone(own: Server) -> None:
    uri = f"https://127.0.0.1:{own.https}{API}"
    with metastored.connect(uri, user=USER, password=PASSWORD, tls=any_certificate()) as client:
        assert "default" in client.databases()
