"""Basic statistics in parameters, and estimates of distinct values. Pure."""
