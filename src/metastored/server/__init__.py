"""Sockets, TLS, authentication, limits, workers and lifecycle, around one handler. Independent of the catalog."""
