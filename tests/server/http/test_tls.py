"""Certificates of the HTTP port, plain HTTP for gateways, access to the metrics, workers, and long responses."""

from __future__ import annotations

import hashlib
import http.client
import os
import ssl
import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest

from metastored.server.tls import MADE_CERTIFICATE, MADE_KEY, Tls, made_certificate
from metastored.wire.codec import binary
from metastored.wire.connection import ClientConnection
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS
from tests.server.http.support import ALL, PASSWORD, THRIFT, USER, Browser, basic, browser, http_server, user
from tests.server.support import PATIENCE, certificate, serving
from tests.support.forks import running_server
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow


def shown(port: int) -> str:
    """The certificate of a server, as PEM."""
    return ssl.get_server_certificate(("127.0.0.1", port), timeout=PATIENCE)


def shows(port: int, pem: str) -> bool:
    return shown(port) == pem


def test_a_certificate_is_created_once_and_its_fingerprint_printed(tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        with running_server(http_port=0, data=tmp_path) as server:
            assert server.http_port is not None
            pem = shown(server.http_port)
            found.append(pem)
            digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest().upper()
            assert digest in server.log.replace(":", "")
    assert found[0] == found[1] == (tmp_path / MADE_CERTIFICATE).read_text()
    assert stat.S_IMODE((tmp_path / MADE_KEY).stat().st_mode) == 0o600
    # It is valid for this machine: clients that trust it can verify it.
    with running_server(http_port=0, data=tmp_path) as server:
        context = ssl.create_default_context(cafile=str(tmp_path / MADE_CERTIFICATE))
        with browser(server, context) as client:
            assert client.request("GET", "/health").status == 200


def test_servers_that_start_at_the_same_time_make_one_certificate(tmp_path: Path) -> None:
    together = Barrier(8)

    def make(_: int) -> tuple[Path, Path]:
        together.wait(PATIENCE)
        return made_certificate(tmp_path)

    with ThreadPoolExecutor(8) as threads:
        (found,) = set(threads.map(make, range(8)))
    Tls(*found)  # It fails if the key does not belong to the certificate.


def test_tls_before_1_2_is_refused(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    assert Tls(chain, key).context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_certificate_that_changes_is_shown_from_then_on_and_a_bad_one_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chain, key = certificate(tmp_path)
    (tmp_path / "other").mkdir()
    other_chain, other_key = certificate(tmp_path / "other")
    tls = Tls(chain, key)
    chain.write_text("nonsense")
    tls.reload()
    assert "cannot be used" in caplog.text
    os.replace(other_key, key)
    os.replace(other_chain, chain)
    with caplog.at_level("INFO"):
        tls.reload()
        tls.reload()
    assert caplog.text.count("is used from now on") == 1


def test_a_running_server_shows_a_new_certificate(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    (tmp_path / "other").mkdir()
    other_chain, other_key = certificate(tmp_path / "other")
    with serving(tls_certificate=str(chain), tls_key=str(key), http_port=0) as server:
        assert shown(server.http_port) == chain.read_text()
        expected = other_chain.read_text()
        os.replace(other_key, key)
        os.replace(other_chain, chain)
        for port in (server.port, server.http_port):
            eventually(partial(shows, port, expected))


def test_plain_http_is_served_only_with_the_setting(tmp_path: Path) -> None:
    user("add", USER, data=tmp_path, password=PASSWORD)
    with running_server(http_port=0, data=tmp_path, http_tls="off") as server:
        assert server.http_port is not None
        plain = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=PATIENCE)
        try:
            plain.request("POST", "/metastore", ALL, {"Content-Type": THRIFT, **basic()})
            assert plain.getresponse().status == 200
        finally:
            plain.close()
    assert not (tmp_path / MADE_KEY).exists()


def test_the_metrics_can_be_kept_for_some(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("sesame\n")
    with http_server(tmp_path, metrics_addresses="10.0.0.0/8", metrics_token=token) as server:
        with browser(server) as client:
            assert client.request("GET", "/metrics").status == 401
            assert client.request("GET", "/metrics", headers={"Authorization": "Bearer wrong"}).status == 401
            assert client.request("GET", "/metrics", headers={"Authorization": "Bearer sesame"}).status == 200
    with running_server(http_port=0, metrics_addresses="10.0.0.0/8") as server, browser(server) as client:
        assert client.request("GET", "/metrics").status == 403
    with running_server(http_port=0, metrics_addresses="10.0.0.0/8,127.0.0.1") as server, browser(server) as client:
        assert client.request("GET", "/metrics").status == 200


def test_the_metrics_of_all_workers_are_one(tmp_path: Path) -> None:
    with http_server(tmp_path, workers=3) as server:
        for _ in range(12):
            with browser(server) as client:
                assert client.post(ALL, "/metastore", credentials={}).status == 200
        for _ in range(3):
            with browser(server) as client:
                text = client.request("GET", "/metrics").body.decode()
                assert 'metastored_calls_total{method="get_all_databases"} 12.0' in text
                assert "metastored_workers 3.0" in text


@pytest.mark.parametrize("protocol", ["binary", "compact"])
def test_a_long_reply_is_complete_and_a_broken_one_is_detected(protocol: str, tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    size = 5_000_000
    with serving(tls_certificate=str(chain), tls_key=str(key), http_port=0) as server:

        def send_call(client: Browser, what: str) -> bytes:
            method = METHODS["get_config_value"]
            message = ClientConnection(protocol).send(method, binary.encode_args(method, (what, str(size))))
            return client.post(message, "/metastore", kind=THRIFT, credentials={}).body

        with Browser(server.http_port) as client:
            wire = ClientConnection(protocol)
            wire.send(METHODS["get_config_value"], b"\0")
            wire.receive_data(send_call(client, "stream"))
            reply = wire.next_event()
            assert isinstance(reply, Reply)
            assert len(reply.value(METHODS["get_config_value"])) == size
            assert b"Internal error processing get_config_value" in send_call(client, "no stream")
        if protocol == "binary":
            with Browser(server.http_port) as client, pytest.raises(http.client.IncompleteRead):
                send_call(client, "broken stream")
        assert server.handler.opened == server.handler.closed


def test_a_reader_that_leaves_in_the_middle_lets_its_snapshot_go(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    with serving(tls_certificate=str(chain), tls_key=str(key), http_port=0) as server:
        with Browser(server.http_port) as client:
            method = METHODS["get_config_value"]
            message = ClientConnection().send(method, binary.encode_args(method, ("stream", str(200_000_000))))
            client.connection.request("POST", "/metastore", message, {"Content-Type": THRIFT})
            client.connection.getresponse().read(1000)
        eventually(lambda: server.handler.closed == 1)
        assert server.handler.produced < 200_000_000
