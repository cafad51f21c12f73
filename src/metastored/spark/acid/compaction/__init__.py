"""Compaction of transactional tables: the initiator requests it, workers run it on Spark, the cleaner removes files.

The queue is the metastore's: any client may request a compaction, and workers of Hive and of metastored may share it.
Importing this package does not import pyspark.
"""
