"""Remotes: catalogs, databases and tables of other metastores under local names. Values and rules only: all is pure.

Start at `values.py`. What each key of a definition means is in `key_table.py`; `service/remotes` stores definitions,
`remotes/` answers calls by them, and `connectors/` connects.
"""
