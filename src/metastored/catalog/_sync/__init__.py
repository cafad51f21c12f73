# Made by tools/unasync.py from _async/__init__.py: DO NOT EDIT.
"""The asynchronous catalog, from which `tools/unasync.py` generates `_sync`."""
