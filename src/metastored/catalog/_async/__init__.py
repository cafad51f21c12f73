"""The asynchronous catalog, from which `tools/unasync.py` generates `_sync`."""
