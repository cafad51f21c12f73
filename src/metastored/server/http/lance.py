"""Lance's REST namespaces over HTTP: /lance/hive2 (database, table) and /lance/hive3 (catalog, database, table).

A request is served by a `LanceNamespace` of its own, whose client calls the server's handler in the session of the
request: with the caller, the privileges and the limits of every other call. The methods of namespaces block, on files
and on the handler; they run on threads of their own, never on the event loop or on the threads of the database, which
they wait for.

A caller who may change the rows of a table need not own it. So the alter_table that makes a new version of an `impl`
table is called in a session of the same user to which that table is entrusted, once the privileges were checked.
"""

from __future__ import annotations

import asyncio
from copy import copy
from functools import partial
from typing import Any, Final

from metastored.config import LANCE_PATH
from metastored.errors import StoreError
from metastored.hive.names import DEFAULT_CATALOG
from metastored.lance.conditions import CheckedTables
from metastored.lance.rest.operations import Body, Effect, Operation
from metastored.lance.rest.routes import Route, route
from metastored.model.names import TableName
from metastored.model.refusals import READ_ONLY
from metastored.server.auth.identity import Identities, Unauthorized
from metastored.server.http.in_process import WholeReplies
from metastored.server.http.thrift import Bodies, Headers, Refusal, RequestBody, ThriftOverHttp, respond
from metastored.server.thrift import Service
from metastored.threads import Pool
from metastored.wire.message import Session

THREADS: Final = 8
"""Operations that a worker runs at a time; others wait."""
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


class LanceOverHttp(ThriftOverHttp):
    """An ASGI application for all paths below /lance. It identifies callers as the paths of Thrift do."""

    def __init__(self, service: Service, identities: Identities, bodies: Bodies) -> None:
        super().__init__(service, identities, bodies)
        self._pool = Pool(THREADS, "metastored-lance")
        self._checked = CheckedTables()

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
        _refuse_browsers(headers)
        depth, found = _routed(scope)
        operation = found.operation
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
            work = partial(self._answer, depth, found, query, body.data, session, loop)
            status, data, kind = await self._pool.run(work)
        finally:
            body.forget()
        label = [] if kind is None else [(b"content-type", kind.encode())]
        await respond(send, status, data, [*label, *proof])

    def _answer(
        self, depth: int, found: Route, query: str, body: bytes, session: Session, loop: asyncio.AbstractEventLoop
    ) -> tuple[int, bytes, str | None]:
        """The response, made on a thread of the pool, which also imports what only a request needs."""
        from metastored.client._backend.threads import InProcess
        from metastored.client._sync.caller import Caller
        from metastored.client._sync.client import BATCH, TIMEOUT, Client
        from metastored.client.endpoints import Identity
        from metastored.client.retry import Retry
        from metastored.lance import Hive2Namespace, Hive3Namespace
        from metastored.lance.rest.requests import HttpRequest
        from metastored.lance.rest.rights import Rights
        from metastored.lance.rest.serving import serve

        settings = self._service.settings
        identity = Identity(session.user, session.groups)
        commits = copy(session)

        def client_in(session: Session) -> Client:
            inside = InProcess(WholeReplies(self._service), session.user, session, loop)
            return Client(Caller(None, inside, identity, TIMEOUT, Retry(), None), inside, identity, BATCH)

        def entrust(table: TableName) -> None:
            commits.entrusted = (table.catalog or DEFAULT_CATALOG, table.database, table.table)

        client = client_in(session)
        properties: dict[str, str] = {"managed_by": settings.lance_managed_by}
        if settings.lance_root is not None:
            properties["root"] = settings.lance_root
        kind = Hive2Namespace if depth == 2 else Hive3Namespace
        rights = Rights(
            client, kind.levels, settings.location_schemes, entrust, authorized=settings.authorization == "sql"
        )
        namespace = kind(client, self._checked, client_in(commits), **properties)
        return serve(namespace, HttpRequest(found, query, body), rights.check)


def _routed(scope: Any) -> tuple[int, Route]:
    """The namespace of a path, by the length of its ids, and the operation."""
    path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
    for prefix, depth in PREFIXES.items():
        if path.startswith(prefix + "/"):
            found = route(path.removeprefix(prefix))
            if found is not None:
                return depth, found
    known = " and ".join(f"{each}/v1/…" for each in PREFIXES)
    raise Refusal(406, f"there is no operation of Lance's REST namespace at this path; they are at {known}")


def _refuse_browsers(headers: dict[bytes, bytes]) -> None:
    """Raises Refusal for a page of another site: it could send requests without a body with a visitor's credentials."""
    if b"origin" in headers or headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
        raise Refusal(403, "requests of web pages are not served here")


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
