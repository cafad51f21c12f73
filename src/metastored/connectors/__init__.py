"""Other catalogs as handlers: each answers calls of the metastore's API from somewhere else, under its own names."""
