"""Bodies, names and parameters of requests. Raises BadRequest with one sentence: what is wrong, where, and what works.

Sizes and depth are bounded before anything is used. Nothing here knows what a field means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs

import orjson

from metastored.hive.names import normalize
from metastored.iceberg.errors import BadRequest, NoSuchNamespace, NoSuchTable, NoSuchView
from metastored.iceberg.routes import Route
from metastored.model.iceberg.depth import is_deeper
from metastored.model.names import DatabaseName, TableName

__all__ = [
    "Json",
    "Page",
    "Request",
    "check_depth",
    "database_name",
    "distinct",
    "few_records",
    "identifier",
    "integer",
    "is_name",
    "new_name",
    "only_names",
    "optional",
    "page_of",
    "parsed",
    "records",
    "required",
    "shown",
    "texts",
]

Json = dict[str, Any]

MAX_DEPTH: Final = 128
"""Of nested objects and lists: deeper types are no table, and functions here call themselves for each level."""
MAX_PAGE: Final = 10_000
MAX_RECORDS: Final = 10_000
"""Entries of a list of objects, such as updates: some of them need time for each entry that is there already."""
SEPARATOR: Final = "\x1f"
"""Separates the levels of a namespace in a path."""
_NO_NAME: Final = re.compile("[\x00-\x1f\ud800-\udfff]")


class Request(NamedTuple):
    """What an operation reads of an HTTP request."""

    route: Route
    query: str = ""
    body: bytes = b""
    if_none_match: str = ""
    delegation: str = ""
    """The way to the files of tables that the client asks for and the server has: `vended-credentials`,
    `remote-signing`, or none."""

    def parameter(self, name: str) -> str | None:
        """The value of a parameter of the query; the last one where it is repeated."""
        return parse_qs(self.query, keep_blank_values=True).get(name, [None])[-1]

    def flag(self, name: str) -> bool:
        """Whether a parameter is true. Raises BadRequest for another word than true and false."""
        value = (self.parameter(name) or "false").lower()
        if value not in ("true", "false"):
            raise BadRequest(f"the parameter {name} is {value!r}: true or false was expected")
        return value == "true"

    def fields(self) -> Json:
        """The body, which has to be a JSON object."""
        return parsed(self.body, "the body")

    @property
    def database(self) -> DatabaseName:
        """The database that the namespace in the path names. Raises NoSuchNamespace if it has several levels."""
        levels = self.route.namespace.split(SEPARATOR)
        if len(levels) > 1:
            raise NoSuchNamespace(f"Namespace does not exist: {'.'.join(levels)}: a namespace has one level here")
        return database_name(self.route.prefix, levels)

    @property
    def table(self) -> TableName:
        """The table or view that the path names. Raises NoSuchTable if its namespace has several levels.

        Clients then look for a table of metadata, such as `files`, of the table that the last level names.
        """
        try:
            database = self.database
        except NoSuchNamespace as error:
            kind = NoSuchView if "view" in self.route.endpoint.operation else NoSuchTable
            raise kind(str(error)) from None
        return database.table(_name(self.route.name, "the name in the path"))


def parsed(data: bytes, what: str) -> Json:
    """A JSON object. Raises BadRequest for anything else, and for one that is nested too deeply."""
    try:
        content = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"{what} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise BadRequest(f"{what} is not a JSON object")
    check_depth(content, what)
    return content


def check_depth(value: Any, what: str) -> None:
    """Raises BadRequest if a value is nested too deeply."""
    if is_deeper(value, MAX_DEPTH):
        raise BadRequest(f"{what} has more than {MAX_DEPTH} levels of nested objects")


# --- names ----------------------------------------------------------------------------------------------------------


def _name(text: Any, what: str) -> str:
    """A name of one level. Raises BadRequest if no object can have it."""
    if not isinstance(text, str) or not text.strip():
        raise BadRequest(f"{what} is {text!r}: a name is a text that is not empty")
    if not is_name(text):
        raise BadRequest(f"{what} is {text!r}: a name has no control characters and is valid UTF-8")
    return normalize(text)


def is_name(text: str) -> bool:
    """Whether a request can name an object so: the text is not empty, valid UTF-8 and without control characters."""
    return not _NO_NAME.search(text) and bool(text.strip())


def only_names(texts: list[str]) -> list[str]:
    """Those of many texts that are names."""
    # One look at all of them tells whether they are: printable characters are neither surrogates nor controls.
    if "".join(texts).isprintable() and all(map(str.strip, texts)):
        return texts
    return [text for text in texts if is_name(text)]


def database_name(catalog: str, levels: Any) -> DatabaseName:
    """The database of a namespace, which has one level here. Raises BadRequest."""
    if not isinstance(levels, list) or not levels:
        raise BadRequest(f"the namespace is {levels!r}: it is a list with the name of a database")
    if len(levels) > 1:
        raise BadRequest(
            f"the namespace {'.'.join(map(str, levels))} has {len(levels)} levels: a namespace is a database of the "
            "metastore and has one"
        )
    name = _name(levels[0], "the namespace")
    return DatabaseName(normalize(catalog), name)


def identifier(catalog: str, value: Any, what: str) -> TableName:
    """The table or view of an identifier in a body. Raises BadRequest."""
    if not isinstance(value, dict):
        raise BadRequest(f"{what} is missing: it has a namespace and a name")
    return database_name(catalog, value.get("namespace")).table(_name(value.get("name"), f"{what}.name"))


def shown(value: Json) -> str:
    """An identifier as a client wrote it, for messages."""
    return ".".join(map(str, [*value["namespace"], value["name"]]))


def new_name(fields: Mapping[str, Any]) -> str:
    """The name of a new table or view. Raises BadRequest."""
    return _name(fields.get("name"), "name")


# --- fields ---------------------------------------------------------------------------------------------------------

_KINDS: Final = {str: "a text", int: "a whole number", dict: "an object", list: "a list", bool: "true or false"}


def required(fields: Mapping[str, Any], name: str, kind: type, what: str) -> Any:
    """A field of a kind. Raises BadRequest if it is missing or of another kind."""
    value = fields.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        shown = "missing" if value is None else f"{value!r}"[:100]
        raise BadRequest(f"{name} of {what} is {shown}: {_KINDS[kind]} was expected")
    return value


def optional(fields: Mapping[str, Any], name: str, kind: type, what: str) -> Any:
    """The same, or None."""
    return None if fields.get(name) is None else required(fields, name, kind, what)


def integer(fields: Mapping[str, Any], name: str, what: str) -> int:
    """A whole number. Raises BadRequest."""
    value: int = required(fields, name, int, what)
    return value


def texts(fields: Mapping[str, Any], name: str, what: str) -> dict[str, str]:
    """A map of texts; empty if it is missing. Raises BadRequest."""
    values = optional(fields, name, dict, what) or {}
    for key, value in values.items():
        if not isinstance(value, str):
            raise BadRequest(f"{name}[{key!r}] of {what} is {value!r}: a text was expected"[:300])
        if "\0" in key or "\0" in value:
            raise BadRequest(f"{name}[{key!r}] of {what} has a null character in it"[:300])
    return dict(values)


def records(fields: Mapping[str, Any], name: str, what: str) -> list[Json]:
    """A list of objects; empty if it is missing. Raises BadRequest."""
    items = optional(fields, name, list, what) or []
    for at, each in enumerate(items):
        if not isinstance(each, dict):
            raise BadRequest(f"{name}[{at}] of {what} is not an object")
    return list(items)


def few_records(fields: Mapping[str, Any], name: str, what: str, most: int = MAX_RECORDS) -> list[Json]:
    """The same for a list of changes. Raises BadRequest if it is too long."""
    items = records(fields, name, what)
    if len(items) > most:
        raise BadRequest(f"{name} of {what} has {len(items):,} entries: at most {most:,} are taken")
    return items


def distinct(fields: Mapping[str, Any], name: str, kind: type, what: str) -> frozenset[Any]:
    """The values of a list of texts or of whole numbers. Raises BadRequest if it is missing or has others."""
    items = required(fields, name, list, what)
    for each in items:
        if type(each) is not kind:
            raise BadRequest(f"{name} of {what} has {each!r} in it: {_KINDS[kind]} was expected"[:300])
    return frozenset(items)


# --- pages ----------------------------------------------------------------------------------------------------------


class Page(NamedTuple):
    """A part of a sorted list, and the token of the next one."""

    names: Sequence[str]
    token: str | None


def page_of(names: Sequence[str], request: Request) -> Page:
    """The page that a request names: all names unless it sends `pageToken`, which is empty for the first page.

    A token is the last name of the page before, so names that are added meanwhile do not shift the pages.
    """
    token, size = request.parameter("pageToken"), request.parameter("pageSize")
    if size is not None and not (size.isascii() and size.isdigit() and len(size) < 10 and int(size) > 0):
        raise BadRequest(f"pageSize is {size!r}: a number above 0 was expected")
    if token is None:
        return Page(names, None)
    most = min(int(size or MAX_PAGE), MAX_PAGE)
    rest = [name for name in names if name > token] if token else list(names)
    return Page(rest[:most], rest[most - 1] if len(rest) > most else None)
