"""Lance's REST namespaces over HTTP: /lance/hive2 (database, table) and /lance/hive3 (catalog, database, table).

A request is served by a `LanceNamespace` in a worker process (`lance/rest/workers.py`), since a crash of native code
must not end the server. Its client calls the server's handler in the session of the request: with the caller, the
privileges and the limits of every other call. Each request has a thread here, which waits for its worker and makes its
calls.

The privileges are checked here, before a worker sees the request. A worker asks again before it opens the files of a
table: their location may be the word of a remote metastore.

A caller who may change the rows of a table need not own it. So the alter_table that makes a new version of an `impl`
table is called in a session of the same user to which that table is entrusted, once the privileges were checked.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from metastored.config import LANCE_PATH
from metastored.errors import StoreError
from metastored.hive.names import DEFAULT_CATALOG
from metastored.lance.rest.operations import Body, Effect, Operation
from metastored.lance.rest.routes import Route, route
from metastored.model.names import TableName
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
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS

if TYPE_CHECKING:
    from metastored.lance.rest.channel import Message
    from metastored.lance.rest.workers import Workers

T = TypeVar("T")

THREADS: Final = 8
"""Operations at a time, each in a process of its own; others wait."""
MAX_FIELDS: Final = 4 * 1024 * 1024
"""Bytes of a body in JSON."""
MAX_ROWS: Final = 128 * 1024 * 1024
"""Bytes of a body with rows."""
ARROW_STREAM: Final = "application/vnd.apache.arrow.stream"
JSON: Final = "application/json"
PREFIXES: Final = {f"{LANCE_PATH}/hive2": 2, f"{LANCE_PATH}/hive3": 3}
"""The paths of the namespaces, and the number of names that the id of a table has in each."""
CODES: Final = {401: 16, 403: 15, 406: 0, 429: 21, 503: 17}
"""The codes of errors for statuses of refusals; others are invalid input."""
INVALID_INPUT: Final = 13


class Found(NamedTuple):
    """The namespace of a path, by the length of its ids, the path in it, and its operation."""

    depth: int
    path: str
    route: Route


class LanceOverHttp(ThriftOverHttp):
    """An ASGI application for all paths below /lance. It identifies callers as the paths of Thrift do."""

    def __init__(self, service: Service, identities: Identities, bodies: Bodies) -> None:
        super().__init__(service, identities, bodies)
        self._pool = Pool(THREADS, "metastored-lance")
        self._workers: Workers | None = None
        self._lock = threading.Lock()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self._serve(scope, receive, send)
        except Refusal as refusal:
            await _refuse(send, refusal.status, refusal.line, refusal.headers)
        except Unauthorized as error:
            headers = [(b"www-authenticate", each.encode()) for each in error.challenges]
            if error.retry_after is not None:
                headers.append((b"retry-after", b"%d" % error.retry_after))
            await _refuse(send, error.status, str(error), headers)
        except StoreError as error:
            await _refuse(send, 503, str(error), [(b"retry-after", b"5")])

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        refuse_browsers(headers)
        routed = _routed(scope)
        operation = routed.route.operation
        if scope["method"] != operation.verb:
            raise Refusal(405, f"{scope['method']} is not for {operation.name}", [(b"allow", operation.verb.encode())])
        session, proof = await self._identified(scope, headers)
        if self._service.settings.read_only == "on" and operation.effect is not Effect.READ:
            raise Refusal(403, f"{READ_ONLY}, and {operation.name} would change it")
        _check_media_type(headers, operation)
        if self._service.state.replies.is_full:
            await self._service.state.replies.room(0)
        body = RequestBody(self._bodies, MAX_ROWS if operation.body is Body.ROWS else MAX_FIELDS)
        try:
            await body.receive(receive, headers)
            query = scope.get("query_string", b"").decode("latin-1")
            loop = asyncio.get_running_loop()
            work = partial(self._answer, routed, query, body.data, session, loop)
            status, data, kind = await self._pool.run(work)
        finally:
            body.forget()
        label = [] if kind is None else [(b"content-type", kind.encode())]
        await respond(send, status, data, [*label, *proof])

    def close(self) -> None:
        """Ends the worker processes."""
        if self._workers is not None:
            self._workers.close()
        self._pool.close()

    def _answer(
        self, routed: Found, query: str, body: bytes, session: Session, loop: asyncio.AbstractEventLoop
    ) -> tuple[int, bytes, str | None]:
        """The response, made on a thread of the pool, which also imports what only a request needs."""
        from metastored.client._backend.threads import InProcess
        from metastored.client._sync.caller import Caller
        from metastored.client._sync.client import TIMEOUT, Client
        from metastored.client._sync.metadata import BATCH
        from metastored.client.endpoints import Identity
        from metastored.client.retry import Retry
        from metastored.lance import Hive2Namespace, Hive3Namespace
        from metastored.lance.rest.requests import HttpRequest
        from metastored.lance.rest.rights import Rights
        from metastored.lance.rest.serving import refusal
        from metastored.lance.rest.workers import Request

        settings = self._service.settings
        identity = Identity(session.user, session.groups)
        commits = copy(session)

        def entrust(table: TableName) -> None:
            commits.entrusted = frozenset({(table.catalog or DEFAULT_CATALOG, table.database, table.table)})

        inside = InProcess(WholeReplies(self._service), session.user, session, loop)
        client = Client(Caller(None, inside, identity, TIMEOUT, Retry(), None), inside, identity, BATCH)
        properties: dict[str, str] = {"managed_by": settings.lance_managed_by}
        if settings.lance_root is not None:
            properties["root"] = settings.lance_root
        kind = Hive2Namespace if routed.depth == 2 else Hive3Namespace
        rights = Rights(
            client, kind.levels, settings.location_schemes, entrust, authorized=settings.authorization == "sql"
        )
        refused = refusal(kind, HttpRequest(routed.route, query, body), rights.check)
        if refused is not None:
            return refused
        operation = routed.route.operation
        reads = operation.effect is Effect.READ
        request = Request(session.user, session.groups, routed.depth, routed.path, query, body, properties, reads)
        questions = Questions(self._service, {"caller": session, "committer": commits}, loop)
        return self._started_workers().serve(request, questions.answer)

    def _started_workers(self) -> Workers:
        from metastored.lance.rest.workers import Workers

        settings = self._service.settings
        with self._lock:
            if self._workers is None:
                self._workers = Workers(THREADS, settings.lance_megabytes << 20, settings.lance_timeout)
            return self._workers


class Questions:
    """Answers what a worker asks while it serves a request. Everything that it sends may be wrong."""

    def __init__(self, service: Service, sessions: Mapping[str, Session], loop: asyncio.AbstractEventLoop) -> None:
        self._service = service
        self._sessions = sessions
        self._loop = loop

    def answer(self, message: Message) -> tuple[dict[str, Any], bytes]:
        """The answer. Raises ValueError for what is not a question."""
        fields = message.fields
        if message.kind == "call":
            session, method = self._sessions.get(str(fields.get("session"))), METHODS.get(str(fields.get("method")))
            if session is None or method is None:
                raise ValueError("a worker called no method")
            reply = self._run(WholeReplies(self._service).handle(Call(method, None, body=message.data), session))
            assert isinstance(reply.body, bytes)
            return {"kind": "reply", "type": reply.kind}, reply.body
        table, location = fields.get("table"), fields.get("location")
        if message.kind != "place" or not isinstance(location, str) or not isinstance(table, list) or len(table) != 3:
            raise ValueError("a worker asked something else")
        name = TableName(*map(str, table))
        opening = self._service.may_open(
            name, location, self._sessions["caller"], removes=fields.get("removes") is not False
        )
        return {"kind": "reply", "refusal": self._run(opening)}, b""

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _routed(scope: Any) -> Found:
    path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
    for prefix, depth in PREFIXES.items():
        if path.startswith(prefix + "/"):
            below = path.removeprefix(prefix)
            operation = route(below)
            if operation is not None:
                return Found(depth, below, operation)
    known = " and ".join(f"{each}/v1/…" for each in PREFIXES)
    raise Refusal(406, f"there is no operation of Lance's REST namespace at this path; they are at {known}")


def _check_media_type(headers: dict[bytes, bytes], operation: Operation) -> None:
    label = headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
    expected = ARROW_STREAM if operation.body is Body.ROWS else JSON
    if label != expected and (label or operation.body is Body.ROWS):
        raise Refusal(415, f"the content type of {operation.name} is {expected}, not {label!r}")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Refusal(415, "compressed requests are not supported: send the body without compression")


async def _refuse(send: Any, status: int, line: str, headers: Headers) -> None:
    """An error in the form of Lance's REST namespace, made without importing anything of Lance's."""
    import orjson

    body = orjson.dumps({"error": line, "code": CODES.get(status, INVALID_INPUT)})
    await respond(send, status, body, [(b"content-type", JSON.encode()), *headers])
