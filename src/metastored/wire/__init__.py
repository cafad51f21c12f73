"""Bytes and messages, without I/O: codecs, the method table, connections, and the one interface, `Handler`.

`message.py` is the interface between the packages; `types.py` and `structs.py` are the vocabulary of the API, and
`methods/` its method table. `codec/` reads and writes structs, `edit/` changes bytes without decoding them, `replies/`
decodes long replies in pieces or in part. `connection.py` and `exchange.py` use all of them.
"""
