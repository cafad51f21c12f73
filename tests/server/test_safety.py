"""Settings that lock out all users are refused, and settings with too little protection are reported."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from metastored.config import load
from metastored.errors import ConnectError
from metastored.server.safety import RULES, findings, open_files
from tests.server.http.support import user
from tests.server.support import certificate
from tests.support.forks import running_server
from tests.support.waiting import eventually
from tests.transfer.support import metastored

# Starts a server for each unsafe setting.
pytestmark = pytest.mark.slow

Flags = dict[str, str]

TLS = {"tls_certificate": "chain.pem"}
KERBEROS = {"kerberos_principal": "hive/_HOST@R", "kerberos_keytab": "keytab"}
WEB = {"jwt_keys": "keys.json", "http_port": "0", "jwt_audience": "metastored"}
SQL = {"authorization": "sql", "admin_users": "root"}
OPEN = {"host": "0.0.0.0"}

REFUSED: dict[str, list[tuple[Flags, Flags]]] = {
    "web tokens without HTTP": [({"jwt_keys": "keys.json"}, WEB), (KERBEROS | {"jwt_keys": "keys.json"}, KERBEROS)],
    "passwords without TLS": [
        ({"password_login": "on"}, {"password_login": "on"} | TLS),
        ({"password_login": "on"} | KERBEROS, {"password_login": "on", "http_port": "0"}),
    ],
    "SQL authorization without administrators": [({"authorization": "sql"} | KERBEROS, SQL | KERBEROS)],
    "an audit that is not written": [
        ({"audit": "on", "log_level": "warning"}, {"audit": "on", "log_level": "info"}),
        ({"audit": "on", "log_level": "error"}, {"audit": "off", "log_level": "error"}),
    ],
}
"""Settings to which the rule applies, and some beside them to which it does not."""

WARNED: dict[str, list[tuple[Flags, Flags]]] = {
    "no login at the Thrift port": [
        (WEB, WEB | KERBEROS),
        ({"password_login": "on", "http_port": "0"}, {"password_login": "on", "http_port": "0"} | TLS),
        ({"tls_client_ca": "ca.pem", "http_port": "0"}, {"tls_client_ca": "ca.pem", "http_port": "0"} | TLS),
    ],
    "SQL authorization without authentication": [(SQL, SQL | KERBEROS)],
    "a network without authentication": [(OPEN, OPEN | KERBEROS), ({"host": "10.0.0.1"}, {"host": "::1"})],
    "HTTP without authentication": [({"http_port": "0"}, WEB), ({"http_port": "9"}, {"http_port": "9"} | KERBEROS)],
    "HTTP without TLS on a network": [
        (OPEN | WEB | {"http_tls": "off"}, WEB | {"http_tls": "off"}),
        (OPEN | {"http_port": "0", "http_tls": "off"}, OPEN | {"http_port": "0"}),
    ],
    "web tokens for any service": [({"jwt_keys": "keys.json", "http_port": "0"}, WEB)],
    "proxy users without authentication": [({"proxy_users": "knox"}, {"proxy_users": "knox"} | KERBEROS)],
    "settings of HTTP without HTTP": [
        ({"metrics_token": "token"}, {"metrics_token": "token", "http_port": "0"}),
        ({"metrics_addresses": "10.0.0.0/8"}, {}),
        (KERBEROS | {"kerberos_http_principal": "HTTP/h@R"}, KERBEROS),
    ],
}


def found(flags: Flags) -> dict[str, bool]:
    """The rules that apply, and whether they refuse."""
    return {each.rule: each.refuses for each in findings(load(environment={}, flags=flags))}


CASES = [(rule, *pair, True) for rule, pairs in REFUSED.items() for pair in pairs]
CASES += [(rule, *pair, False) for rule, pairs in WARNED.items() for pair in pairs]


@pytest.mark.parametrize(("rule", "flags", "mended", "refuses"), CASES)
def test_a_rule_applies_to_these_settings_and_not_to_similar_ones(
    rule: str, flags: Flags, mended: Flags, refuses: bool
) -> None:
    assert found(flags).get(rule) is refuses
    assert rule not in found(mended)


def test_every_rule_has_a_test() -> None:
    assert [each.name for each in RULES if each.name not in REFUSED | WARNED] == []


def test_the_defaults_are_silent() -> None:
    assert found({}) == {}


def test_every_finding_names_a_setting_to_change_and_is_one_line() -> None:
    for _, flags, _, _ in CASES:
        for each in findings(load(environment={}, flags=flags)):
            assert "\n" not in each.text and "{" not in each.text
            assert "_" in each.text or "--" in each.text


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--password-login", "on"), "--tls-certificate"),
        (("--jwt-keys", "keys.json"), "--http-port"),
        (("--authorization", "sql"), "--admin-users"),
        (("--audit", "on", "--log-level", "error"), "--log-level info"),
    ],
)
def test_a_server_that_would_lock_out_all_users_does_not_start(
    tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    done = metastored("serve", "--port", "0", "--data", str(tmp_path / "data"), *flags, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("metastored: ") and words in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(("workers", "level"), [(1, "info"), (2, "info"), (1, "error"), (2, "error")])
def test_missing_protection_is_printed_once_in_the_log_or_else_in_the_banner(workers: int, level: str) -> None:
    with running_server(http_port=0, workers=workers, log_level=level, **SQL) as server:
        # The banner comes after the ready file.
        eventually(lambda: "  Spark: " in server.log)
        said = server.log
    for words in ("/metastore serves all methods to all clients", "authorization is sql without authentication"):
        (line,) = (line for line in said.splitlines() if words in line)
        assert line.startswith("  Warning: ") if level == "error" else " WARNING " in line


def test_that_there_are_no_users_yet_is_reported(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    settings: dict[str, Any] = {"tls_certificate": chain, "tls_key": key, "data": tmp_path / "data"}
    words = "password_login is on and there are no users yet"
    with running_server(password_login="on", **settings) as server:
        assert words in server.log
    user("add", "maja", data=tmp_path / "data", password="a password")
    with running_server(password_login="on", **settings) as server:
        assert words not in server.log


def test_an_ordinary_user_command_is_not_kept_from_working_by_settings_of_a_server(tmp_path: Path) -> None:
    (tmp_path / "metastored.yaml").write_text(f"authorization: sql\ndata: {tmp_path / 'data'}\n")
    done = metastored("user", "list", "--config", str(tmp_path / "metastored.yaml"))
    assert "there is no database" in done.stderr and "admin" not in done.stderr


def test_secrets_that_others_may_read_are_reported(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    for file in (chain, key):
        os.chmod(file, 0o644)
    tmp_path.chmod(0o755)
    flags: dict[str, Any] = {"data": str(tmp_path), "tls_certificate": str(chain), "tls_key": str(key)}
    first, second = open_files(load(environment={}, flags=flags))
    assert f"the data folder {tmp_path}" in first and "chmod 700" in first
    assert f"tls_key {key}" in second and "chmod o-rwx" in second
    os.chmod(key, 0o640)
    tmp_path.chmod(0o700)
    assert list(open_files(load(environment={}, flags=flags))) == []


def test_a_data_folder_that_others_may_read_is_reported_at_the_start(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with running_server(data=tmp_path) as server:
        assert f"everybody may read in the data folder {tmp_path}" in server.log
    tmp_path.chmod(0o777)
    with pytest.raises(ConnectError, match="everybody may write to the data folder"), running_server(data=tmp_path):
        pass
