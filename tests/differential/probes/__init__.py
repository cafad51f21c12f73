"""The questions, one file a topic; each exports a SCRIPT."""

from collections.abc import Sequence
from typing import Final

from tests.differential.probes import (
    acid,
    alter_table,
    catalogs,
    changing_partitions,
    column_statistics,
    constraints,
    databases,
    events,
    filters,
    functions,
    hive_4_acid,
    hive_4_documents,
    hive_4_objects,
    indexes,
    partitions,
    requests,
    resource_plans,
    rest,
    roles,
    schema_registry,
    service,
    spark,
    tables,
    views,
)
from tests.differential.script import Probe

TOPICS: Final[dict[str, Sequence[Probe]]] = {
    "spark": spark.SCRIPT,
    "service": service.SCRIPT,
    "databases": databases.SCRIPT,
    "tables": tables.SCRIPT,
    "alter_table": alter_table.SCRIPT,
    "partitions": partitions.SCRIPT,
    "changing_partitions": changing_partitions.SCRIPT,
    "filters": filters.SCRIPT,
    "functions": functions.SCRIPT,
    "views": views.SCRIPT,
    "catalogs": catalogs.SCRIPT,
    "roles": roles.SCRIPT,
    "column_statistics": column_statistics.SCRIPT,
    "constraints": constraints.SCRIPT,
    "acid": acid.SCRIPT,
    "requests": requests.SCRIPT,
    "indexes": indexes.SCRIPT,
    "resource_plans": resource_plans.SCRIPT,
    "schema_registry": schema_registry.SCRIPT,
    "hive_4_documents": hive_4_documents.SCRIPT,
    "rest": rest.SCRIPT,
    "events": events.SCRIPT,
    "hive_4_objects": hive_4_objects.SCRIPT,
    "hive_4_acid": hive_4_acid.SCRIPT,
}
