"""Spark's predicates over partition columns. Pure."""
