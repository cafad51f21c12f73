"""Objects that Hive only stores and finds again by name: resource plans, schemas, queries, connectors."""
