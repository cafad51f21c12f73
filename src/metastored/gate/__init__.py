"""Handlers around a handler: who may do what, who did what, how often, and whether anything may change at all.

Nothing here knows a method by name: the method table says what a method does, to what, and what that takes.
"""
