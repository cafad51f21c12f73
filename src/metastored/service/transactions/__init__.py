"""Transactions, write ids, locks and compactions: one function per Thrift method."""
