"""The database itself: connections, transactions, statements, schema and migrations."""
