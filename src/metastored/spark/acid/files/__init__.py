"""The files of a transactional table: those of a snapshot, and new ones, staged by Spark and published."""
