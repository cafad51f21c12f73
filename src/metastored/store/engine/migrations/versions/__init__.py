"""One file per revision, named by its number. A released one never changes again."""
