"""The database and the warehouse's directories. No Thrift method is known in this package: bodies are opaque bytes.

Start at `database.Database.open`; the aggregates (`catalogs`, `databases`, `tables`, …) are plain functions
that take a transaction first. Nothing is opened when a module is imported, so worker processes may be forked
after that.
"""
