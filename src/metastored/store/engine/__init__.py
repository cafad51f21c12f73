"""The database itself: connections, transactions, statements, schema and migrations. It knows no table's meaning."""
