"""Commands to use a metastore, as `ls` and `show`; `sql` has a package of its own."""
