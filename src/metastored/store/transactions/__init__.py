"""The rows of transactions, write ids, locks and compactions."""
