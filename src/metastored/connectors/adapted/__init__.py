"""Catalogs that are not metastores, adapted to the calls of a metastore."""
