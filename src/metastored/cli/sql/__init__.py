"""The command `sql`: its prompt, its results, and what executes the statements."""
