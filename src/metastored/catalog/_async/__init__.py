"""The catalog, asynchronous: the source from which `tools/unasync.py` makes `_sync`."""
