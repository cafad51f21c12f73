"""Copies to tables that have commits of their own: one commit replaces all rows. Here are ACID tables and Lance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metastored.client._sync.client import Client
from metastored.hive.locations import join
from metastored.model.acid import is_insert_only
from metastored.spark.copying.checksums import checksum
from metastored.spark.copying.delta import to_delta
from metastored.spark.copying.iceberg import to_iceberg
from metastored.spark.copying.planning import CopyPlan
from metastored.spark.copying.reading import frame_of
from metastored.spark.copying.results import CopyResult
from metastored.spark.copying.staging import mark_parameters, observed, observed_checksum, size_of, verify
from metastored.spark.files import files_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def copy_whole(spark: Any, client: Client, plan: CopyPlan) -> CopyResult:
    """Replaces the target by the rows of the source, if the source has changed."""
    if not plan.changed:
        return CopyResult(plan.source, plan.target, 0, 0, unchanged=True)
    frame = frame_of(spark, client, plan.source)
    if plan.transactional:
        return _to_acid(spark, client, plan, frame)
    if plan.format == "lance":
        return _to_lance(spark, client, plan, frame)
    return to_iceberg(spark, client, plan, frame) if plan.format == "iceberg" else to_delta(spark, client, plan, frame)


# --- ACID tables -------------------------------------------------------------------------------------------


def _to_acid(spark: Any, client: Client, plan: CopyPlan, frame: DataFrame) -> CopyResult:
    """One transaction replaces all rows by those of the source. It is committed if it reads the same rows."""
    from metastored.spark import acid

    watched, observation = observed(frame)
    with acid.transaction(spark, client) as transaction:
        if plan.existing is not None and is_insert_only(plan.existing.parameters):
            transaction.insert_overwrite(plan.target, watched)
        else:
            transaction.delete(plan.target)
            transaction.insert(plan.target, watched)
        expected = observed_checksum(frame, observation)
        written = transaction.read(plan.target).select(*(f"`{name}`" for name in frame.columns))
        verify(str(plan.source), expected, checksum(written))
    client.set_parameters(plan.target, mark_parameters(plan, expected))
    return CopyResult(plan.source, plan.target, expected.rows, 0)


# --- Lance -------------------------------------------------------------------------------------------------


def _to_lance(spark: Any, client: Client, plan: CopyPlan, frame: DataFrame) -> CopyResult:
    """One version. A version that is not equal to its source stays without a mark, and the error says so."""
    from metastored.spark.lance import read, write

    watched, observation = observed(frame)
    write(watched, plan.target, mode="overwrite")
    expected = observed_checksum(frame, observation)
    written = read(spark, plan.target)
    columns = [written[field.name].cast(field.dataType).alias(field.name) for field in frame.schema.fields]
    verify(str(plan.source), expected, checksum(written.select(*columns)))
    client.set_parameters(plan.target, mark_parameters(plan, expected))
    location = client.fresh_table(plan.target).sd.location  # type: ignore[union-attr]
    size = size_of(files_of(spark, location or ""), join(location or "", "data"))[1] if location else 0
    return CopyResult(plan.source, plan.target, expected.rows, size)
