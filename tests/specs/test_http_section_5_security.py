"""[MS-HMSHTTP] section 5: who is let in, and who is not locked out."""

from __future__ import annotations

from pathlib import Path

import pytest

from metastored.server.auth.attempts import MAX_FAILURES
from tests.server.auth.test_identity import issue, showing
from tests.server.http.support import ALL, API, PASSWORD, USER, basic, browser, http_server, user
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow


def test_5_1_a_basic_and_kerberos_are_the_only_methods_of_authentication(own: Server) -> None:
    # Kerberos itself is tested where there is a KDC: tests/server/http/test_kerberos.py.
    with own.browser() as client:
        for scheme in ("Bearer e30.e30.e30", 'Digest username="maja"', "NTLM AAAA", "maja:honey", ""):
            refused = client.post(ALL, credentials={"Authorization": scheme})
            assert refused.status == 401, scheme
            offered = refused.headers["www-authenticate"]
            assert "Bearer" not in offered and "Digest" not in offered
        assert client.post(ALL, credentials={"x-actor-username": USER}).status == 401


def test_5_1_b_a_client_without_the_required_certificate_gets_401_with_a_reason(tmp_path: Path) -> None:
    ca_file, ca = issue(tmp_path, "ca")
    file, _ = issue(tmp_path, "maja", ca)
    with http_server(tmp_path, tls_client_ca=ca_file) as running:
        with browser(running) as nobody:
            for path in (API, "/metastore"):
                refused = nobody.post(ALL, path)
                assert refused.status == 401 and b"requires a client certificate" in refused.body
        with browser(running, showing(file)) as client:
            assert client.post(ALL).status == 200
            assert client.post(ALL, credentials=basic(USER, "wrong")).status == 401


def test_5_1_c_wrong_passwords_of_one_user_lock_out_nobody_who_has_the_right_one(tmp_path: Path) -> None:
    user("add", "willy", data=tmp_path / "data", password="pollen")
    with http_server(tmp_path) as running, browser(running) as gateway:
        statuses = [gateway.post(ALL, credentials=basic(USER, f"guess {n}")).status for n in range(MAX_FAILURES + 2)]
        assert statuses == [401] * MAX_FAILURES + [429] * 2
        assert gateway.post(ALL, credentials=basic("willy", "pollen")).status == 200
        assert gateway.post(ALL, credentials=basic(USER, PASSWORD)).status == 200
