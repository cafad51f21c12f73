"""Modules that the service's packages share: the context of a call, stored rows, changes, conflicts, directories."""
