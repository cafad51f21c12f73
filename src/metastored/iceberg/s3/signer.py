"""Signs requests to S3 for clients that have no keys: signature version 4, by botocore.

The requests were checked by `requests.py`. They are signed with the keys of the role of `iceberg_role`, which S3
itself limits to the directory of the table, or with those of the server's environment where no role is set: a store
without STS needs nothing more. A client gets a signature, which S3 accepts for fifteen minutes, and the name of the
key; it never gets the secret. Whether a caller may read or write the table is decided by `server/http/iceberg.py`.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from metastored.errors import MissingExtra
from metastored.iceberg.errors import Unavailable
from metastored.iceberg.s3.addresses import Store
from metastored.iceberg.s3.vending import (
    S3Directory,
    Vendor,
    below,
    client_properties,
    region_of,
    s3_directory,
)

if TYPE_CHECKING:
    from metastored.iceberg.s3.requests import S3Request

__all__ = ["DELEGATION", "Signer", "SigningKeys", "TableSigner", "check_installed", "keys_of_environment", "signature"]

log = logging.getLogger("metastored.iceberg")

DELEGATION: Final = "remote-signing"
"""The word in the header X-Iceberg-Access-Delegation by which a client asks for a signer."""


class SigningKeys(NamedTuple):
    """What requests are signed with."""

    id: str
    secret: str
    token: str | None


class TableSigner(NamedTuple):
    """Signs requests of one caller for the files of one table."""

    store: Store
    directory: S3Directory
    writes: bool
    """Whether the caller may write the files."""
    client: Mapping[str, str]
    """Properties for clients: the region and the address of the store."""
    keys: Callable[[], SigningKeys]

    def sign(self, request: S3Request) -> dict[str, list[str]]:
        """The headers that the client adds to its request. Raises Unavailable if there are no keys."""
        return signature(request, self.keys())


class Signer:
    """Makes signers of tables. Threads share it."""

    def __init__(
        self,
        warehouse: str,
        vendor: Vendor | None,
        environment: Mapping[str, str] = os.environ,
        keys: Callable[[], SigningKeys] | None = None,
    ) -> None:
        """With a `vendor` its keys are used, and else those of the environment. Raises MissingExtra."""
        check_installed()
        self._warehouse: Final = s3_directory(warehouse.rstrip("/") + "/")
        self._vendor: Final = vendor
        self._store: Final = Store.of(environment)
        self._client: Final = client_properties(environment)
        self._keys: Final = keys or keys_of_environment()

    def of_table(self, user: str, location: str, is_alone: Callable[[], bool], *, writes: bool) -> TableSigner | None:
        """What signs for a user and a table; None for a table that is not below the warehouse in S3.

        `is_alone` tells whether nothing else is in the directory, as for `Vendor.credentials`.
        """
        directory = below(self._warehouse, location)
        if directory is None or not is_alone():
            return None

        def keys() -> SigningKeys:
            if self._vendor is None:
                return self._keys()
            made = self._vendor.keys(user, directory, lambda: True, writes=writes)
            assert made is not None  # It is alone.
            return SigningKeys(made.id, made.secret, made.token)

        return TableSigner(self._store, directory, writes, self._client, keys)


def check_installed() -> None:
    """Raises MissingExtra if there is nothing to sign with."""
    try:
        import boto3  # noqa: F401
        import botocore.auth  # noqa: F401
    except ImportError:
        raise MissingExtra("signatures for clients (the setting iceberg_signing)", "glue") from None


def keys_of_environment() -> Callable[[], SigningKeys]:
    """The keys that the vendor's own tools would use now, from the environment, a profile or the machine's role."""
    lock, loaded = threading.Lock(), list[object]()

    def keys() -> SigningKeys:
        import boto3
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            with lock:  # The first look may call a service.
                if not loaded:
                    loaded.append(boto3.Session(region_name=region_of(os.environ)).get_credentials())
                frozen = None if loaded[0] is None else loaded[0].get_frozen_credentials()  # type: ignore[attr-defined]
                if frozen is None or not frozen.access_key:
                    loaded.clear()
        except (BotoCoreError, ClientError) as error:
            log.error("there are no keys to sign with: %s", error)
            frozen = None
        if frozen is None or not frozen.access_key:
            raise Unavailable("the server has no keys of S3 to sign requests with: its administrator sets AWS_…")
        return SigningKeys(frozen.access_key, frozen.secret_key, frozen.token)

    return keys


def signature(request: S3Request, keys: SigningKeys) -> dict[str, list[str]]:
    """The headers of a signature: the date, the hash of the content, the token of the keys and the signature itself.

    Headers that the client sends already are not repeated: it would send them twice.
    """
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    class Given(S3SigV4Auth):  # type: ignore[misc]
        """Signs the hash of the content that the client named, instead of that of content which is not here."""

        def payload(self, request: object) -> str:
            return payload

    payload = request.payload
    signed = AWSRequest(method=request.method, url=request.uri, headers=dict(request.headers))
    Given(Credentials(keys.id, keys.secret, keys.token), "s3", request.region).add_auth(signed)
    return {name: [value] for name, value in signed.headers.items() if name.lower() not in request.sent}
