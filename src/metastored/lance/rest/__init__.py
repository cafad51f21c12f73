"""Lance's REST namespace over any `LanceNamespace`: HTTP requests to calls of its methods, results to responses.

Nothing here opens a socket; the server's `http/lance.py` serves it. `operations` and `routes` are pure tables; the
other modules import lance_namespace.
"""

from __future__ import annotations

__all__: list[str] = []
