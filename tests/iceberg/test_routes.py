"""Paths of Iceberg's REST catalog, without a server."""

from __future__ import annotations

import pytest

from metastored.iceberg.routes import ENDPOINTS, PLANNING, Route, announced, find
from metastored.iceberg.serving import OPERATIONS


def found(verb: str, path: str) -> Route:
    route = find(verb, path)
    assert isinstance(route, Route), route
    return route


def test_every_endpoint_has_an_operation() -> None:
    assert OPERATIONS.keys() == ENDPOINTS.keys()


@pytest.mark.parametrize("endpoint", ENDPOINTS.values(), ids=lambda each: each.operation)
def test_the_path_of_an_endpoint_leads_to_it(endpoint: object) -> None:
    verb, path, operation = endpoint[0], endpoint[1], endpoint[2]  # type: ignore[index]
    named = path.replace("{namespace}", "ns").replace("{table}", "t").replace("{view}", "t").replace("{plan-id}", "p")
    prefixes = [""] if operation == "config" else ["", "/hive"]
    for prefix in prefixes:
        route = found(verb, named.replace("/{prefix}", prefix))
        assert route.endpoint.operation == operation
        assert route.prefix == prefix.strip("/")
        assert route.namespace in ("", "ns") and route.name in ("", "t") and route.plan in ("", "p")


def test_all_endpoints_but_the_configuration_are_announced() -> None:
    assert "POST /v1/{prefix}/transactions/commit" in announced()
    assert len(announced()) == len(ENDPOINTS) - 1


def test_endpoints_for_plans_are_not_announced_where_the_library_is_missing() -> None:
    assert len(announced(planning=False)) == len(announced()) - len(PLANNING)
    assert not [each for each in announced(planning=False) if "plan" in each or "tasks" in each]


def test_a_read_only_server_plans_scans() -> None:
    assert all(ENDPOINTS[each].reads for each in PLANNING)


def test_an_encoded_slash_belongs_to_a_name() -> None:
    assert found("GET", "/v1/namespaces/a%2Fb/tables/c%2Fd")[2:4] == ("a/b", "c/d")


def test_the_levels_of_a_namespace_stay_joined() -> None:
    assert found("GET", "/v1/namespaces/a%1Fb").namespace == "a\x1fb"


def test_a_path_with_another_verb_names_the_verbs_it_has() -> None:
    assert find("PUT", "/v1/hive/namespaces") == frozenset({"GET", "POST"})


@pytest.mark.parametrize(
    "path",
    ["/", "/v1", "/v1/", "/v2/config", "/v1/x/config", "/v1/namespaces/", "/v1/namespaces//tables",
     "/v1/a/b/namespaces", "/v1/namespaces/n/tables/t/metrics/x", "/v1/tables/other", "/v1/hive"],
)  # fmt: skip
def test_other_paths_lead_nowhere(path: str) -> None:
    assert find("GET", path) is None
