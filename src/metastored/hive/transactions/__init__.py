"""Conflicts of locks, and snapshots of transactions and write ids. Pure."""
