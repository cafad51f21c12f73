"""Partitions: one function per Thrift method."""
