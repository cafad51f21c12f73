"""Limits on what metastored accepts from a peer. A claimed size is checked against these and never allocated."""

from __future__ import annotations

from typing import Final

MAX_MESSAGE: Final = 100 * 1024 * 1024
"""One message, as `hive.metastore.server.max.message.size` has it."""
MAX_REPLY: Final = 2**31 - 1
"""One reply to a client: it requested the data, and a list of a million partitions is longer than any request."""
MAX_NAME: Final = 1024
"""A method name; the longest of the API has 49 characters."""
MAX_DEPTH: Final = 64
"""Structs and containers inside each other; the API itself needs 9."""
MEMO_LIMIT: Final = 256 * 1024
"""The largest run of bytes a codec keeps to recognise its repetition."""
GATHERED: Final = 16 * 1024
"""Bytes of a struct up to which the parts of its encoding are gathered in a list: faster, and more memory."""
