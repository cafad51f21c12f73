"""Plans one scan: reads the manifests of a snapshot and evaluates its filter on them.

Manifests are files that anybody may have written: each is read by the rules for the files of the table, with bounded
size, and a plan has bounded numbers of files, bytes and seconds. A response that becomes too large, or takes too long,
ends with a task for the rest. Partitions and statistics are evaluated by pyiceberg; where the statistics of a file
cannot be evaluated the file is part of the plan. Imports pyiceberg: import it late.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

import orjson
from pyiceberg.expressions import AlwaysTrue, BooleanExpression
from pyiceberg.expressions.visitors import (
    _InclusiveMetricsEvaluator,
    expression_evaluator,
    inclusive_projection,
    manifest_evaluator,
)
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import VoidTransform
from pyiceberg.typedef import Record
from pyiceberg.types import NestedField, UnknownType

from metastored.iceberg.catalog import Catalog, Loaded
from metastored.iceberg.errors import BadRequest, NoSuchPlanTask, Unsupported
from metastored.iceberg.metadata import by_id
from metastored.iceberg.planning.expressions import read_filter
from metastored.iceberg.planning.scan_tasks import Deletes, PartitionType, file_json, partition_values
from metastored.iceberg.planning.scans import Part, Scan, append_snapshots, token_of
from metastored.iceberg.requests import Json
from metastored.model.iceberg.avro import Broken
from metastored.model.iceberg.manifests import Entry, Manifest, entries, manifests

__all__ = ["Planner"]

MAX_TASKS: Final = 5_000
"""Files of a response."""
MAX_REPLY: Final = 16 * 1024 * 1024
"""Bytes of a response, about."""
MAX_DELETES: Final = 50_000
"""Delete files of a scan; they are all read for each response."""
MAX_DELETE_BYTES: Final = 64 * 1024 * 1024
MAX_PARTS: Final = 100
"""Tasks of a plan."""
SECONDS: Final = 30.0
"""After which a plan is refused."""
SECONDS_OF_REPLY: Final = 5.0
"""After which a response ends with the manifest that it is at."""
OFTEN: Final = 256
"""Entries between two looks at the clock."""
PLAN_IT: Final = "plan the scan on the client"


class _Spec(NamedTuple):
    """A partition spec with what the filter says about its partitions."""

    fields: PartitionType
    partitioned: bool
    manifest_matches: Callable[[Any], bool]
    partition_matches: Callable[[Any], bool]


class Planner:
    """The plan of one scan, for one request."""

    def __init__(self, catalog: Catalog, loaded: Loaded, scan: Scan) -> None:
        self._catalog = catalog
        self._loaded = loaded
        self._scan = scan
        self._location = (loaded.row.sd and loaded.row.sd.location) or ""
        self._began = time.monotonic()
        schema = by_id(loaded.metadata["schemas"], "schema-id", scan.schema)
        assert schema is not None
        self._schema: Schema = self._modelled(Schema, schema)
        self._filter: BooleanExpression = AlwaysTrue()
        if scan.filter is not None:
            self._filter = read_filter(scan.filter, self._schema, scan.case_sensitive)
        self._filter_size = len(orjson.dumps(scan.filter))
        self._metrics = _InclusiveMetricsEvaluator(self._schema, self._filter, scan.case_sensitive)
        self._specs: dict[int, _Spec] = {}
        self._columns = dict(map(self._column, scan.stats))
        self._appends = append_snapshots(scan, loaded.metadata)
        self._appended = {each["snapshot-id"] for each in self._appends}

    def plan(self) -> Json:
        """The files of a small scan, or the tasks of a larger one."""
        data = self._data_manifests
        matching = [(at, each) for at, each in enumerate(data) if self._may_match(each)]
        # Counts may be wrong: then a response ends with a task for the rest.
        files = sum(max(1, each.files) for _, each in matching)
        if files <= MAX_TASKS:
            return self.tasks(Part(0, 0, len(data))) if matching else {}
        most = max(MAX_TASKS, files // MAX_PARTS)
        ends, number = [], 0
        for at, each in matching:
            if number and number + max(1, each.files) > most:
                ends.append(at)
                number = 0
            number += max(1, each.files)
        starts = [0, *ends]
        parts = [Part(first, 0, end) for first, end in zip(starts, [*ends, len(data)], strict=True)]
        return {"plan-tasks": [token_of(self._scan, part, self._loaded.metadata) for part in parts]}

    def tasks(self, part: Part) -> Json:
        """The files of a part of the scan, and the task for the rest if there is one. Raises NoSuchPlanTask."""
        data = self._data_manifests
        if part.end > len(data):
            raise NoSuchPlanTask("the plan-task has more manifests than its snapshot")
        reply = _Reply(self._scan.filter, self._filter_size, self._columns)
        deletes = self._deletes()
        for at in range(part.first, part.end):
            if not self._may_match(data[at]):
                continue
            if at > part.first and time.monotonic() - self._began > SECONDS_OF_REPLY:
                return self._with_rest(reply, Part(at, 0, part.end))
            skipped = part.entry if at == part.first else 0
            for number, (entry, spec, values) in enumerate(self._matching(data[at])):
                if number < skipped or not self._has_rows(entry):
                    continue
                if reply.is_full:
                    return self._with_rest(reply, Part(at, number, part.end))
                reply.add(entry, spec.fields, values, deletes.of(entry, values))
        return reply.json

    def _with_rest(self, reply: _Reply, rest: Part) -> Json:
        return {**reply.json, "plan-tasks": [token_of(self._scan, rest, self._loaded.metadata)]}

    # --- manifests ---

    @cached_property
    def _manifests(self) -> list[Manifest]:
        snapshots = self._appends
        if self._scan.start is None:
            chosen = by_id(self._loaded.metadata["snapshots"], "snapshot-id", self._scan.snapshot)
            assert chosen is not None
            return self._listed(chosen)
        unique = {
            each.path: each
            for snapshot in snapshots
            for each in self._listed(snapshot)
            if not each.deletes and each.added_snapshot_id in self._appended
        }
        return list(unique.values())

    @cached_property
    def _data_manifests(self) -> list[Manifest]:
        return [each for each in self._manifests if not each.deletes]

    def _listed(self, snapshot: Json) -> list[Manifest]:
        self._check_time()
        location = snapshot.get("manifest-list")
        if not isinstance(location, str):
            raise Unsupported(f"the snapshot {snapshot['snapshot-id']} has no manifest list: {PLAN_IT}")
        try:
            return manifests(self._read(location))
        except Broken as error:
            raise BadRequest(f"the manifest list {location[:1000]} cannot be used: {error}") from None

    def _read(self, location: str) -> bytes:
        self._catalog.check_file(self._loaded.name, self._location, location)
        return self._catalog.files.read_manifest(location)

    def _may_match(self, manifest: Manifest) -> bool:
        self._check_time()
        try:
            return self._spec(manifest.spec_id).manifest_matches(manifest)
        except (BadRequest, Unsupported):
            raise
        except Exception:
            return True  # Its summaries are not those of its spec: they are only hints.

    def _matching(self, manifest: Manifest) -> Iterator[tuple[Entry, _Spec, tuple[Any, ...]]]:
        """The entries of a manifest whose partitions may have rows of the scan."""
        spec, data = self._spec(manifest.spec_id), self._read(manifest.path)
        try:
            for number, entry in enumerate(entries(data, manifest)):
                if number % OFTEN == 0:
                    self._check_time()
                if self._scan.start is not None and not (entry.added and entry.snapshot_id in self._appended):
                    continue
                values = partition_values(entry.file, spec.fields)
                if spec.partition_matches(Record(*values)):
                    yield entry, spec, values
        except Broken as error:
            raise BadRequest(f"the manifest {manifest.path[:1000]} cannot be used: {error}") from None

    def _has_rows(self, entry: Entry) -> bool:
        try:
            return self._metrics.eval(entry.file)  # type: ignore[arg-type]
        except Exception:
            return True  # Statistics that are not of the types of their columns are only hints.

    def _deletes(self) -> Deletes:
        deletes, number, size = Deletes(), 0, 0
        for manifest in self._manifests:
            if not manifest.deletes or not self._may_match(manifest):
                continue
            for entry, spec, values in self._matching(manifest):
                number += 1
                size += len(entry.file.file_path)
                if number > MAX_DELETES or size > MAX_DELETE_BYTES:
                    raise Unsupported(f"the scan has more than {MAX_DELETES:,} delete files: {PLAN_IT}, or compact it")
                json = file_json(entry, spec.fields, values, {})
                deletes.add(entry, values, json, partitioned=spec.partitioned)
        return deletes

    def _check_time(self) -> None:
        if time.monotonic() - self._began > SECONDS:
            raise Unsupported(f"the scan was not planned within {SECONDS:g} s: {PLAN_IT}")

    # --- the table ---

    def _spec(self, id: int) -> _Spec:
        spec = self._specs.get(id)
        if spec is None:
            spec = self._specs[id] = self._read_spec(id)
        return spec

    def _read_spec(self, id: int) -> _Spec:
        json = by_id(self._loaded.metadata["partition-specs"], "spec-id", id)
        if json is None:
            raise BadRequest(f"a manifest has the partition spec {id}, which the table has not")
        spec, case_sensitive = self._modelled(PartitionSpec, json), self._scan.case_sensitive
        try:
            fields = [self._partition_field(spec, at) for at in range(len(spec.fields))]
            projected = inclusive_projection(self._schema, spec, case_sensitive)(self._filter)
            return _Spec(
                [(each.field_id, each.field_type) for each in fields],
                not all(isinstance(each.transform, VoidTransform) for each in spec.fields),
                manifest_evaluator(spec, self._schema, projected, case_sensitive),
                expression_evaluator(Schema(*fields), projected, case_sensitive),
            )
        except (TypeError, ValueError, NotImplementedError) as error:
            raise Unsupported(f"the partition spec {id} cannot be evaluated: {error}; {PLAN_IT}"[:1000]) from None

    def _partition_field(self, spec: PartitionSpec, at: int) -> NestedField:
        """A field of a spec with its type; that of a column that was dropped is in an earlier schema."""
        field = spec.partition_type(self._schema).fields[at]
        for json in reversed(self._loaded.metadata["schemas"]):
            if not isinstance(field.field_type, UnknownType):
                break
            field = spec.partition_type(self._modelled(Schema, json)).fields[at]
        return NestedField(field.field_id, field.name, field.field_type, required=False)

    def _column(self, name: str) -> tuple[int, Any]:
        try:
            field = self._schema.find_field(name, self._scan.case_sensitive)
        except ValueError:
            raise BadRequest(f"stats-fields has the column {name[:100]!r}, which the schema has not") from None
        return field.field_id, field.field_type

    def _modelled(self, kind: Any, json: Json) -> Any:
        try:
            return kind.model_validate(json)
        except (TypeError, ValueError, NotImplementedError):
            raise Unsupported(
                f"{self._loaded.name} has a schema or partition spec that pyiceberg does not know: {PLAN_IT}"
            ) from None


class _Reply:
    """A response that is made: tasks, and each of their delete files once."""

    def __init__(self, filter: Any, filter_size: int, columns: dict[int, Any]) -> None:
        self._filter = filter
        self._weight = 500 + filter_size + 100 * len(columns)
        self._columns = columns
        self._tasks: list[Json] = []
        self._deletes: list[Json] = []
        self._numbers: dict[int, int] = {}
        self._size = 0

    @property
    def is_full(self) -> bool:
        return len(self._tasks) >= MAX_TASKS or self._size > MAX_REPLY

    def add(self, entry: Entry, fields: PartitionType, values: tuple[Any, ...], deletes: list[Json]) -> None:
        task: Json = {"data-file": file_json(entry, fields, values, self._columns)}
        if deletes:
            task["delete-file-references"] = [self._number(each) for each in deletes]
        if self._filter is not None:
            # The whole filter is always right; without one pyiceberg would count the rows of the whole file.
            task["residual-filter"] = self._filter
        self._tasks.append(task)
        self._size += self._weight + len(entry.file.file_path) + 8 * len(deletes)

    def _number(self, delete: Json) -> int:
        number = self._numbers.get(id(delete))
        if number is None:
            number = self._numbers[id(delete)] = len(self._deletes)
            self._deletes.append(delete)
            self._size += 500 + len(delete["file-path"])
        return number

    @property
    def json(self) -> Json:
        response: Json = {"file-scan-tasks": self._tasks}
        return {**response, "delete-files": self._deletes} if self._deletes else response
