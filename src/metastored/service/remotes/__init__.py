"""Remote catalogs, databases and tables in the store: made, changed and dropped by the ordinary calls.

    definitions.py   reads all definitions, and caches them with the store's version
    defining.py      what parameters define, checked and sealed; what an ALTER changes
    databases.py     remote databases
    tables.py        remote tables
    catalogs.py      remote catalogs

Nothing here calls a remote: `remotes/` does.
"""
