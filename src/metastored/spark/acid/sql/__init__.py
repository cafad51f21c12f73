"""SQL on ACID tables: which tables a statement names, a plan of what to do, and its execution with Spark.

sqlglot parses the statements, in its Spark dialect. The parts of a statement that Spark executes are cut out of the
statement's own text, never generated from sqlglot's tree: Spark gets what the user wrote.
"""

# Raises MissingExtra without sqlglot, before a module of this package imports it.
import metastored.spark.source  # noqa: F401
