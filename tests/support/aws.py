"""A server that speaks as much of AWS's protocols as a test scripts: calls of Glue (JSON) and STS's AssumeRole (XML).

moto has neither statistics of columns nor credentials that expire. This one returns what a test gives it, and records
the access key that each call was signed with.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GlueCall = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]
"""From the name of an operation and its arguments to a status and a document."""

ROLE = """<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>{key}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>token</SessionToken>
<Expiration>{until}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"""
REFUSED = """<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not yours</Message></Error>
</ErrorResponse>"""


class Aws:
    """`lifetimes` has the seconds for which the credentials of each AssumeRole are valid; without one it is refused."""

    def __init__(self, glue: GlueCall, lifetimes: list[float]) -> None:
        self.glue = glue
        self.lifetimes = lifetimes
        self.assumed = 0
        self.calls: list[tuple[str, str, dict[str, Any]]] = []
        """The access key, the operation and the arguments of each call of Glue."""
        self.url = ""
        self._lock = threading.Lock()

    def answer(self, headers: Any, body: bytes) -> tuple[int, str, bytes]:
        found = re.search(r"Credential=([^/]+)/", headers.get("Authorization", ""))
        key = found[1] if found else ""
        target = headers.get("X-Amz-Target")
        with self._lock:
            if target is None:
                return self._role()
            operation, arguments = target.rpartition(".")[2], json.loads(body)
            self.calls.append((key, operation, arguments))
            status, document = self.glue(operation, arguments)
        return status, "application/x-amz-json-1.1", json.dumps(document).encode()

    def _role(self) -> tuple[int, str, bytes]:
        if not self.lifetimes:
            return 403, "text/xml", REFUSED.encode()
        self.assumed += 1
        until = datetime.now(UTC) + timedelta(seconds=self.lifetimes.pop(0))
        text = ROLE.format(key=f"ROLEKEY{self.assumed}", until=until.strftime("%Y-%m-%dT%H:%M:%SZ"))
        return 200, "text/xml", text.encode()


@contextmanager
def aws(glue: GlueCall, lifetimes: list[float] | None = None) -> Iterator[Aws]:
    """A running server."""
    found = Aws(glue, lifetimes or [])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, kind, content = found.answer(self.headers, body)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
