"""Catalogs, databases and functions: one function a Thrift method."""
