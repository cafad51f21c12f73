"""Two ways to wait, with the same names: `aio` in an event loop, `threads` in the caller's thread.

Everything above them is written once, for `aio`; `tools/unasync.py` makes the other half.
"""
