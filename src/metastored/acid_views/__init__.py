"""ACID tables for clients that cannot read them: each is shown as a view over the files of one snapshot."""
