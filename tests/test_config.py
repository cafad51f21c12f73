"""Settings: three sources, one schema, and errors that say what would work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metastored.config import KEYS, Settings, keys_by_group, load
from metastored.errors import ConfigError
from tools import configuration_reference


def written(folder: Path, text: str) -> Path:
    file = folder / "metastored.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_defaults_listen_on_the_loopback_with_the_embedded_database() -> None:
    settings = load(environment={})
    assert (settings.host, settings.port, settings.workers) == ("127.0.0.1", 9083, 1)
    assert settings.database_url is None
    assert settings.data == Path("~/.metastored").expanduser()
    assert settings.warehouse_root == f"file:{Path('~/.metastored').expanduser() / 'warehouse'}"


def test_the_environment_wins_over_the_file_and_a_flag_over_both(tmp_path: Path) -> None:
    file = written(tmp_path, "port: 1\nthreads: 1\nworkers: 1\n")
    settings = load(file, {"METASTORED_PORT": "2", "METASTORED_THREADS": "2"}, {"port": "3"})
    assert (settings.port, settings.threads, settings.workers) == (3, 2, 1)


def test_the_environment_can_name_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "port: 7\n")
    assert load(None, {"METASTORED_CONFIG": str(file)}).port == 7


VALUES: dict[str, tuple[Any, Any]] = {
    "host": ("0.0.0.0", "0.0.0.0"),
    "port": ("1234", 1234),
    "data": ("/srv/metastored", Path("/srv/metastored")),
    "database_url": ("postgresql://h/d", "postgresql://h/d"),
    "warehouse": ("s3a://b/w", "s3a://b/w"),
    "directories": ("off", "off"),
    "location_schemes": ("file, S3A", ("file", "s3a")),
    "directory_timeout": ("5", 5.0),
    "trash_days": ("7", 7),
    "compat": ("4.0", "4.0"),
    "distinct_values": ("bit-vectors", "bit-vectors"),
    "workers": ("4", 4),
    "threads": ("16", 16),
    "acid_views": ("on", "on"),
    "acid_views_port": ("9084", 9084),
    "acid_views_users": ("spark,bi", ("spark", "bi")),
    "acid_view_retention": ("60", 60.0),
    "max_connections": ("100", 100),
    "idle_timeout": ("5", 5.0),
    "request_timeout": ("0.5", 0.5),
    "drain_timeout": ("0", 0.0),
    "event_retention": ("864000", 864000.0),
    "reply_megabytes": ("64", 64),
    "spool_megabytes": ("0", 0),
    "slow_call": ("2.5", 2.5),
    "tls_certificate": ("/c.pem", Path("/c.pem")),
    "tls_key": ("/k.pem", Path("/k.pem")),
    "tls_client_ca": ("/ca.pem", Path("/ca.pem")),
    "kerberos_principal": ("hive/h@R", "hive/h@R"),
    "kerberos_keytab": ("/k.keytab", Path("/k.keytab")),
    "sasl_qop": ("auth-conf, auth", ("auth", "auth-conf")),
    "authorization": ("sql", "sql"),
    "admin_users": ("alice, bob", ("alice", "bob")),
    "service_users": ("hive, spark", ("hive", "spark")),
    "audit": ("on", "on"),
    "read_only": ("on", "on"),
    "remotes_hosts": ("10.0.0.0/8, *.example.com,old:9083", ("10.0.0.0/8", "*.example.com", "old:9083")),
    "remotes_key_file": ("/keys", Path("/keys")),
    "remotes_references": (
        "env:OLD_*, file:/run/partner -> *.partner.example 10.0.0.0/8",
        ("env:OLD_*", "file:/run/partner -> *.partner.example 10.0.0.0/8"),
    ),
    "remotes_partial": ("on", "on"),
    "remotes_trino_catalog": ("lake", "lake"),
    "filter": ("mine", "mine"),
    "limits_calls_per_minute": ("600", 600),
    "limits_partitions_per_call": ("600", 600),
    "kerberos_http_principal": ("HTTP/h@R", "HTTP/h@R"),
    "password_login": ("on", "on"),
    "jwt_keys": ("/keys.json", "/keys.json"),
    "jwt_issuer": ("issuer", "issuer"),
    "jwt_audience": ("metastored", "metastored"),
    "proxy_users": ("hue, knox", ("hue", "knox")),
    "http_port": ("9443", 9443),
    "http_path": ("/hms", "/hms"),
    "http_methods": ("all", "all"),
    "http_tls": ("off", "off"),
    "trusted_proxies": ("10.0.0.0/8, ::1", ("10.0.0.0/8", "::1/128")),
    "metrics_addresses": ("127.0.0.1", ("127.0.0.1/32",)),
    "metrics_token": ("/token", Path("/token")),
    "iceberg": ("on", "on"),
    "iceberg_role": ("arn:aws:iam::123456789012:role/lake", "arn:aws:iam::123456789012:role/lake"),
    "iceberg_role_seconds": ("900", 900),
    "iceberg_signing": ("on", "on"),
    "lance": ("on", "on"),
    "lance_root": ("s3://b/lance", "s3://b/lance"),
    "lance_managed_by": ("impl", "impl"),
    "lance_megabytes": ("3000", 3000),
    "lance_timeout": ("60", 60.0),
    "lance_external": ("off", "off"),
    "log_level": ("DEBUG", "debug"),
    "ready_file": ("/run/metastored.json", Path("/run/metastored.json")),
}
TOGETHER = {
    "tls_key": {"tls_certificate": "/c.pem"},
    "kerberos_principal": {"kerberos_keytab": "/k.keytab"},
    "kerberos_keytab": {"kerberos_principal": "hive/h@R"},
    "tls_client_ca": {"tls_certificate": "/c.pem"},
    "kerberos_http_principal": {"kerberos_principal": "hive/h@R", "kerberos_keytab": "/k.keytab"},
    "jwt_issuer": {"jwt_keys": "/keys.json"},
    "jwt_audience": {"jwt_keys": "/keys.json"},
    "iceberg_role": {"iceberg": "on", "authorization": "sql"},
    "iceberg_signing": {"iceberg": "on", "authorization": "sql"},
}


def test_every_key_is_tried_here() -> None:
    assert list(VALUES) == list(KEYS)


@pytest.mark.parametrize("name", VALUES)
def test_every_key_can_be_given_by_file_environment_and_flag(name: str, tmp_path: Path) -> None:
    text, value = VALUES[name]
    others = TOGETHER.get(name, {})
    lines = "".join(f"{key}: {other}\n" for key, other in others.items())
    assert getattr(load(written(tmp_path, f"{lines}{name}: {text}\n"), {}), name) == value
    variables = {KEYS[key].variable: other for key, other in (others | {name: text}).items()}
    assert getattr(load(environment=variables), name) == value
    assert getattr(load(environment={}, flags=others | {name: text}), name) == value


@pytest.mark.parametrize(
    ("wrong", "right"), [("wareouse", "warehouse"), ("database-url", "database_url"), ("Port", "port")]
)
def test_an_unknown_key_is_refused_with_the_nearest(wrong: str, right: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"metastored\.yaml: unknown key '{wrong}'; did you mean '{right}'\?"):
        load(written(tmp_path, f"{wrong}: 1\n"), {})


def test_an_unknown_variable_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        ConfigError, match=r"unknown variable METASTORED_DATABASE; did you mean METASTORED_DATABASE_URL\?"
    ):
        load(environment={"METASTORED_DATABASE": "x"})


def test_a_key_unlike_any_other_is_refused_with_a_list_of_all() -> None:
    with pytest.raises(ConfigError, match="unknown key 'zzz'; known are host, port, "):
        load(environment={}, flags={"zzz": "1"})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("port", "65536", "a whole number from 0 to 65535 was expected"),
        ("port", "1.5", "a whole number"),
        ("workers", "0", "a whole number from 1 to 256 was expected"),
        ("idle_timeout", "soon", "a number of seconds was expected, such as 60 or 0.5"),
        ("idle_timeout", "-1", "a number of seconds"),
        ("compat", "5.0", "one of any, 2.3, 3.1, 4.0, 4.2 was expected"),
        ("directories", "some", "one of all, local, off was expected"),
        ("host", " ", "a text was expected"),
    ],
)
def test_a_wrong_value_is_named_with_the_expected_form(name: str, value: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(environment={}, flags={name: value})
    assert str(caught.value).startswith(f"the flags: {name} is {value!r}; {expected}")


def test_yaml_booleans_and_numbers_are_accepted_for_off_and_versions(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "directories: off\ncompat: 4.0\n"), {})
    assert (settings.directories, settings.compat) == ("off", "4.0")


@pytest.mark.parametrize("text", ["port: [1", "- port", "just words"])
def test_a_file_that_holds_no_settings_is_named(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"metastored\.yaml: (not valid YAML|lines of `key: value` were expected)"):
        load(written(tmp_path, text), {})


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert load(written(tmp_path, "# nothing\n"), {}) == load(environment={})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: No such file"):
        load(tmp_path / "none.yaml", {})


def test_a_server_has_one_database() -> None:
    with pytest.raises(ConfigError, match="data and database_url are both set"):
        load(environment={}, flags={"data": "/d", "database_url": "postgresql://h/d"})


def test_a_later_source_may_choose_another_kind_of_database(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "database_url: postgresql://h/d\n"), {}, {"data": "/d"})
    assert (settings.data, settings.database_url) == (Path("/d"), None)


@pytest.mark.parametrize("given", [{"tls_key": "/k"}, {"kerberos_principal": "p"}, {"kerberos_keytab": "/k"}])
def test_settings_that_need_each_other_are_required_together(given: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"tls_certificate|together"):
        load(environment={}, flags=given)


def test_variables_that_kubernetes_makes_for_a_service_named_metastored_are_no_settings() -> None:
    settings = load(
        environment={
            "METASTORED_PORT": "tcp://10.0.0.7:9083",
            "METASTORED_PORT_9083_TCP_ADDR": "10.0.0.7",
            "METASTORED_SERVICE_HOST": "10.0.0.7",
            "METASTORED_METASTORE_SERVICE_PORT_THRIFT": "9083",
        }
    )
    assert settings.port == 9083


def test_an_empty_variable_is_not_given() -> None:
    assert load(environment={"METASTORED_DATABASE_URL": ""}) == load(environment={})


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Settings().port = 1  # type: ignore[misc]


def test_every_key_is_described_in_a_sentence() -> None:
    for key in KEYS.values():
        assert key.description[0].isupper()
        assert key.description.endswith(".")


def test_the_reference_page_is_current() -> None:
    page = configuration_reference.OUT.read_text("utf-8")
    assert page == configuration_reference.render(keys_by_group()), "run python tools/configuration_reference.py"


@pytest.mark.parametrize("text", ["limits:\n  calls_per_minute: 9\n", "limits.calls_per_minute: 9\n"])
def test_a_file_may_group_keys(tmp_path: Path, text: str) -> None:
    assert load(written(tmp_path, text), {}).limits_calls_per_minute == 9


def test_on_and_off_are_words_in_a_file(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "audit: on\nread_only: off\n"), {})
    assert (settings.audit, settings.read_only) == ("on", "off")


@pytest.mark.parametrize(
    "written",
    [
        *("./wh", "wh", "wh/", "../{here}/wh", "{cwd}/wh", "{cwd}/wh/", "/{cwd}//wh", "file:{cwd}/wh"),
        *("file://{cwd}/wh", "file://{cwd}/wh/", "FILE:{cwd}/wh", "file://localhost{cwd}/wh", "~/wh"),
    ],
)
def test_every_way_of_writing_a_local_warehouse_is_one_uri(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    typed = written.format(cwd=tmp_path, here=tmp_path.name)
    settings = load(environment={}, flags={"warehouse": typed})
    assert settings.warehouse_root == settings.warehouse == f"file:{tmp_path}/wh"


def test_a_warehouse_keeps_spaces_and_percent_signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my data").mkdir()
    monkeypatch.chdir(tmp_path / "my data")
    assert load(environment={}, flags={"warehouse": "50%20"}).warehouse == f"file:{tmp_path}/my data/50%20"
    assert load(environment={}, flags={"data": "d"}).warehouse_root == f"file:{tmp_path}/my data/d/warehouse"


@pytest.mark.parametrize("written", ["s3a://bucket/wh", "s3a://bucket/wh/", "S3A://bucket//wh"])
def test_the_warehouse_of_an_object_store_has_one_uri(written: str) -> None:
    assert load(environment={}, flags={"warehouse": written}).warehouse == "s3a://bucket/wh"


@pytest.mark.parametrize(
    ("written", "reason"), [("file:wh", "write file:/wh"), ("file://host/wh", "not on the local file system")]
)
def test_a_warehouse_that_is_no_uri_is_refused(written: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        load(environment={}, flags={"warehouse": written})


@pytest.mark.parametrize("name", ["iceberg_role", "iceberg_signing"])
@pytest.mark.parametrize("missing", ["iceberg", "authorization"])
def test_access_to_files_is_given_only_by_privileges(name: str, missing: str, tmp_path: Path) -> None:
    others = [f"{key}: {value}\n" for key, value in TOGETHER[name].items() if key != missing]
    with pytest.raises(ConfigError, match=f"{name} is .*: iceberg must be on, and authorization must be sql"):
        load(written(tmp_path, f"{''.join(others)}{name}: {VALUES[name][0]}\n"), {})
