"""The options of commands that call a running server, and the client that they make."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from metastored.client._sync.client import Client

Uri = Annotated[str, typer.Option(metavar="URI", help="The address of the server: thrift://host:9083, https://…")]
User = Annotated[str | None, typer.Option(metavar="NAME", help="The user name.")]
Stdin = Annotated[bool, typer.Option("--password-stdin", help="Read that user's password from standard input.")]
Principal = Annotated[
    str | None,
    typer.Option("--kerberos", metavar="PRINCIPAL", help="Use Kerberos; the server's principal, as hive/_HOST@REALM."),
]


def connected(uri: str, user: str | None, password_stdin: bool, kerberos_principal: str | None) -> Client:
    """A client without a cache. The password is the first line of standard input."""
    from metastored.client._sync.client import connect
    from metastored.client.sasl import kerberos

    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
    sasl = None if kerberos_principal is None else kerberos(kerberos_principal)
    return connect(uri, user=user, password=password, sasl=sasl, cache=False)
