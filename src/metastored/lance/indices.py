"""The operations on indices, and the statistics of tables and indices, by pylance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lance_namespace import (
    CreateTableIndexRequest,
    CreateTableIndexResponse,
    CreateTableScalarIndexResponse,
    DescribeTableIndexStatsRequest,
    DescribeTableIndexStatsResponse,
    DropTableIndexRequest,
    DropTableIndexResponse,
    GetTableStatsRequest,
    GetTableStatsResponse,
    InvalidInputError,
    ListTableIndicesRequest,
    ListTableIndicesResponse,
    TableIndexAlreadyExistsError,
    TableIndexNotFoundError,
)
from lance_namespace_urllib3_client.models.fragment_stats import FragmentStats
from lance_namespace_urllib3_client.models.fragment_summary import FragmentSummary
from lance_namespace_urllib3_client.models.index_content import IndexContent

from metastored.lance.datasets import Datasets
from metastored.lance.requests import operation, page_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import lance

SCALAR: Final = ("BTREE", "BITMAP", "LABEL_LIST", "INVERTED", "FTS", "NGRAM", "ZONEMAP", "BLOOMFILTER", "RTREE")
VECTOR: Final = (
    *("IVF_FLAT", "IVF_SQ", "IVF_PQ", "IVF_RQ"),
    *("IVF_HNSW_FLAT", "IVF_HNSW_SQ", "IVF_HNSW_PQ"),
)
SMALL_FRAGMENT: Final = 100_000
"""Rows: Lance counts a fragment with fewer as small."""


class IndexOperations(Datasets):
    """create, list, describe, drop; statistics of a table."""

    @operation(CreateTableIndexRequest)
    def create_table_index(self, request: CreateTableIndexRequest) -> CreateTableIndexResponse:
        """Creates an index on a column: of vectors, or any scalar one. It exists when this returns."""
        kind = _kind(request.index_type)
        if kind in SCALAR:
            self._create_scalar(request, kind)
            return CreateTableIndexResponse()
        if kind not in VECTOR:
            raise InvalidInputError(
                f"index_type is {request.index_type!r}: it is one of {', '.join((*VECTOR, *SCALAR))}"
            )
        dataset = self._indexed(request)
        given = {
            "metric": request.distance_type,
            "num_partitions": request.num_partitions,
            "num_sub_vectors": request.num_sub_vectors,
            "num_bits": request.num_bits,
            "sample_rate": request.sample_rate,
            "max_iters": request.max_iterations,
            "target_partition_size": request.target_partition_size,
            "m": request.m,
            "ef_construction": request.ef_construction,
        }
        options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        dataset.create_index(request.column, kind, name=request.name, **options)
        return CreateTableIndexResponse()

    @operation(CreateTableIndexRequest)
    def create_table_scalar_index(self, request: CreateTableIndexRequest) -> CreateTableScalarIndexResponse:
        """Creates a scalar index on a column, a full-text index included."""
        kind = _kind(request.index_type)
        if kind not in SCALAR:
            raise InvalidInputError(f"index_type is {request.index_type!r}: it is one of {', '.join(SCALAR)}")
        self._create_scalar(request, kind)
        return CreateTableScalarIndexResponse()

    @operation(ListTableIndicesRequest)
    def list_table_indices(self, request: ListTableIndicesRequest) -> ListTableIndicesResponse:
        """The indices of a table, sorted by name."""
        self.no_branches(request)
        name, table = self.table(request.id)
        dataset = self.dataset(self.levels.id_of(name), table, request.version)
        by_name = {index.name: index for index in dataset.describe_indices()}
        page, token = page_of(sorted(by_name), request.page_token, request.limit)
        rows = dataset.count_rows() if page else 0
        return ListTableIndicesResponse(indexes=[_content(by_name[each], rows) for each in page], page_token=token)

    @operation(DescribeTableIndexStatsRequest)
    def describe_table_index_stats(self, request: DescribeTableIndexStatsRequest) -> DescribeTableIndexStatsResponse:
        """How many rows an index has, and how many are not in it yet. Raises TableIndexNotFoundError."""
        self.no_branches(request)
        name, table = self.table(request.id)
        dataset = self.dataset(self.levels.id_of(name), table, request.version)
        index = _index(dataset, request.index_name)
        stats = dataset.stats.index_stats(index.name)
        return DescribeTableIndexStatsResponse(
            distance_type=next(
                (each["metric_type"] for each in stats.get("indices", ()) if "metric_type" in each), None
            ),
            index_type=index.index_type,
            num_indexed_rows=stats.get("num_indexed_rows"),
            num_unindexed_rows=stats.get("num_unindexed_rows"),
            num_indices=stats.get("num_indices"),
        )

    @operation(DropTableIndexRequest)
    def drop_table_index(self, request: DropTableIndexRequest) -> DropTableIndexResponse:
        """Drops an index. Raises TableIndexNotFoundError."""
        self.no_branches(request)
        name, table = self.table(request.id)
        dataset = self.dataset(self.levels.id_of(name), table)
        dataset.drop_index(_index(dataset, request.index_name).name)
        self.recorded(name, table, dataset)
        return DropTableIndexResponse()

    @operation(GetTableStatsRequest)
    def get_table_stats(self, request: GetTableStatsRequest) -> GetTableStatsResponse:
        """The size of a table, and how its rows are divided into fragments."""
        self.no_branches(request)
        name, table = self.table(request.id)
        dataset = self.dataset(self.levels.id_of(name), table)
        lengths = sorted(fragment.count_rows() for fragment in dataset.get_fragments())
        fields: Any = dataset.stats.data_stats().fields  # A list, whatever its annotation says.
        size = sum(field.bytes_on_disk for field in fields)
        return GetTableStatsResponse(
            total_bytes=size,
            num_rows=sum(lengths),
            num_indices=len(dataset.describe_indices()),
            fragment_stats=FragmentStats(
                num_fragments=len(lengths),
                num_small_fragments=sum(length < SMALL_FRAGMENT for length in lengths),
                lengths=_summary(lengths),
            ),
        )

    def _create_scalar(self, request: CreateTableIndexRequest, kind: Any) -> None:
        dataset = self._indexed(request)
        given = {
            "with_position": request.with_position,
            "base_tokenizer": request.base_tokenizer,
            "language": request.language,
            "max_token_length": request.max_token_length,
            "lower_case": request.lower_case,
            "stem": request.stem,
            "remove_stop_words": request.remove_stop_words,
            "ascii_folding": request.ascii_folding,
        }
        options: dict[str, Any] = (
            {key: value for key, value in given.items() if value is not None} if kind in ("INVERTED", "FTS") else {}
        )
        dataset.create_scalar_index(request.column, kind, name=request.name, replace=False, **options)

    def _indexed(self, request: CreateTableIndexRequest) -> lance.LanceDataset:
        """The dataset, if the column exists and the name of the index does not."""
        self.no_branches(request)
        name, table = self.table(request.id)
        dataset = self.dataset(self.levels.id_of(name), table)
        self.columns_exist(dataset, [request.column])
        index = request.name or f"{request.column}_idx"
        if any(each.name == index for each in dataset.describe_indices()):
            raise TableIndexAlreadyExistsError(f"table {name} has an index {index} already")
        return dataset


def _kind(text: str) -> str:
    return text.strip().upper()


def _index(dataset: lance.LanceDataset, name: str | None) -> Any:
    if not name:
        raise InvalidInputError("the request names no index: index_name")
    index = next((each for each in dataset.describe_indices() if each.name == name), None)
    if index is None:
        raise TableIndexNotFoundError(f"there is no index {name}")
    return index


def _content(index: Any, rows: int) -> IndexContent:
    return IndexContent(
        index_name=index.name,
        index_uuid=str(index.segments[0].uuid) if index.segments else "",
        columns=list(index.field_names),
        status="SUCCEEDED",
        index_type=index.index_type,
        type_url=index.type_url,
        num_indexed_rows=index.num_rows_indexed,
        num_unindexed_rows=max(0, rows - index.num_rows_indexed),
        num_segments=len(index.segments),
    )


def _summary(lengths: Sequence[int]) -> FragmentSummary:
    if not lengths:
        return FragmentSummary(min=0, max=0, mean=0, p25=0, p50=0, p75=0, p99=0)

    def share(part: float) -> int:
        return lengths[int(part * (len(lengths) - 1))]

    return FragmentSummary(
        min=lengths[0],
        max=lengths[-1],
        mean=sum(lengths) // len(lengths),
        p25=share(0.25),
        p50=share(0.5),
        p75=share(0.75),
        p99=share(0.99),
    )
