"""Wrappers around a handler: authorization, audit, rate limits, read-only mode, metrics.

No wrapper lists methods by name: the method table says what a method does, its objects, and the privileges it needs.
"""
