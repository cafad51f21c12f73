"""Bytes and messages, without I/O: codecs, the method table, connections, and the one interface, `Handler`."""
