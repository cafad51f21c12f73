# Made by tools/unasync.py from _async/__init__.py: DO NOT EDIT.
"""The catalog, synchronous: made from `_async`."""
