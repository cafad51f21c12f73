"""The directories of the warehouse, and the rows of what is still to be done to them."""
