"""Caches of file footers, which Hive keeps in HBase if it has one. metastored replies as Hive without HBase.

That reply is: not supported. Clients then read the footers themselves. Nothing is stored, so nothing is ever stale.
"""

from __future__ import annotations

from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.wire.generated.files import (
    CacheFileMetadataRequest,
    CacheFileMetadataResult,
    ClearFileMetadataRequest,
    ClearFileMetadataResult,
    GetFileMetadataByExprRequest,
    GetFileMetadataByExprResult,
    GetFileMetadataRequest,
    GetFileMetadataResult,
    PutFileMetadataRequest,
    PutFileMetadataResult,
)


@method
def get_file_metadata(ctx: Context, req: GetFileMetadataRequest) -> GetFileMetadataResult:
    return GetFileMetadataResult(metadata={}, isSupported=False)


@method
def get_file_metadata_by_expr(ctx: Context, req: GetFileMetadataByExprRequest) -> GetFileMetadataByExprResult:
    return GetFileMetadataByExprResult(metadata={}, isSupported=False)


@method
def put_file_metadata(ctx: Context, req: PutFileMetadataRequest) -> PutFileMetadataResult:
    return PutFileMetadataResult()


@method
def clear_file_metadata(ctx: Context, req: ClearFileMetadataRequest) -> ClearFileMetadataResult:
    return ClearFileMetadataResult()


@method
def cache_file_metadata(ctx: Context, req: CacheFileMetadataRequest) -> CacheFileMetadataResult:
    return CacheFileMetadataResult(isSupported=False)
