"""Transactions, write ids, locks and compactions: one function a Thrift method."""
