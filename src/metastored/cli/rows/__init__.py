"""Commands for rows, on Spark: `pipeline`, `compact`."""
