"""`analyze`: which partitions need statistics, one pass over their rows, and what is stored of the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException
from metastored.hive.quoting import backquoted
from metastored.hive.statistics.basic import NUM_ROWS, TOTAL_SIZE, read_accuracy
from metastored.hive.statistics.ndv import HyperLogLog
from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList
from metastored.model.acid import is_transactional
from metastored.model.names import Name, TableName, table_name
from metastored.model.partitions import PartitionValues, keys_of, name_of, values_of
from metastored.model.spark.reading import has_only_spark_columns
from metastored.model.spark.types import schema_from_json
from metastored.model.spark.values import ColumnStat, Histogram
from metastored.spark.acid.reading import connected, snapshot_of
from metastored.spark.statistics import gathering, histograms
from metastored.spark.statistics.gathering import Gathered, kind_of
from metastored.spark.statistics.hive_form import from_hive, to_hive
from metastored.spark.statistics.parquet_files import Place, gather_files
from metastored.spark.statistics.sources import AcidSource, Part, PlainSource, Source, check_table
from metastored.spark.statistics.spark_form import to_spark
from metastored.spark.statistics.storing import (
    Analyzed,
    Writer,
    is_current,
    store_partitioned_table,
    store_partitions,
    store_table,
    stored_sketches,
)
from metastored.spark.statistics.summaries import Kind, Summary
from metastored.spark.table_data import partitions_named
from metastored.wire.generated.common import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class AnalyzeResult:
    """What an analyze did."""

    table: str
    rows: int
    """The rows that were read."""
    bytes: int
    """The size of their files."""
    columns: tuple[str, ...]
    """The columns that have new statistics."""
    partitions: tuple[str, ...]
    """The names of the partitions that were analyzed; none for a table without partitions."""
    skipped: tuple[str, ...]
    """The names of the partitions whose statistics were accurate, and whose files had not changed."""


def analyze(
    spark: SparkSession,
    name: Name,
    columns: Sequence[str] | Literal["all"] | None = None,
    partitions: str | Sequence[PartitionValues] | None = None,
    histograms: bool = False,
    client: Client | None = None,
    *,
    force: bool = False,
) -> AnalyzeResult:
    """Computes statistics of a table, its partitions and columns, and stores them for Hive and for Spark.

    `columns` are all columns with statistics, unless they are named; `[]` means rows and bytes only. `partitions` is a
    condition over the keys (`"ds >= '2024-01-01'"`) or a list of partitions (`["ds=2024-01-01"]`). A partition whose
    statistics are accurate, and whose files have not changed since, is skipped, unless `force` or `histograms` is set.
    Without `client`, the metastore of the session is used. Raises InvalidInputException for a view, an unknown column
    or partition, and a named column of a type without statistics.
    """
    wanted = table_name(name)
    with connected(spark, client) as used, ExitStack() as stack:
        table = used.fresh_table(wanted)
        snapshot = transactions = None
        if is_transactional(table.parameters):
            read = stack.enter_context(used.read(wanted))
            snapshot, transactions = snapshot_of(read.snapshots, wanted), read.visible
        selected = _selected(used, wanted, table, partitions)
        source = _source(spark, used, wanted, table, selected, snapshot, transactions)
        writer = Writer(used, wanted, snapshot)
        return _Analysis(spark, writer, table, source, columns, selected, histograms, force).run()


def _selected(
    client: Client, name: TableName, table: Table, partitions: str | Sequence[PartitionValues] | None
) -> list[str] | None:
    """The names of the requested partitions; None means all."""
    if partitions is None:
        return None
    keys = keys_of(table)
    if not keys:
        raise InvalidInputException(f"{name} has no partitions: leave out partitions=")
    if isinstance(partitions, str):
        return list(client.partition_names(name, partitions))
    wanted = [name_of(table, values_of(str(name), keys, each)) for each in partitions]
    if unknown := sorted(set(wanted).difference(client.partition_names(name))):
        raise InvalidInputException(f"{name} has no partition {', '.join(unknown)}")
    return wanted


def _source(
    spark: SparkSession,
    client: Client,
    name: TableName,
    table: Table,
    selected: list[str] | None,
    snapshot: ValidWriteIdList | None,
    transactions: ValidTxnList | None,
) -> Source:
    check_table(table)
    partitions = partitions_named(client, name, selected) if keys_of(table) else []
    if snapshot is None or transactions is None:
        return PlainSource(spark, name, table, partitions)
    return AcidSource(spark, client, name, partitions, snapshot, transactions)


class _Analysis:
    """One analyze of a table whose files are listed."""

    def __init__(
        self,
        spark: SparkSession,
        writer: Writer,
        table: Table,
        source: Source,
        columns: Sequence[str] | Literal["all"] | None,
        selected: list[str] | None,
        histograms: bool,
        force: bool,
    ) -> None:
        self._spark = spark
        self._writer = writer
        self._table = table
        self._source = source
        self._frame: DataFrame = source.rows([])
        self._keys = tuple(each.lower() for each in keys_of(table))
        self._kinds = self._chosen(columns)
        self._types = {each.name: each.data_type for each in schema_from_json(self._frame.schema.json())}
        declared = () if has_only_spark_columns(table) else (table.sd and table.sd.cols) or ()
        self._hive_types = {(each.name or "").lower(): each.type or "" for each in declared}
        self._selected = selected
        self._histograms = histograms
        self._force = force
        self._rows = 0
        self._timestamps = writer.client.capabilities.version() >= (4, 0)
        """Whether the server has statistics of timestamps, and histograms."""

    def _chosen(self, columns: Sequence[str] | Literal["all"] | None) -> dict[str, Kind]:
        fields = {each.name.lower(): each for each in self._frame.schema if each.name.lower() not in self._keys}
        if columns is None or columns == "all":
            kinds = {each.name: kind_of(each.dataType) for each in fields.values()}
            return {name: kind for name, kind in kinds.items() if kind is not None}
        if isinstance(columns, str):
            raise InvalidInputException(f"columns={columns!r} is neither 'all' nor a list of columns")
        chosen: dict[str, Kind] = {}
        for name in columns:
            field = fields.get(name.lower())
            if field is None:
                raise InvalidInputException(
                    f"{self._writer.name} has no column {name!r} outside of its partition keys: {', '.join(fields)}"
                )
            kind = kind_of(field.dataType)
            if kind is None:
                raise InvalidInputException(
                    f"the column {name!r} has the type {field.dataType.simpleString()}, which has no statistics"
                )
            chosen[field.name] = kind
        return chosen

    def run(self) -> AnalyzeResult:
        parts = self._source.parts
        hive_columns = [each for each in self._kinds if each.lower() in self._hive_types]
        # The statistics of columns that only Spark has are not stored by partition.
        redo = self._force or self._histograms or not self._keys or len(hive_columns) < len(self._kinds)
        skipped = [each for each in parts if not redo and is_current(each.parameters, each.files, hive_columns)]
        left_out = {each.name for each in skipped}
        wanted = [each for each in parts if each.name not in left_out]
        self._analyze(wanted, skipped)
        return AnalyzeResult(
            str(self._writer.name),
            self._rows,
            sum(each.files.size for each in wanted),
            tuple(self._kinds),
            tuple(each.name for each in wanted if each.name is not None),
            tuple(each.name for each in skipped if each.name is not None),
        )

    def _analyze(self, wanted: Sequence[Part], skipped: Sequence[Part]) -> None:
        gathered: dict[str | None, Gathered] = {}
        finished: dict[str, Histogram] = {}
        analyzed: dict[str | None, Analyzed] = {}
        totals = {name: Summary(kind, sketch=_no_sketch(kind)) for name, kind in self._kinds.items()}
        if wanted:
            frame, key, names = self._rows_of(wanted)
            bins, sketches = self._distributions(frame, key, complete=not skipped and self._selected is None)
            padded = [name for name in self._kinds if self._hive_types.get(name.lower(), "").startswith("char(")]
            result = self._gathered_from_files(frame, names, wanted, bins, padded)
            if result is None:
                result = gathering.gather(frame, key, self._kinds, bins, padded)
            for number, part in names.items():
                gathered[part] = result.get(number, Gathered(0, totals))
            files = {each.name: each.files for each in wanted}
            for number, part in names.items():
                columns = self._in_hives_form(gathered[part], sketches.get(number, {}))
                analyzed[part] = Analyzed(gathered[part].rows, files[part], columns)
            for one in gathered.values():
                totals = {name: each.merge(one.columns[name]) for name, each in totals.items()}
            finished = {name: each.histogram(totals[name].values) for name, each in bins.items()}
        self._rows = sum(each.rows for each in gathered.values())
        if not self._keys:
            store_table(self._writer, analyzed[None], self._in_sparks_form(totals, finished))
        else:
            self._store_of_all_partitions(wanted, skipped, totals, finished)
            store_partitions(self._writer, self._table, {part: each for part, each in analyzed.items() if part})
        if self._writer.snapshot is None:
            name = self._writer.name
            self._spark.catalog.refreshTable(f"{backquoted(name.database)}.{backquoted(name.table)}")

    def _rows_of(self, wanted: Sequence[Part]) -> tuple[DataFrame, Any, dict[int, str | None]]:
        """The rows of partitions, the key of each row, and the partitions by their keys."""
        from pyspark.sql import functions as F

        if not self._keys:
            return self._source.rows(None), gathering.key_of(()), {gathering.WHOLE_TABLE: None}
        frame = self._source.rows({each.name for each in wanted if each.name is not None})
        fields = {each.name.lower(): each for each in frame.schema}
        keys = [fields[each] for each in self._keys]
        key = gathering.key_of([F.col(backquoted(each.name)) for each in keys])
        every = [each.name for each in self._source.parts if each.name is not None]
        names = gathering.keys_of_partitions(self._spark, keys, every)
        chosen = {each.name for each in wanted}
        kept: dict[int, str | None] = {key: part for key, part in names.items() if part in chosen}
        # Spark reads only partitions for which a condition over keys alone holds.
        return frame.where(key.isin(list(kept))), key, kept

    def _gathered_from_files(
        self,
        frame: DataFrame,
        names: Mapping[int, str | None],
        wanted: Sequence[Part],
        bins: Mapping[str, histograms.BinCounter],
        padded: Sequence[str],
    ) -> dict[int, Gathered] | None:
        """The statistics of Parquet files; None if their rows have to be read by Spark."""
        locations = self._source.parquet_locations()
        if locations is None:
            return None
        files = {each.name: each.files for each in wanted}
        places = [Place(number, locations[part], files[part]) for number, part in names.items()]
        return gather_files(self._spark, places, frame.schema.fields, self._kinds, bins, padded)

    def _distributions(self, frame: DataFrame, key: Any, *, complete: bool) -> tuple[dict[str, Any], dict[int, Any]]:
        """The counters of bins for Spark's histograms, and Hive's sketches by key; nothing if they are not asked for.

        Spark's histograms are those of a complete table.
        """
        from pyspark.sql import functions as F

        kinds = {name: kind for name, kind in self._kinds.items() if kind in histograms.HISTOGRAM_KINDS}
        if not self._histograms or not kinds:
            return {}, {}
        types = {each.name: each.dataType.typeName() for each in frame.schema}
        numbers = {
            name: histograms.number_of(F.col(backquoted(name)), kind, types[name]) for name, kind in kinds.items()
        }
        sketches = histograms.kll_sketches(frame, key, numbers, kinds) if self._timestamps else {}
        if not complete:
            return {}, sketches
        bins = int(self._spark.conf.get(histograms.BINS) or 254)
        bounds = histograms.quantiles(frame, numbers, bins)
        return {name: histograms.BinCounter(kinds[name], each) for name, each in bounds.items()}, sketches

    def _store_of_all_partitions(
        self,
        wanted: Sequence[Part],
        skipped: Sequence[Part],
        totals: Mapping[str, Summary],
        finished: Mapping[str, Histogram],
    ) -> None:
        """Writes what the table has of all partitions: those analyzed now, and the others as the metastore has them."""
        others = {each.name: each.parameters for each in skipped if each.name is not None}
        if self._selected is not None:
            now = {each.name for each in wanted}
            for partition in partitions_named(self._writer.client, self._writer.name, None):
                name = name_of(self._table, partition.values or ())
                if name not in now:
                    others[name] = partition.parameters or {}
        sketches = {name: each.sketch for name, each in totals.items() if each.sketch is not None}
        before = stored_sketches(self._table.parameters or {}) if others else {}
        if others:
            sketches = {name: each.merge([before[name]]) if name in before else each for name, each in sketches.items()}
        merged = self._with_others(totals, others)
        if merged is None:
            store_partitioned_table(self._writer, None, {}, sketches)
            return
        rows = self._rows + sum(int(each[NUM_ROWS]) for each in others.values())
        size = sum(each.files.size for each in wanted) + sum(int(each[TOTAL_SIZE]) for each in others.values())
        for name in before.keys() & sketches.keys():
            # The metastore does not return the sketches of the other partitions; that of the table covers them.
            merged[name] = replace(merged[name], sketch=sketches[name])
        spark = self._in_sparks_form(merged, finished)
        store_partitioned_table(self._writer, (rows, size), spark, sketches)

    def _with_others(
        self, totals: Mapping[str, Summary], others: Mapping[str, Mapping[str, str]]
    ) -> dict[str, Summary] | None:
        """The statistics of all partitions; None if one of the others has no accurate ones."""
        columns = [each.lower() for each in self._kinds]
        for parameters in others.values():
            accuracy = read_accuracy(parameters)
            counted = parameters.get(NUM_ROWS, "").isdigit() and parameters.get(TOTAL_SIZE, "").isdigit()
            if not counted or not accuracy.basic or not accuracy.columns.issuperset(columns):
                return None
        stored = self._writer.client.partition_statistics(self._writer.name, others, columns) if columns else {}
        merged = dict(totals)
        for name, kind in self._kinds.items():
            for part, parameters in others.items():
                stored_summary = stored.get(part, {}).get(name.lower())
                summary = None if stored_summary is None else from_hive(stored_summary, kind, int(parameters[NUM_ROWS]))
                if summary is None:
                    return None
                merged[name] = merged[name].merge(summary)
        return merged

    def _in_hives_form(self, gathered: Gathered, sketches: Mapping[str, bytes]) -> tuple[Any, ...]:
        converted = (
            to_hive(
                name,
                self._hive_types[name.lower()],
                summary,
                timestamps=self._timestamps,
                histogram=sketches.get(name),
            )
            for name, summary in gathered.columns.items()
            if name.lower() in self._hive_types
        )
        return tuple(each for each in converted if each is not None)

    def _in_sparks_form(
        self, totals: Mapping[str, Summary], finished: Mapping[str, Histogram]
    ) -> dict[str, ColumnStat]:
        return {name: to_spark(name, self._types[name], each, finished.get(name)) for name, each in totals.items()}


def _no_sketch(kind: Kind) -> HyperLogLog | None:
    """The sketch of no values."""
    return None if kind is Kind.BOOLEAN else HyperLogLog()
