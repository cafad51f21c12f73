"""Hive's vocabulary as pure functions: names, patterns, types, locations, snapshots, statistics.

Nothing here opens a file, a socket or a database, and nothing here imports another package of metastored.
"""
