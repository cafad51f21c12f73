"""The rows of a transactional table as DataFrames: scans at a snapshot, values to be stored, changes as events."""
