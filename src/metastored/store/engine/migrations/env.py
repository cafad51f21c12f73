"""Run by Alembic: migrate on the connection that `metastored.store.engine.migrate` hands over, in its transaction."""

from alembic import context

from metastored.store.engine.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite cannot alter most things of a table, so Alembic copies it. Its DDL is transactional, though.
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
