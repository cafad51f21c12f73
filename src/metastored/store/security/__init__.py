"""The rows of users, roles, grants, tokens and rate counters."""
