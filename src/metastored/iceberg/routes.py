"""The endpoints of Iceberg's REST catalog, and the operation of a path. Pure.

A path begins with the name of a catalog of the metastore, its prefix, or has none: then it is the default catalog. A
catalog that has the name of an endpoint, such as `namespaces`, can therefore not be a prefix.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import unquote

__all__ = ["ENDPOINTS", "PLANNING", "ROUTES", "SIGNING", "Endpoint", "Route", "announced", "find"]

VERSION: Final = "v1"
PREFIX: Final = "{prefix}"


class Endpoint(NamedTuple):
    """One row of the specification's table of endpoints."""

    verb: str
    path: str
    operation: str
    reads: bool = False
    """Whether a read-only server serves it."""


_ALL: Final = (
    Endpoint("GET", "/v1/config", "config", True),
    Endpoint("GET", "/v1/{prefix}/namespaces", "list_namespaces", True),
    Endpoint("POST", "/v1/{prefix}/namespaces", "create_namespace"),
    Endpoint("GET", "/v1/{prefix}/namespaces/{namespace}", "load_namespace", True),
    Endpoint("HEAD", "/v1/{prefix}/namespaces/{namespace}", "namespace_exists", True),
    Endpoint("DELETE", "/v1/{prefix}/namespaces/{namespace}", "drop_namespace"),
    Endpoint("POST", "/v1/{prefix}/namespaces/{namespace}/properties", "update_namespace"),
    Endpoint("GET", "/v1/{prefix}/namespaces/{namespace}/tables", "list_tables", True),
    Endpoint("POST", "/v1/{prefix}/namespaces/{namespace}/tables", "create_table"),
    Endpoint("GET", "/v1/{prefix}/namespaces/{namespace}/tables/{table}", "load_table", True),
    Endpoint("HEAD", "/v1/{prefix}/namespaces/{namespace}/tables/{table}", "table_exists", True),
    Endpoint("POST", "/v1/{prefix}/namespaces/{namespace}/tables/{table}", "commit_table"),
    Endpoint("DELETE", "/v1/{prefix}/namespaces/{namespace}/tables/{table}", "drop_table"),
    Endpoint("GET", "/v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials", "load_credentials", True),
    Endpoint("POST", "/v1/{prefix}/namespaces/{namespace}/register", "register_table"),
    Endpoint("POST", "/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics", "report_metrics", True),
    Endpoint("POST", "/v1/{prefix}/namespaces/{namespace}/tables/{table}/plan", "plan_table_scan", True),
    Endpoint("GET", "/v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}", "fetch_planning_result", True),
    Endpoint("DELETE", "/v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}", "cancel_planning", True),
    Endpoint("POST", "/v1/{prefix}/namespaces/{namespace}/tables/{table}/tasks", "fetch_scan_tasks", True),
    Endpoint("POST", "/v1/{prefix}/namespaces/{namespace}/tables/{table}/sign", "sign_request", True),
    Endpoint("POST", "/v1/{prefix}/tables/rename", "rename_table"),
    Endpoint("POST", "/v1/{prefix}/transactions/commit", "commit_transaction"),
    Endpoint("GET", "/v1/{prefix}/namespaces/{namespace}/views", "list_views", True),
    Endpoint("POST", "/v1/{prefix}/namespaces/{namespace}/views", "create_view"),
    Endpoint("GET", "/v1/{prefix}/namespaces/{namespace}/views/{view}", "load_view", True),
    Endpoint("HEAD", "/v1/{prefix}/namespaces/{namespace}/views/{view}", "view_exists", True),
    Endpoint("POST", "/v1/{prefix}/namespaces/{namespace}/views/{view}", "replace_view"),
    Endpoint("DELETE", "/v1/{prefix}/namespaces/{namespace}/views/{view}", "drop_view"),
    Endpoint("POST", "/v1/{prefix}/views/rename", "rename_view"),
)
PLANNING: Final = frozenset({"plan_table_scan", "fetch_planning_result", "cancel_planning", "fetch_scan_tasks"})
"""The operations that need an optional dependency."""
SIGNING: Final = frozenset({"sign_request"})
"""The operation that a setting turns on."""
ENDPOINTS: Final = {endpoint.operation: endpoint for endpoint in _ALL}
"""The endpoints by the names of their operations."""


class Route(NamedTuple):
    """The endpoint of a request, and the names in its path, decoded."""

    endpoint: Endpoint
    prefix: str = ""
    """The catalog; the empty text where the path has none."""
    namespace: str = ""
    """With its levels still joined."""
    name: str = ""
    """Of the table or view."""
    plan: str = ""
    """The id of a plan."""


def _words(path: str) -> tuple[str, ...]:
    """The fixed words of a path after `/v1` and the prefix; a name is the empty word."""
    return tuple("" if word.startswith("{") else word for word in path.split("/")[2:] if word != PREFIX)


ROUTES: Final = {(each.verb, _words(each.path)): each for each in _ALL}
_SHAPES: Final = frozenset(words for _, words in ROUTES)
_FIRST: Final = frozenset(words[0] for words in _SHAPES)


def announced(*, planning: bool = True, signing: bool = True) -> list[str]:
    """The endpoints as `/v1/config` lists them; without `planning` those for plans of scans are left out, and without
    `signing` the one that signs requests."""
    hidden = {"config"} | (set() if planning else PLANNING) | (set() if signing else SIGNING)
    return [f"{each.verb} {each.path}" for each in _ALL if each.operation not in hidden]


def find(verb: str, raw_path: str) -> Route | frozenset[str] | None:
    """The route of a path that is still percent-encoded; the verbs of the path if it has others; None if nothing has
    this path.

    Words are decoded after the path was split, so that an encoded slash belongs to a name.
    """
    words = [unquote(word, errors="surrogateescape") for word in raw_path.split("/")[1:]]
    if len(words) < 2 or words[0] != VERSION or not all(words):
        return None
    rest, prefix = words[1:], ""
    if rest[0] not in _FIRST and len(rest) > 1:
        prefix, rest = rest[0], rest[1:]
    shape = tuple(word if at % 2 == 0 or (at == 1 and _is_fixed(rest)) else "" for at, word in enumerate(rest))
    if shape not in _SHAPES or (shape == ("config",) and prefix):
        return None
    endpoint = ROUTES.get((verb, shape))
    if endpoint is None:
        return frozenset(each for each, words in ROUTES if words == shape)
    names = [word for word, fixed in zip(rest, shape, strict=True) if not fixed]
    return Route(endpoint, prefix, *names)


def _is_fixed(words: list[str]) -> bool:
    """Whether the second word is part of the endpoint, as in `tables/rename`."""
    return (words[0], words[1]) in (("tables", "rename"), ("views", "rename"), ("transactions", "commit"))
