"""The operations on versions. Lance itself commits to `impl` tables by them.

Versions whose manifest was cleaned up are not there: neither listed nor described.
"""

from __future__ import annotations

import struct
from typing import Final

from lance_namespace import (
    BatchDeleteTableVersionsRequest,
    BatchDeleteTableVersionsResponse,
    ConcurrentModificationError,
    CreateTableVersionRequest,
    CreateTableVersionResponse,
    DescribeTableVersionRequest,
    DescribeTableVersionResponse,
    InvalidInputError,
    ListTableVersionsRequest,
    ListTableVersionsResponse,
    TableVersion,
    TableVersionNotFoundError,
)

from metastored.errors import TransportError
from metastored.lance.datasets import Datasets
from metastored.lance.files import Manifest, Manifests, scheme_of, staged_name
from metastored.lance.requests import operation
from metastored.model.names import TableName
from metastored.wire.generated.common import Table

MAGIC: Final = b"LANC"
SCHEMA_HEAD: Final = 1 << 16
"""Bytes of a manifest that are read for its schema at first."""


class VersionOperations(Datasets):
    """list, create, describe, delete."""

    @operation(ListTableVersionsRequest)
    def list_table_versions(self, request: ListTableVersionsRequest) -> ListTableVersionsResponse:
        """The versions of a table, in ascending order by default; none for a table without data."""
        self.no_branches(request)
        if request.limit is not None and request.limit < 1:
            raise InvalidInputError(f"limit is {request.limit}: it is a number from 1 on")
        after = _after(request.page_token)
        name, table = self.table(request.id)
        descending = bool(request.descending)
        if request.limit == 1 and descending and after is None and self.is_managed(table):
            # Lance's request for the newest version.
            commits = self.commits(name, table)
            newest = commits.newest()
            self.read_tables.put(name, commits.table)
            return ListTableVersionsResponse(
                versions=[] if newest is None else [_version(commits.manifests, newest)], page_token=None
            )
        manifests, versions = self._versions(name, table)
        if descending:
            versions.reverse()
        if after is not None:
            versions = [each for each in versions if (each < after if descending else each > after)]
        page = versions[: request.limit]
        found_manifests = [manifest for version in page if (manifest := manifests.find(version)) is not None]
        return ListTableVersionsResponse(
            versions=[_version(manifests, manifest) for manifest in found_manifests],
            page_token=str(page[-1]) if len(page) < len(versions) else None,
        )

    @operation(DescribeTableVersionRequest)
    def describe_table_version(self, request: DescribeTableVersionRequest) -> DescribeTableVersionResponse:
        """One version, the newest by default. Raises TableVersionNotFoundError."""
        self.no_branches(request)
        name, table = self.table(request.id)
        manifests = self.manifests(name, table)
        manifest: Manifest | None = None
        if self.is_managed(table):
            commits = self.commits(name, table)
            newest = commits.settled()
            version = newest if request.version is None else request.version
            manifest = manifests.find(version) if 0 < version <= newest else None
        else:
            versions = [request.version] if request.version is not None else manifests.versions()[-1:]
            manifest = manifests.find(versions[0]) if versions and versions[0] > 0 else None
        if manifest is None:
            wanted = "no version" if request.version is None else f"no version {request.version}"
            raise TableVersionNotFoundError(f"table {name} has {wanted}")
        return DescribeTableVersionResponse(version=_version(manifests, manifest))

    @operation(CreateTableVersionRequest)
    def create_table_version(self, request: CreateTableVersionRequest) -> CreateTableVersionResponse:
        """Makes a staged manifest the next version. Raises ConcurrentModificationError if another writer did first."""
        self.no_branches(request)
        staged = staged_name(request.manifest_path)
        if request.naming_scheme not in (None, scheme_of(staged)):
            raise InvalidInputError(
                f"naming_scheme is {request.naming_scheme!r}, but the name of the manifest is of {scheme_of(staged)}"
            )
        if request.version < 1:
            raise InvalidInputError(f"version is {request.version}: it is a number from 1 on")
        name = self.levels.table(request.id)
        commits, committed = None, None
        known = self.read_tables.take(name)
        if known is not None and self.checked.compares(self.committer, name):
            commits = self.commits(name, known)
            committed = commits.commit_at_once(staged, request.version)
        if commits is None or committed is None:
            lost = None if commits is None else commits.lost
            try:
                name, table = self.table(request.id)
            except TransportError as error:
                raise lost or error from None  # The first of them says that it may have happened.
            if not self.is_managed(table):
                return self._created_in_storage(name, self.manifests(name, table), staged, request)
            self.checked.check(self.committer, name, table)
            commits = self.commits(name, table)
            commits.lost = lost
            committed = commits.commit(staged, request.version)
        self.record_schema(name, commits, committed.version, _schema(commits.manifests, committed))
        return CreateTableVersionResponse(version=_version(commits.manifests, committed))

    def _created_in_storage(
        self, name: TableName, manifests: Manifests, staged: str, request: CreateTableVersionRequest
    ) -> CreateTableVersionResponse:
        """The same for a table whose versions the metastore does not keep."""
        if manifests.directory.manifest(staged, request.version) is None and not manifests.find(request.version):
            raise InvalidInputError(f"there is no manifest {request.manifest_path}")
        if not manifests.publish(staged, request.version):
            raise ConcurrentModificationError(f"version {request.version} of {name} was created by another writer")
        manifest = manifests.find(request.version)
        assert manifest is not None
        return CreateTableVersionResponse(version=_version(manifests, manifest))

    @operation(BatchDeleteTableVersionsRequest)
    def batch_delete_table_versions(self, request: BatchDeleteTableVersionsRequest) -> BatchDeleteTableVersionsResponse:
        """Deletes the manifests of ranges of versions. The newest version and tagged versions are kept."""
        self.no_branches(request)
        name, table = self.table(request.id)
        for each in request.ranges:
            if each.start_version < 0 or (each.end_version < each.start_version and each.end_version != -1):
                raise InvalidInputError(
                    f"the range {each.start_version} … {each.end_version} is not valid: the end comes after the start, "
                    f"or is -1 for all"
                )
        manifests, versions = self._versions(name, table, removes=True)
        kept = set(versions[-1:])
        if versions:
            dataset = self.dataset(self.levels.id_of(name), table)
            kept |= {tag["version"] for tag in dataset.tags.list().values()}
        chosen = {
            version
            for version in versions
            for each in request.ranges
            if each.start_version <= version and (each.end_version == -1 or version < each.end_version)
        }
        deleted = sum(manifests.delete(version) for version in sorted(chosen - kept))
        return BatchDeleteTableVersionsResponse(deleted_count=deleted)

    def _versions(self, name: TableName, table: Table, *, removes: bool = False) -> tuple[Manifests, list[int]]:
        manifests = self.manifests(name, table, removes=removes)
        if not self.is_managed(table):
            return manifests, manifests.versions()
        newest = self.commits(name, table).settled()
        return manifests, [version for version in manifests.versions() if version <= newest]


def _after(token: str | None) -> int | None:
    if not token:
        return None
    if not token.isdigit():
        raise InvalidInputError(f"page_token is {token!r}, which no list of versions returned")
    return int(token)


def _version(manifests: Manifests, manifest: Manifest) -> TableVersion:
    return TableVersion(
        version=manifest.version,
        manifest_path=manifests.path(manifest.name),
        manifest_size=manifest.size,
        timestamp_millis=manifest.timestamp_millis,
    )


def _schema(manifests: Manifests, manifest: Manifest) -> bytes:
    """The schema in a manifest, as its bytes: the fields 1 of the protobuf message, which come first.

    The last 16 bytes of a manifest are the position of the message, two numbers of the format, and LANC; the message
    begins with its length. Bytes that are not of this form are returned as they are.
    """
    directory = manifests.directory
    content = b""
    if manifest.size is not None and manifest.size <= SCHEMA_HEAD:
        content = directory.read(manifest.name, 0, manifest.size) or b""
    footer = content[-16:] or directory.read(manifest.name, -16, 16) or b""
    if len(footer) != 16 or footer[12:] != MAGIC:
        return footer
    (position,) = struct.unpack_from("<Q", footer)
    head = content[position + 4 :] or directory.read(manifest.name, position + 4, SCHEMA_HEAD) or b""
    at = 0
    while at < len(head) and head[at] == 0x0A:  # Field 1, with its length.
        length, after = _varint(head, at + 1)
        if after + length > len(head):
            return head  # A very wide schema: its beginning has to do.
        at = after + length
    return head[:at]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    return value, at
