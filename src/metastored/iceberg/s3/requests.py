"""The requests to S3 that may be signed for a client: those for the objects in the directory of one table. Pure.

Only what is listed here is signed: the operations that Iceberg's clients use, with their parameters and headers. A
request for another object, bucket, host or port, for access control lists, tags, policies, versions to delete, and with
credentials or dates of the client is refused. Nothing is rewritten: the URI that was checked is the one that is signed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

from metastored.iceberg.errors import BadRequest, Forbidden
from metastored.iceberg.requests import Json, optional, required, texts
from metastored.iceberg.s3.addresses import Address, Store, address_of
from metastored.iceberg.s3.delete_lists import deleted_keys
from metastored.iceberg.s3.vending import S3Directory

__all__ = ["UNSIGNED_PAYLOAD", "S3Request", "check_inside", "s3_request"]

MAX_URI: Final = 8192
MAX_HEADERS: Final = 100
MAX_HEADER_BYTES: Final = 16_384
"""Of the names and values of all headers; S3 itself takes 8 KiB."""
MAX_DECODINGS: Final = 4
"""How often a key may be decoded until nothing changes: partitions may have encoded values, and nothing has more."""
UNSIGNED_PAYLOAD: Final = "UNSIGNED-PAYLOAD"
TRAILER_PAYLOAD: Final = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
WHAT: Final = "the request"


class S3Request(NamedTuple):
    """A request to S3 that was checked."""

    method: str
    uri: str
    region: str
    headers: Mapping[str, str]
    """Those that are signed, by their names in lower case. The host and the hash of the content are not among them."""
    sent: frozenset[str]
    """The names of all headers of the client, in lower case."""
    payload: str
    """The hash of the content, or a word of S3 for content that is not signed."""
    writes: bool
    """Whether it needs the right to write."""


class Operation(NamedTuple):
    """An operation of S3: its method, whether it is for an object or the bucket, and the parameters of its query."""

    name: str
    method: str
    of_object: bool
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    writes: bool = True

    def has(self, names: Iterable[str]) -> bool:
        """Whether a query with these parameters is for it."""
        present = set(names)
        return self.required <= present <= self.required | self.optional | {"x-id"}


_LISTED: Final = frozenset({"continuation-token", "delimiter", "encoding-type", "max-keys", "start-after"})
_UPLOAD: Final = frozenset({"uploadId"})
_VERSION: Final = frozenset({"versionId", "partNumber"})
OPERATIONS: Final = (
    Operation("GetObject", "GET", True, optional=_VERSION, writes=False),
    Operation("HeadObject", "HEAD", True, optional=_VERSION, writes=False),
    Operation("ListParts", "GET", True, _UPLOAD, frozenset({"max-parts", "part-number-marker"})),
    Operation("PutObject", "PUT", True),
    Operation("UploadPart", "PUT", True, frozenset({"partNumber", "uploadId"})),
    Operation("CreateMultipartUpload", "POST", True, frozenset({"uploads"})),
    Operation("CompleteMultipartUpload", "POST", True, _UPLOAD),
    Operation("AbortMultipartUpload", "DELETE", True, _UPLOAD),
    Operation("DeleteObject", "DELETE", True),
    Operation("ListObjectsV2", "GET", False, frozenset({"list-type", "prefix"}), _LISTED, writes=False),
    Operation("DeleteObjects", "POST", False, frozenset({"delete"})),
)
"""A right to delete is none to delete versions: keys of `vending.py` cannot either."""
METHODS: Final = tuple(dict.fromkeys(each.method for each in OPERATIONS))

_VALUES: Final = {
    "delete": re.compile(""),
    "list-type": re.compile("2"),
    "partNumber": re.compile("[1-9][0-9]{0,4}"),
    "uploadId": re.compile(".+", re.DOTALL),
    "uploads": re.compile(""),
    "versionId": re.compile(".+", re.DOTALL),
    "x-id": re.compile("[A-Za-z0-9]*"),
}
"""What the values of parameters look like; others may have any."""
_PARAMETER: Final = re.compile("[A-Za-z-]+")
_HEADER: Final = re.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_HEADER_VALUE: Final = re.compile("[\\t\x20-\x7e]*")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")
_HASH: Final = re.compile("[0-9a-f]{64}")

SIGNED: Final = frozenset({
    "content-md5", "content-type", "x-amz-copy-source", "x-amz-copy-source-if-match",
    "x-amz-copy-source-if-modified-since", "x-amz-copy-source-if-none-match", "x-amz-copy-source-if-unmodified-since",
    "x-amz-copy-source-range", "x-amz-decoded-content-length", "x-amz-expected-bucket-owner",
    "x-amz-metadata-directive", "x-amz-mp-object-size", "x-amz-sdk-checksum-algorithm", "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id", "x-amz-server-side-encryption-bucket-key-enabled",
    "x-amz-source-expected-bucket-owner", "x-amz-storage-class", "x-amz-te", "x-amz-trailer",
    "x-amz-user-agent",
})  # fmt: skip
"""Headers that are signed: S3 refuses a header of its own that is not."""
SIGNED_FAMILIES: Final = ("x-amz-checksum-", "x-amz-meta-")
UNSIGNED: Final = frozenset({
    "accept", "accept-encoding", "amz-sdk-invocation-id", "amz-sdk-request", "amz-sdk-retry", "cache-control",
    "connection", "content-encoding", "content-length", "expect", "host", "if-match", "if-modified-since",
    "if-none-match", "if-unmodified-since", "range", "te", "transfer-encoding", "user-agent",
    "x-amz-content-sha256", "x-amzn-trace-id",
})  # fmt: skip
"""Headers that are taken and not signed as they are: proxies may change them, or the signer adds them."""


def s3_request(fields: Json, store: Store, directory: S3Directory) -> S3Request:
    """The request that a body of the specification names, for objects in the directory of a table.

    Raises BadRequest if it is not valid, and Forbidden if it is for something else.
    """
    provider = optional(fields, "provider", str, WHAT) or "s3"
    if provider.lower() != "s3":
        raise BadRequest(f"provider of {WHAT} is {provider!r}: requests to s3 are signed"[:200])
    texts(fields, "properties", WHAT)  # No server has sent any, so they have no meaning.
    method: str = required(fields, "method", str, WHAT)
    if method not in METHODS:
        raise BadRequest(f"method of {WHAT} is {method!r}: {', '.join(METHODS)} are signed"[:200])
    region: str = required(fields, "region", str, WHAT)
    uri: str = required(fields, "uri", str, WHAT)
    if len(uri) > MAX_URI:
        raise BadRequest(f"uri of {WHAT} has {len(uri):,} characters: at most {MAX_URI:,} are taken")
    headers = _headers(fields)
    address = address_of(uri, store, region, directory.bucket)
    parameters = _parameters(address.query)
    key = _decoded(address.key, "the path of uri", safe="/")
    operation = _operation(method, bool(key), parameters)
    if operation.of_object:
        check_inside(key, directory, "the object of uri")
    elif "prefix" in parameters:
        check_inside(parameters["prefix"], directory, "the parameter prefix")
    body = _body(fields, operation, directory)
    payload = _payload(headers, body)
    signed = _signed(headers, address, directory)
    return S3Request(method, uri, region, signed, frozenset(headers), payload, operation.writes)


# --- the URI --------------------------------------------------------------------------------------------------------


def _decoded(raw: str, what: str, *, safe: str) -> str:
    """A text without its percent-encoding, of which there is one: that which S3 signs. Raises BadRequest for others."""
    try:
        text = unquote(raw, errors="strict")
    except UnicodeDecodeError:
        raise BadRequest(f"{what} is not UTF-8") from None
    if quote(text, safe=safe) != raw:
        raise BadRequest(
            f"{what} is not encoded as S3 expects it: letters, digits, and -._~{safe} as they are, and all others as "
            "percent signs with two upper case hexadecimal digits"
        )
    return text


def _parameters(query: str | None) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for pair in [] if query is None else query.split("&"):
        name, _, value = pair.partition("=")
        if not _PARAMETER.fullmatch(name):
            raise BadRequest(f"uri of {WHAT} has a parameter {name!r}: this is not a parameter of S3"[:200])
        if name in parameters:
            raise BadRequest(f"uri of {WHAT} has the parameter {name} twice"[:200])
        parameters[name] = _decoded(value, f"the parameter {name} of uri"[:200], safe="")
    return parameters


def _operation(method: str, of_object: bool, parameters: Mapping[str, str]) -> Operation:
    for each in OPERATIONS:
        if (each.method, each.of_object) == (method, of_object) and each.has(parameters):
            break
    else:
        place = "an object" if of_object else "the bucket"
        shown = f" with the parameters {', '.join(sorted(parameters))}" if parameters else ""
        known = ", ".join(each.name for each in OPERATIONS)
        raise Forbidden(f"{method} of {place}{shown[:200]} is not signed; signed are {known}")
    for name, value in parameters.items():
        if name in _VALUES and not _VALUES[name].fullmatch(value):
            raise BadRequest(f"the parameter {name} of uri is {value!r}: {each.name} has no such value"[:300])
    return each


def check_inside(key: str, directory: S3Directory, what: str) -> None:
    """Raises Forbidden for a key that is not in a directory, or would not be for whoever decodes or normalizes it."""
    above = f"{directory.key}/"
    inside = key.startswith(above)
    text = key[len(above) :]
    for _ in range(MAX_DECODINGS):
        if not inside:
            break
        *parents, last = re.split(r"[/\\]", text)
        inside = not _CONTROL.search(text) and not {"", ".", ".."} & set(parents) and last not in (".", "..")
        decoded = unquote(text)
        if decoded == text:
            break
        text = decoded
    else:
        inside = False
    if not inside:
        raise Forbidden(
            f"{what} is {key!r}, which is not below {above!r}, the directory of the table; names of directories are "
            "not empty, and no dots"[:2000]
        )


# --- headers and content --------------------------------------------------------------------------------------------


def _headers(fields: Json) -> dict[str, str]:
    """The headers by their names in lower case; several values are one, as HTTP has it."""
    sent: dict[str, Any] = required(fields, "headers", dict, WHAT)
    if len(sent) > MAX_HEADERS:
        raise BadRequest(f"headers of {WHAT} has {len(sent):,} entries: at most {MAX_HEADERS} are taken")
    headers: dict[str, str] = {}
    size = 0
    for name, values in sent.items():
        if not _HEADER.fullmatch(name):
            raise BadRequest(f"headers of {WHAT} has {name!r}: this is not a name of a header"[:200])
        lower = name.lower()
        if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
            raise BadRequest(f"the header {lower} is {values!r}"[:200] + ": a list of texts was expected")
        size += len(name) + sum(map(len, values))
        if size > MAX_HEADER_BYTES:
            raise BadRequest(f"headers of {WHAT} are longer than {MAX_HEADER_BYTES:,} characters")
        if not all(_HEADER_VALUE.fullmatch(value) for value in values):
            raise BadRequest(f"the header {lower} has characters in it that are not printable ASCII")
        if lower in headers:
            raise BadRequest(f"headers of {WHAT} has {lower} twice, in upper and lower case")
        if lower not in UNSIGNED and not _is_signed(lower):
            raise Forbidden(f"a request with the header {lower} is not signed: send it without this header")
        if lower not in UNSIGNED and len(values) > 1:
            raise BadRequest(f"the header {lower} has {len(values)} values: one was expected")
        headers[lower] = ", ".join(values).strip()
    return headers


def _is_signed(name: str) -> bool:
    return name in SIGNED or name.startswith(SIGNED_FAMILIES)


def _signed(headers: Mapping[str, str], address: Address, directory: S3Directory) -> dict[str, str]:
    host = headers.get("host")
    if host is not None and host.lower() != address.host_header:
        raise BadRequest(f"the header host is {host!r}, and uri is of {address.host_header}"[:400])
    source = headers.get("x-amz-copy-source")
    if source is not None:
        text = _decoded(source.removeprefix("/"), "the header x-amz-copy-source", safe="/")
        bucket, _, key = text.partition("/")
        if bucket != directory.bucket:
            raise Forbidden(f"the header x-amz-copy-source is of {bucket!r}: the table is in {directory.bucket}"[:400])
        check_inside(key, directory, "the object of x-amz-copy-source")
    return {name: value for name, value in headers.items() if _is_signed(name)}


def _body(fields: Json, operation: Operation, directory: S3Directory) -> bytes | None:
    """The content of a request whose content is checked, and therefore signed: a list of objects to delete."""
    body: str | None = optional(fields, "body", str, WHAT)
    if operation.name != "DeleteObjects":
        return None
    if not body:
        raise BadRequest(
            "body of the request is missing: the objects of a DeleteObjects are checked before it is signed; a client "
            "that does not send it deletes objects one by one"
        )
    for key in deleted_keys(body):
        check_inside(key, directory, "an object to delete")
    return body.encode()


def _payload(headers: Mapping[str, str], body: bytes | None) -> str:
    """The hash of the content that is signed: the client's word for it, but for content that was checked."""
    sent = headers.get("x-amz-content-sha256")
    if body is not None:
        digest = sha256(body).hexdigest()
        if sent not in (None, digest):
            raise BadRequest(f"the header x-amz-content-sha256 is {sent!r}: the SHA-256 of body is {digest}"[:400])
        return digest
    if sent is None:
        return TRAILER_PAYLOAD if "x-amz-trailer" in headers else UNSIGNED_PAYLOAD
    if sent not in (UNSIGNED_PAYLOAD, TRAILER_PAYLOAD) and not _HASH.fullmatch(sent):
        raise BadRequest(
            f"the header x-amz-content-sha256 is {sent!r}: a SHA-256, {UNSIGNED_PAYLOAD} or {TRAILER_PAYLOAD} "
            "was expected"[:400]
        )
    return sent
