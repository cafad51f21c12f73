"""Iceberg tables and catalogs as a connector."""
