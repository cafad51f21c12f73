"""Lance's REST namespace for tests: a namespace behind metastored's adapter, on a plain HTTP server."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
from lance_namespace import LanceNamespace

from metastored.lance.rest.requests import HttpRequest, Parsed
from metastored.lance.rest.routes import route
from metastored.lance.rest.serving import serve


@contextmanager
def served(namespace: LanceNamespace, allow: Callable[[Parsed], None] | None = None) -> Iterator[str]:
    """The address of a REST namespace over this namespace."""

    class Requests(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            found = route(path)
            assert found is not None, path
            assert found.operation.verb == self.command
            reply = serve(namespace, HttpRequest(found, query, body), allow)
            self.send_response(reply.status)
            if reply.content_type is not None:
                self.send_header("content-type", reply.content_type)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = _answer

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ipc(table: pa.Table) -> bytes:
    """An Arrow IPC stream, as create_table and insert_into_table take it."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def rows(data: bytes) -> pa.Table:
    """The rows of a reply to query_table: an Arrow IPC file."""
    return pa.ipc.open_file(data).read_all()
