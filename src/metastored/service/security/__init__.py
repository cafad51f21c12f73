"""Privileges, roles and delegation tokens. They are stored here and enforced in `gate/`."""
