"""Iceberg's REST catalog over HTTP: /iceberg, with the caller, the rules and the limits of every other call.

A request is served on a thread of its own. It calls the server's handler in the session of the request, and reads and
writes metadata files by the warehouse's file systems. Loads of a table that has not changed, and lists of the same
names, need no thread: `iceberg/repeated_loads.py` and `iceberg/repeated_lists.py` have the responses. What a commit
reads first is read before its thread begins. Errors have the specification's form.

Tokens are not issued here: clients send the credentials that all other paths take.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from metastored.config import ICEBERG_PATH
from metastored.errors import StoreError
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_CATALOG
from metastored.iceberg.errors import body_of
from metastored.iceberg.routes import PLANNING, Route, find
from metastored.iceberg.s3.signer import DELEGATION as REMOTE_SIGNING
from metastored.iceberg.s3.signer import Signer, TableSigner
from metastored.iceberg.s3.vending import DELEGATION, Vended, Vendor, client_properties
from metastored.model.names import DatabaseName, TableName
from metastored.model.refusals import READ_ONLY
from metastored.server.auth.identity import Identities, Unauthorized
from metastored.server.http.in_process import WholeReplies
from metastored.server.http.thrift import (
    Bodies,
    Headers,
    Refusal,
    RequestBody,
    ThriftOverHttp,
    refuse_browsers,
    respond,
)
from metastored.server.thrift import Service
from metastored.threads import Pool
from metastored.wire.message import Call, Reply, Session

if TYPE_CHECKING:
    from metastored.iceberg.files import MetadataFiles
    from metastored.iceberg.repeated_lists import RepeatedLists
    from metastored.iceberg.repeated_loads import RepeatedLoads
    from metastored.iceberg.serving import Response


class Known(NamedTuple):
    """What was read for a request on the event loop."""

    calls: Sequence[tuple[Call, Reply]] = ()
    """Calls of the metastore, and their replies."""
    local: TableName | None = None
    """A table that is not of a remote."""


NOTHING: Final = Known()
THREADS: Final = 16
"""Requests that are served at a time in a worker, of those that read and of those that change something; others wait.
Commits wait for each other, and reads never for a commit."""
PLANNERS: Final = 4
"""Plans of scans that are made at a time in a worker: each may compute for seconds, and nothing else waits for them."""
MAX_BODY: Final = 16 * 1024 * 1024
"""Bytes of a request."""
JSON: Final = "application/json"
TOKENS: Final = "/v1/oauth/tokens"
NO_TOKENS: Final = (
    "this server issues no tokens: configure the client with a token of your identity provider (token=…), or with "
    "another Authorization (header.Authorization=Basic …)"
)
NO_TOKEN: Final = (b"bearer", b"bearer none", b"bearer null")
"""What clients without a token send: pyiceberg writes its None. No token is any of these words."""
KINDS: Final = {
    401: "NotAuthorizedException",
    403: "ForbiddenException",
    404: "NotFoundException",
    405: "UnsupportedOperationException",
    429: "TooManyRequestsException",
    503: "ServiceUnavailableException",
}
"""The types of errors for statuses of refusals; others are bad requests."""
DELEGATION_HEADER: Final = b"x-iceberg-access-delegation"
WRITES: Final = ("insert", "update", "delete")
"""The privileges, all of them, of a caller who may write files: whoever can write a file can replace any other."""
COLUMN_CHECK: Final = "metastore.disallow.incompatible.col.type.changes"
"""The setting of a session by which Hive refuses to rename or reorder columns: Iceberg's have ids."""


class Asked(NamedTuple):
    """The fields of `iceberg.requests.Request`, whose module is imported with the first request only."""

    route: Route
    query: str
    body: bytes
    tag: str
    delegation: str


class IcebergOverHttp(ThriftOverHttp):
    """An ASGI application for all paths below /iceberg. It identifies callers as the paths of Thrift do."""

    max_body = MAX_BODY

    def __init__(self, service: Service, identities: Identities, bodies: Bodies) -> None:
        super().__init__(service, identities, bodies)
        self._readers = Pool(THREADS, "metastored-iceberg")
        self._writers = Pool(THREADS, "metastored-iceberg-commits")
        self._planners = Pool(PLANNERS, "metastored-iceberg-plans")
        self._files: MetadataFiles | None = None
        self._loads: RepeatedLoads | None = None
        self._lists: RepeatedLists | None = None
        self._shorter = {
            "load_table": self._load,
            "commit_table": self._commit,
            "list_tables": self._list,
            "list_views": self._list,
        }
        self._vendor = _vendor(service)
        self._signer = _signer(service, self._vendor)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answer = partial(_refuse, send, scope["method"] == "HEAD")
        try:
            await self._serve(scope, receive, send)
        except Refusal as refusal:
            await answer(refusal.status, refusal.line, refusal.headers)
        except Unauthorized as error:
            headers = [(b"www-authenticate", each.encode()) for each in error.challenges]
            if error.retry_after is not None:
                headers.append((b"retry-after", b"%d" % error.retry_after))
            await answer(error.status, str(error), headers)
        except StoreError as error:
            await answer(503, str(error), [(b"retry-after", b"5")])

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        refuse_browsers(headers)
        path = _path(scope)
        if path == TOKENS:
            refusal = {"error": "unsupported_grant_type", "error_description": NO_TOKENS}
            await respond(send, 400, orjson.dumps(refusal), [(b"content-type", JSON.encode())])
            return
        route = _routed(scope["method"], path)
        session, proof = await self._identified(scope, headers)
        if self._service.settings.read_only == "on" and not route.endpoint.reads:
            raise Refusal(403, f"{READ_ONLY}, and {route.endpoint.operation} would change it")
        _check_media_type(headers)
        if self._service.state.replies.is_full:
            await self._service.state.replies.room(0)
        body_of_request = RequestBody(self._bodies, self.max_body)
        try:
            await body_of_request.receive(receive, headers)
            query, tag = scope.get("query_string", b"").decode("latin-1"), headers.get(b"if-none-match", b"")
            asked = Asked(route, query, body_of_request.data, tag.decode("latin-1"), self._delegation(headers))
            # The first request of all imports on its thread what the shorter ways need.
            way = self._shorter.get(route.endpoint.operation) if self._files is not None else None
            response = await (way or self._on_thread)(asked, session)
        finally:
            body_of_request.forget()
        labels = [(b"content-type", JSON.encode())] if response.body else []
        if response.etag is not None:
            labels.append((b"etag", response.etag.encode("latin-1", "replace")))
        body = b"" if scope["method"] == "HEAD" else response.body
        await respond(send, response.status, body, [*labels, *proof])

    async def _identify(self, scope: Any, headers: dict[bytes, bytes], session: Session) -> Headers:
        if headers.get(b"authorization", b"").strip().lower() in NO_TOKEN:
            headers = {name: value for name, value in headers.items() if name != b"authorization"}
        return await super()._identify(scope, headers, session)

    def _delegation(self, headers: dict[bytes, bytes]) -> str:
        """Of the ways to the files of tables that a client accepts, the one that the server has, if it has any.

        Keys come first: signatures need a request here for each request to S3.
        """
        accepted = headers.get(DELEGATION_HEADER, b"").decode("latin-1").lower().split(",")
        served = {DELEGATION: self._vendor is not None, REMOTE_SIGNING: self._signer is not None}
        words = {word.strip() for word in accepted}
        return next((word for word, is_served in served.items() if is_served and word in words), "")

    def close(self) -> None:
        """Ends the threads."""
        self._readers.close()
        self._writers.close()
        self._planners.close()

    async def _on_thread(self, asked: Asked, session: Session, known: Known = NOTHING) -> Response:
        endpoint = asked.route.endpoint
        pool = self._readers if endpoint.reads else self._writers
        if endpoint.operation in PLANNING:
            pool = self._planners
        return await pool.run(partial(self._answer, asked, session, asyncio.get_running_loop(), known))

    async def _load(self, asked: Asked, session: Session) -> Response:
        """The response to a load. A thread is used for the first load of a row, for delegated access and for errors."""
        from metastored.iceberg.repeated_loads import LoadLookup, RepeatedLoads
        from metastored.iceberg.requests import Request
        from metastored.iceberg.serving import Response

        lookup = LoadLookup.of(Request(*asked))
        if lookup is None:
            return await self._on_thread(asked, session)
        if self._loads is None:
            self._loads = RepeatedLoads()
        rules, call = self._service.file_rules, lookup.call
        assert rules is not None
        reply = await WholeReplies(self._service).handle(call, session)
        cached = self._loads.get(lookup, reply)
        if cached is not None:
            if cached.response.etag is not None and cached.response.etag in asked.tag:
                return Response(304)
            if await rules.file_refusal(lookup.name, cached.location, cached.file, session) is None:
                return cached.response
        response = await self._on_thread(asked, session, Known([(call, reply)]))
        self._loads.put(lookup, reply, response)
        return response

    async def _commit(self, asked: Asked, session: Session) -> Response:
        """The response to a commit, whose thread begins with the row of the table."""
        from metastored.iceberg.repeated_loads import LoadLookup
        from metastored.iceberg.requests import Request

        # Replies to commits have no credentials, whatever the client accepts.
        lookup, rules = LoadLookup.of(Request(*asked._replace(delegation=""))), self._service.file_rules
        assert rules is not None
        if lookup is None or await rules.is_remote(lookup.name):
            return await self._on_thread(asked, session)
        reply = await WholeReplies(self._service).handle(lookup.call, session)
        return await self._on_thread(asked, session, Known([(lookup.call, reply)], lookup.name))

    async def _list(self, asked: Asked, session: Session) -> Response:
        """The response to a list. A thread is used for the first list of the same names, and for errors."""
        from metastored.iceberg.repeated_lists import ListLookup, RepeatedLists
        from metastored.iceberg.requests import Request

        lookup, rules = ListLookup.of(Request(*asked)), self._service.file_rules
        assert rules is not None
        if lookup is None or await rules.remote_tables(lookup.database):
            return await self._on_thread(asked, session)
        if self._lists is None:
            self._lists = RepeatedLists()
        handler, known = WholeReplies(self._service), list[tuple[Call, Reply]]()
        for call in lookup.calls:
            reply = await handler.handle(call, session)
            known.append((call, reply))
            if reply.error is not None:
                return await self._on_thread(asked, session, Known(known))
        replies = [reply for _, reply in known]
        cached = self._lists.get(lookup, replies)
        if cached is not None:
            return cached
        response = await self._on_thread(asked, session, Known(known))
        self._lists.put(lookup, replies, response)
        return response

    def _answer(self, asked: Asked, session: Session, loop: asyncio.AbstractEventLoop, known: Known) -> Response:
        """The response, made on a thread of the pool, which also imports what only a request needs."""
        from metastored.client._sync.caller import Caller as ApiCaller
        from metastored.client._sync.client import TIMEOUT, Client
        from metastored.client._sync.metadata import BATCH
        from metastored.client.endpoints import Identity
        from metastored.client.retry import Retry
        from metastored.iceberg.catalog import Caller, Catalog
        from metastored.iceberg.files import MetadataFiles
        from metastored.iceberg.requests import Request
        from metastored.iceberg.serving import serve
        from metastored.server.http.prefetched import Prefetched

        service, rules, access = self._service, self._service.file_rules, self._service.files
        assert rules is not None and access is not None
        if self._files is None:
            self._files = MetadataFiles(access)
        session.conf[COLUMN_CHECK] = "false"
        commits = copy(session)
        commits.generation = commits.accepts = Generation.HIVE_4_2
        identity = Identity(session.user, session.groups)
        handler, local = WholeReplies(service), known.local
        inside = Prefetched(handler, session, loop, known.calls)

        def client(inside: Prefetched) -> Client:
            return Client(ApiCaller(None, inside, identity, TIMEOUT, Retry(), None), inside, identity, BATCH)

        def entrust(tables: Iterable[TableName]) -> None:
            commits.entrusted = frozenset(
                (table.catalog or DEFAULT_CATALOG, table.database, table.table) for table in tables
            )

        def file_refusal(name: TableName, location: str, file: str) -> str | None:
            if name == local and rules.is_inside(location, file):
                return None
            check = rules.file_refusal(name, location, file, session)
            return asyncio.run_coroutine_threadsafe(check, loop).result()

        def is_remote(name: TableName) -> bool:
            return name != local and asyncio.run_coroutine_threadsafe(rules.is_remote(name), loop).result()

        def remote_tables(database: DatabaseName) -> tuple[str, ...]:
            return asyncio.run_coroutine_threadsafe(rules.remote_tables(database), loop).result()

        def may(name: TableName, privileges: tuple[str, ...]) -> bool:
            return asyncio.run_coroutine_threadsafe(rules.may(name, privileges, session), loop).result()

        def writes(name: TableName, new: bool) -> bool | None:
            """Whether the caller may write the files of a table; None if the caller may not even read them."""
            if is_remote(name) or not (new or may(name, ("select",))):
                return None
            return service.settings.read_only != "on" and (new or may(name, WRITES))

        def is_alone(name: TableName, location: str) -> bool:
            return not asyncio.run_coroutine_threadsafe(rules.is_shared(name, location), loop).result()

        def vend(name: TableName, location: str, new: bool) -> Vended | None:
            if self._vendor is None or session.user is None or (allowed := writes(name, new)) is None:
                return None
            alone = partial(is_alone, name, location)
            return self._vendor.credentials(session.user, location, alone, writes=allowed)

        def signer(name: TableName, location: str, new: bool) -> TableSigner | None:
            if self._signer is None or session.user is None or (allowed := writes(name, new)) is None:
                return None
            alone = partial(is_alone, name, location)
            return self._signer.of_table(session.user, location, alone, writes=allowed)

        def forget() -> None:
            nonlocal local
            local = None
            inside.forget()

        authorized = service.settings.authorization == "sql"
        caller = Caller(
            client(inside),
            client(Prefetched(handler, commits, loop)),
            entrust,
            file_refusal,
            is_remote,
            session.user,
            authorized,
            vend,
            remote_tables,
            forget,
            service.settings.remotes_partial == "on",
            self._signer is not None,
            signer,
        )
        return serve(Catalog(caller, self._files), Request(*asked))


def _path(scope: Any) -> str:
    """The path below /iceberg, still percent-encoded."""
    path: str = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
    return path.removeprefix(ICEBERG_PATH)


def _routed(verb: str, path: str) -> Route:
    route = find(verb, path)
    if route is None:
        raise Refusal(404, f"Iceberg's REST catalog has nothing at this path; GET {ICEBERG_PATH}/v1/config lists paths")
    if not isinstance(route, Route):
        allowed = ", ".join(sorted(route))
        raise Refusal(405, f"{verb} is not for this path: {allowed}", [(b"allow", allowed.encode())])
    return route


def _vendor(service: Service) -> Vendor | None:
    """What makes credentials for clients. Raises MissingExtra if it is not installed."""
    role = service.settings.iceberg_role
    if role is None or service.files is None:
        return None
    return Vendor(role, service.settings.iceberg_role_seconds, service.files.root, client_properties())


def _signer(service: Service, vendor: Vendor | None) -> Signer | None:
    """What signs requests for clients. Raises MissingExtra if it is not installed."""
    if service.settings.iceberg_signing == "off" or service.files is None:
        return None
    return Signer(service.files.root, vendor)


def _check_media_type(headers: dict[bytes, bytes]) -> None:
    label = headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
    if label not in ("", JSON):
        raise Refusal(415, f"the content type of requests is {JSON}, not {label!r}")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Refusal(415, "compressed requests are not supported: send the body without compression")


async def _refuse(send: Any, is_head: bool, status: int, line: str, headers: Headers) -> None:
    body = b"" if is_head else orjson.dumps(body_of(status, KINDS.get(status, "BadRequestException"), line))
    await respond(send, status, body, [(b"content-type", JSON.encode()), *headers])
