"""Catalogs, databases and functions: one function per Thrift method."""
