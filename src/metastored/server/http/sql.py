"""Metastored's statements over HTTP: POST /sql, with the caller, the rules and the limits of every other call.

    POST /sql?database=sales        Content-Type: application/sql    SHOW REMOTES
    POST /sql                       Content-Type: application/json   {"statement": "SHOW TABLES", "database": "sales"}

The reply is JSON: `columns` and `rows` of the last statement, and the current `database` after it; or an `error`. A
statement becomes calls of the handler that the Thrift port has, in the session of this request.
"""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs

import orjson

from metastored.client._async.caller import AsyncCaller
from metastored.client._async.client import TIMEOUT, AsyncClient
from metastored.client._async.metadata import BATCH
from metastored.client._async.statements import AsyncStatements
from metastored.client._backend.aio import InProcess
from metastored.client.endpoints import Identity
from metastored.client.retry import Retry
from metastored.client.statements.values import Result
from metastored.errors import (
    Error,
    ErrorKind,
    InvalidOperationException,
    RateLimited,
    StatementError,
    StoreError,
    kind_of,
)
from metastored.server.http.in_process import WholeReplies
from metastored.server.http.thrift import Refusal, RequestBody, ThriftOverHttp, respond
from metastored.statements.parsing import parse_script
from metastored.wire.message import Session

MAX_STATEMENTS: Final = 64 * 1024
"""Bytes of a request: to parse short statements takes ten seconds per megabyte."""
JSON: Final = "application/json"
SQL: Final = "application/sql"
STATUSES: Final = {
    ErrorKind.NOT_FOUND: HTTPStatus.NOT_FOUND,
    ErrorKind.ALREADY_EXISTS: HTTPStatus.CONFLICT,
    ErrorKind.NOT_SUPPORTED: HTTPStatus.NOT_IMPLEMENTED,
    ErrorKind.REFUSED: HTTPStatus.FORBIDDEN,
    ErrorKind.INVALID_ARGUMENT: HTTPStatus.BAD_REQUEST,
    ErrorKind.EXTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
}


class SqlOverHttp(ThriftOverHttp):
    """An ASGI application for one path. It identifies callers and refuses requests as the paths of Thrift do."""

    max_body = MAX_STATEMENTS

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            raise Refusal(405, f"{scope['method']} is not for this path: POST statements", [(b"allow", b"POST")])
        headers: dict[bytes, bytes] = dict(scope["headers"])
        session, proof = await self._identified(scope, headers)
        label = _media_type(headers)
        body = RequestBody(self._bodies, self.max_body)
        try:
            await body.receive(receive, headers)
            text, database = _request(body.data, label, scope.get("query_string", b""))
        finally:
            body.forget()
        status, reply = await self._executed(text, database, session)
        data = orjson.dumps(reply)
        await respond(send, status, data, [(b"content-type", JSON.encode()), *proof])

    async def _executed(self, text: str, database: str, session: Session) -> tuple[int, dict[str, Any]]:
        inside = InProcess(WholeReplies(self._service), session.user, session)
        identity = Identity(session.user, session.groups)
        caller = AsyncCaller(None, inside, identity, TIMEOUT, Retry(), None)
        number, result = 0, Result()
        try:
            statements = AsyncStatements(AsyncClient(caller, inside, identity, BATCH), database)
            # The first one of a process compiles the grammar: not on the loop.
            parsed = await self._service.pool.run(partial(parse_script, text))
            for statement in parsed:
                number += 1
                result = await statements.execute(statement)
        except Error as error:
            return _status(error), {"error": _described(error, number)}
        rows = [list(row) for row in result.rows]
        return 200, {"columns": list(result.columns), "rows": rows, "database": str(statements.current)}


def _media_type(headers: dict[bytes, bytes]) -> str:
    """Others are refused, and so is none: a page of another site could send those with a visitor's credentials."""
    label = headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
    if label not in (JSON, SQL):
        problem = f"the content type is {label!r}" if label else "the request has no content type"
        raise Refusal(415, f"{problem}: use {SQL} or {JSON}")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Refusal(415, "compressed requests are not supported: send the body without compression")
    return label


def _request(body: bytes, label: str, query: bytes) -> tuple[str, str]:
    """The statements and the database that is current at first. Raises Refusal."""
    given = parse_qs(query.decode("latin-1"), keep_blank_values=True)
    unknown = [name for name in given if name != "database"]
    if unknown:
        raise Refusal(400, f"the parameter {unknown[0]!r} is unknown: the only one is database=")
    database = given.get("database", ["default"])[0]
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(400, "the body is not UTF-8") from None
    if label == JSON:
        try:
            fields = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise Refusal(400, f"the body is not JSON: {error}") from None
        if not isinstance(fields, dict) or not {"statement"} <= fields.keys() <= {"statement", "database"}:
            raise Refusal(400, 'the body must be an object with "statement", and may have "database"')
        text, database = fields["statement"], fields.get("database", database)
        if not isinstance(text, str) or not isinstance(database, str):
            raise Refusal(400, '"statement" and "database" must be texts')
    if not database:
        raise Refusal(400, "the name of the database is empty")
    return text, database


def _status(error: Error) -> int:
    if isinstance(error, RateLimited):
        return HTTPStatus.TOO_MANY_REQUESTS
    if isinstance(error, StoreError):
        return HTTPStatus.SERVICE_UNAVAILABLE
    if isinstance(error, InvalidOperationException):
        return HTTPStatus.BAD_REQUEST
    return STATUSES[kind_of(error)]


def _described(error: Error, number: int) -> dict[str, Any]:
    """What a client needs to know of an error; `statement` is the number of the one that failed, from 1."""
    described: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, StatementError):
        described |= {"line": error.line, "column": error.column, "expected": list(error.expected)}
    elif number:
        described["statement"] = number
    return described
