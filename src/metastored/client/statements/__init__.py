"""metastored's statements as structs of the metastore's API, and structs as statements and rows. Pure.

`_async/statements.py` executes them; the grammar is in `metastored.statements`. `values.py` has what the others share,
`new_tables.py` and `changed_tables.py` make and change structs, `create_table.py`, `descriptions.py` and `formatted.py`
print them.
"""
