"""The history of the schema, for Alembic: one file per revision in `versions`, and `env`, which Alembic runs."""
