"""The directories of the warehouse, and the rows of the jobs on them."""
