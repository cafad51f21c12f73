"""Credentials for the files of one table, for clients that have none: keys of S3 that expire, made by AWS STS.

The server assumes the role of the setting `iceberg_role` with a policy for the objects below the location of the table:
to read them, or to read and write them. A client never gets keys of the server, and none for anything but a
directory below the warehouse. Whether a caller may read or write the table is decided by `server/http/iceberg.py`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from metastored.errors import MissingExtra
from metastored.iceberg.errors import Unavailable

__all__ = [
    "DELEGATION",
    "Assume",
    "Keys",
    "S3Directory",
    "Vended",
    "Vendor",
    "client_properties",
    "policy_of",
    "s3_directory",
    "session_name",
]

log = logging.getLogger("metastored.iceberg")

DELEGATION: Final = "vended-credentials"
"""The word in the header X-Iceberg-Access-Delegation by which a client asks for credentials."""
TIMEOUT: Final = 10.0
"""Seconds for a connection to STS, and for its reply."""
MAX_CACHED: Final = 1000
_LOCATION: Final = re.compile(
    r"s3[an]?://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/(?P<key>[^\x00-\x1f\x7f*?$\"\\]+)"
)
"""A directory in S3. `*`, `?` and `$` have a meaning in policies, so keys with them are not vended for."""
_NOT_IN_A_SESSION: Final = re.compile(r"[^\w+=,.@-]", re.ASCII)
_READS: Final = ("s3:GetObject", "s3:GetObjectVersion")
_WRITES: Final = ("s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts")


class S3Directory(NamedTuple):
    """A directory in S3."""

    bucket: str
    parts: tuple[str, ...]

    def is_below(self, other: S3Directory) -> bool:
        """Whether it is within another directory; no directory is below itself."""
        count = len(other.parts)
        return self.bucket == other.bucket and len(self.parts) > count and self.parts[:count] == other.parts

    @property
    def key(self) -> str:
        return "/".join(self.parts)


def s3_directory(location: str) -> S3Directory | None:
    """The directory of a location in S3; None if it is not in S3, or if no policy can name it."""
    matched = _LOCATION.fullmatch(location)
    if matched is None:
        return None
    parts = tuple(matched["key"].rstrip("/").split("/"))
    return None if {"", ".", ".."} & set(parts) else S3Directory(matched["bucket"], parts)


def policy_of(directory: S3Directory, partition: str, *, writes: bool) -> str:
    """A policy of IAM for the objects in a directory, and for nothing else."""
    bucket = f"arn:{partition}:s3:::{directory.bucket}"
    allowed = {
        "Effect": "Allow",
        "Action": [*_READS, *(_WRITES if writes else ())],
        "Resource": f"{bucket}/{directory.key}/*",
    }
    listed = {
        "Effect": "Allow",
        "Action": "s3:ListBucket",
        "Resource": bucket,
        "Condition": {"StringLike": {"s3:prefix": [f"{directory.key}/*"]}},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [allowed, listed]}, separators=(",", ":"))


class Vended(NamedTuple):
    """Credentials for what is below a location."""

    prefix: str
    config: Mapping[str, str]
    """The properties of a client, as the specification names them."""

    @property
    def storage_credential(self) -> dict[str, Any]:
        return {"prefix": self.prefix, "config": dict(self.config)}


class Keys(NamedTuple):
    """What STS returns."""

    id: str
    secret: str
    token: str
    expires: datetime


Assume = Callable[[str, str], Keys]
"""Makes keys for a name of a session and a policy. Raises Unavailable."""


class Vendor:
    """Vends credentials, and keeps those that have more than half of their time left. Threads share it."""

    def __init__(
        self, role: str, lifetime: int, warehouse: str, client: Mapping[str, str], assume: Assume | None = None
    ) -> None:
        """`client` are further properties for clients, such as the address of the store. Raises MissingExtra."""
        self._partition: Final = role.split(":")[1]
        self._lifetime: Final = lifetime
        self._warehouse: Final = s3_directory(warehouse.rstrip("/") + "/")
        self._client: Final = dict(client)
        self._assume: Final = assume or assume_by_sts(role, lifetime)
        self._cache: OrderedDict[tuple[str, S3Directory, bool], Keys] = OrderedDict()
        self._lock: Final = threading.Lock()

    def credentials(self, user: str, location: str, is_alone: Callable[[], bool], *, writes: bool) -> Vended | None:
        """Credentials of a user for the directory of a table; None for one that is not below the warehouse in S3.

        `is_alone` tells whether nothing else is in the directory. If another table is, there are none: a policy cannot
        keep the files of both apart, and the right to read one is not the right to read the other.

        Raises Unavailable if STS makes none.
        """
        directory = below(self._warehouse, location)
        keys = None if directory is None else self.keys(user, directory, is_alone, writes=writes)
        if keys is None:
            return None
        config = {
            **self._client,
            "s3.access-key-id": keys.id,
            "s3.secret-access-key": keys.secret,
            "s3.session-token": keys.token,
            "s3.session-token-expires-at-ms": str(int(keys.expires.timestamp() * 1000)),
        }
        return Vended(f"{location.rstrip('/')}/", config)

    def keys(self, user: str, directory: S3Directory, is_alone: Callable[[], bool], *, writes: bool) -> Keys | None:
        """The keys themselves; None if something else is in the directory. Raises Unavailable if STS makes none."""
        key = user, directory, writes
        with self._lock:
            keys = self._cache.get(key)
        if keys is None or keys.expires.timestamp() - time.time() < self._lifetime / 2:
            if not is_alone():
                return None
            keys = self._assume(session_name(user), policy_of(directory, self._partition, writes=writes))
            with self._lock:
                self._cache[key] = keys
                self._cache.move_to_end(key)
                while len(self._cache) > MAX_CACHED:
                    self._cache.popitem(last=False)
        return keys


def below(warehouse: S3Directory | None, location: str) -> S3Directory | None:
    """The directory of a location in S3 below the warehouse; None for any other."""
    directory = s3_directory(location)
    inside = directory is not None and warehouse is not None and directory.is_below(warehouse)
    return directory if inside else None


def session_name(user: str) -> str:
    """The name by which AWS logs what a user does: of letters that it takes, and 64 of them at the most."""
    return f"metastored-{_NOT_IN_A_SESSION.sub('-', user)}"[:64]


def assume_by_sts(role: str, lifetime: int) -> Assume:
    """Keys of a role, by the credentials of the server's environment. Raises MissingExtra."""
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        raise MissingExtra("credentials for clients (the setting iceberg_role)", "glue") from None
    config = Config(connect_timeout=TIMEOUT, read_timeout=TIMEOUT, retries={"max_attempts": 2, "mode": "standard"})
    clients = threading.local()  # The making of a client is not safe for threads.

    def assume(session: str, policy: str) -> Keys:
        try:
            if not hasattr(clients, "sts"):
                clients.sts = boto3.Session(region_name=region_of(os.environ)).client("sts", config=config)
            reply = clients.sts.assume_role(
                RoleArn=role, RoleSessionName=session, Policy=policy, DurationSeconds=lifetime
            )
        except (BotoCoreError, ClientError) as error:
            log.error("AWS STS made no credentials for %s: %s", session, error)
            raise Unavailable("AWS STS made no credentials for the table; the log of the server says why") from None
        made = reply["Credentials"]
        return Keys(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"], made["Expiration"])

    return assume


def region_of(environment: Mapping[str, str]) -> str | None:
    """The region by either of its variables: boto3 reads only the second."""
    return environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")


def endpoint_of(environment: Mapping[str, str]) -> str | None:
    """The address of an S3 that is not that of AWS."""
    return environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")


def client_properties(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The region and the address of S3 that the server itself uses, as the properties of a client."""
    region, endpoint = region_of(environment), endpoint_of(environment)
    return {
        **({"client.region": region, "s3.region": region} if region else {}),
        **({"s3.endpoint": endpoint, "s3.path-style-access": "true"} if endpoint else {}),
    }
