"""Catalogs that are no metastores, adapted to the calls of a metastore."""
