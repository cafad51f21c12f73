"""The three protocols, binary, compact and JSON: structs and messages to bytes and back.

`compiler.py` compiles the functions of a struct. `binary.py`, `compact.py` and `tjson.py` encode values, and
`*_protocol.py` messages.
"""
