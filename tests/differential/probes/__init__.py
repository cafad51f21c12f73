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
    filters,
    functions,
    partitions,
    requests,
    roles,
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
}
