"""The tables and queries of TPC-H, for ACID tables on Spark and for DuckDB."""
