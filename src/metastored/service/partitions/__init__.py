"""Partitions: one function a Thrift method."""
