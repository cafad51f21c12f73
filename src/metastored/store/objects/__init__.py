"""The rows of catalogs, databases, tables, partitions, functions, constraints, statistics, documents and events."""
