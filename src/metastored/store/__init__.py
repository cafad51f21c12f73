"""The database and the warehouse's directories. This room never knows a Thrift method: bodies are opaque
bytes.

Start at `database.Database.open`; the aggregates (`catalogs`, `databases`, `tables`, …) are plain functions
that take a transaction first. Nothing is opened when a module is imported, so worker processes may be forked
after that.
"""
