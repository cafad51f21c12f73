"""One file a revision, named by its number. A released one never changes again."""
