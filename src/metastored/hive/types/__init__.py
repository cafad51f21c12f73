"""Hive type strings, and their forms in Spark and Arrow. Pure."""
