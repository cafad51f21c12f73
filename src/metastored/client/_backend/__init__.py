"""Two ways to wait, with the same names: `aio` in an event loop, `threads` in the caller's thread.

The modules above them are written once, for `aio`; `tools/unasync.py` generates their synchronous form.
"""
