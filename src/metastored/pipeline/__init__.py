"""Pipelines: steps in a file that copy, change, analyze and compact tables of a metastore, with Spark.

    pipeline, parameters = metastored.pipeline.prepared(text, "daily.yml", {"date": "2024-01-01"})

`metastored pipeline run FILE.yml` is the usual way to run one. Reading, checking, ordering and drawing need neither
Spark nor a metastore. Importing this package does not import pyspark.
"""

from __future__ import annotations

from metastored.pipeline.drawing import as_svg, as_text
from metastored.pipeline.model import Pipeline, Step
from metastored.pipeline.planning import prepared
from metastored.pipeline.reading import read

__all__ = ["Pipeline", "Step", "as_svg", "as_text", "prepared", "read"]
