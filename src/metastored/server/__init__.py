"""Sockets, TLS, proof of identity, limits, workers and lifecycle. It is given one handler and knows no table."""
