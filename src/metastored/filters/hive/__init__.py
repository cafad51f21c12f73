"""Partition filters, table filters and serialized expressions. Pure."""
