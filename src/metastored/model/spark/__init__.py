"""Spark's tables in a Hive metastore: Spark's values and the properties that hold them, as pure functions.

Spark stores what Hive's structs cannot have (capitals, nullability, statistics of its own, bucketing, types that Hive
lacks) in the parameters of a table. The rules are those of Spark's HiveExternalCatalog. Nothing here needs Spark.

`types`         Spark's types and schemas, and their JSON
`type_strings`  types as text: for Hive's columns, in Spark's SQL, in a DDL
`schemas`       changes and comparisons of schemas
`hive_types`    Hive's types as Spark's, and back
`arrow`         schemas as Arrow schemas
`bulk`          many values at once
`values`        CatalogTable and its parts
`properties`    the parameters that Spark writes
`views`         the parameters that hold the context of a view
`statistics`    statistics as parameters; `histograms`: their histograms as text; `bounds`: their bounds
`converting`    Hive's Table to and from CatalogTable, as it is stored (raw)
`restoring`     a raw table as Spark's users see it
`reading`       any table of Hive's, as Spark reads it where Spark wrote it
`columns`       columns in Hive's words, and changes of them in the parameters
`creating`      the two forms in which Spark stores a data source table
`partitions`    specs and names, and Hive's Partition to and from CatalogTablePartition
"""
