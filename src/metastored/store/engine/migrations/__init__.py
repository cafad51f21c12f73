"""The history of the schema, for Alembic: a file a revision in `versions`, and `env`, which Alembic runs."""
