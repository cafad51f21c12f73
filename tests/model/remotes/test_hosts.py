"""Where remotes may point."""

from __future__ import annotations

import pytest

from metastored.errors import InvalidObjectException
from metastored.model.remotes.hosts import ALL_HOSTS, AllowedHosts, hosts_of
from metastored.model.remotes.values import read_remote


def allowed(*rules: str) -> AllowedHosts:
    return AllowedHosts.read(rules)


def is_allowed(hosts: AllowedHosts, name: str, port: int = 9083, address: str = "") -> bool:
    try:
        if address:
            hosts.check_address(name, port, address)
        else:
            hosts.check_name(name, port)
    except InvalidObjectException:
        return False
    return True


@pytest.mark.parametrize(
    ("rule", "name", "expected"),
    [
        ("*", "anything.at.all", True),
        ("*.example.com", "Old.Example.COM.", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "old.example.com.evil.net", False),
        ("old", "old", True),
        ("old:9083", "old", True),
        ("old:9084", "old", False),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.0.0.0/8", "::ffff:10.1.2.3", True),
        ("fd00::/8", "[fd00::1]", True),
        ("[fd00::1]:9083", "fd00::1", True),
        ("127.0.0.1", "127.0.0.2", False),
        # Which address a name has is not known yet: it is checked at the connection.
        ("10.0.0.0/8", "old.example.com", True),
    ],
)
def test_a_definition_is_checked_by_the_names_in_it(rule: str, name: str, expected: bool) -> None:
    assert is_allowed(allowed(rule), name) is expected


@pytest.mark.parametrize(
    ("rules", "name", "address", "expected"),
    [
        (("10.0.0.0/8",), "old.example.com", "10.9.9.9", True),
        (("10.0.0.0/8",), "old.example.com", "192.168.0.1", False),
        (("*.example.com",), "old.example.com", "192.168.0.1", True),
        # A name that is made to lead somewhere else later.
        (("*.example.com",), "old.example.com", "127.0.0.1", False),
        (("*.example.com",), "old.example.com", "169.254.169.254", False),
        (("*.example.com",), "old.example.com", "::1", False),
        (("*.example.com",), "old.example.com", "::ffff:127.0.0.1", False),
        (("*.example.com", "127.0.0.0/8"), "old.example.com", "127.0.0.1", True),
        (("localhost",), "localhost", "127.0.0.1", True),
        (("*",), "localhost", "127.0.0.1", True),
        (("*",), "metadata", "169.254.169.254", False),
        (("*", "169.254.0.0/16"), "metadata", "169.254.169.254", True),
        (("*",), "anywhere", "0.0.0.0", False),
    ],
)
def test_a_connection_is_checked_again_by_the_address(
    rules: tuple[str, ...], name: str, address: str, expected: bool
) -> None:
    assert is_allowed(allowed(*rules), name, address=address) is expected


@pytest.mark.parametrize("rule", ["", "a b", "http://x", "10.0.0.0/99", "[x]", "1.2.3", "a:b:c"])
def test_what_is_no_host_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match="hosts were expected"):
        allowed(rule)


def test_a_refusal_names_the_host_and_the_rules() -> None:
    with pytest.raises(InvalidObjectException) as caught:
        allowed("*.example.com", "10.0.0.0/8").check_address("old.corp", 9083, "192.168.0.1", "remote database d")
    assert str(caught.value.message) == (
        "remote database d: old.corp:9083 (192.168.0.1) is not among the hosts that remotes may use; "
        "the setting remotes_hosts allows *.example.com, 10.0.0.0/8"
    )


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (
            {"hive.metastore.uris": "thrift://a:1,thrift://b:2", "hive.metastore.uris.read-only": "thrift://c:3"},
            [("a", 1), ("b", 2), ("c", 3)],
        ),
        (
            {"hive.metastore.uris": "thrift://a:1", "ssh.tunnel.route": "u@bastion -> v@node:2222"},
            [("a", 1), ("bastion", 22), ("node", 2222)],
        ),
        ({"hive.metastore.uris": "https://other/metastore"}, [("other", 443)]),
        ({"metastored.remote.via": "glue", "aws.region": "eu-west-1"}, [("glue.eu-west-1.amazonaws.com", 443)]),
        ({"metastored.remote.via": "glue", "aws.glue.endpoint": "http://moto:5000"}, [("moto", 5000)]),
        ({"iceberg.catalog.uri": "postgresql+psycopg://u:p@db/c"}, [("db", 5432)]),
        ({"iceberg.table.path": "s3://bucket/t/metadata.json"}, []),
        (
            {"iceberg.catalog.uri": "https://rest/", "iceberg.catalog.s3.endpoint": "http://minio:9000"},
            [("minio", 9000), ("rest", 443)],
        ),
        ({"metastored.remote.via": "nessie", "nessie.url": "https://nessie/api"}, [("nessie", 443)]),
    ],
)
def test_every_host_of_a_definition_is_checked(parameters: dict[str, str], expected: list[tuple[str, int]]) -> None:
    assert list(hosts_of(read_remote("hive", "d", "t", parameters).endpoint)) == expected


def test_a_hop_that_is_none_is_refused() -> None:
    endpoint = read_remote(
        "hive", "d", None, {"hive.metastore.uris": "thrift://a:1", "ssh.tunnel.route": "u@a b -> c"}
    ).endpoint
    with pytest.raises(InvalidObjectException, match="has the hop 'u@a b'"):
        ALL_HOSTS.check(endpoint)
