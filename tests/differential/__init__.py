"""The same questions to metastored and to a real Hive in the same run, and their answers compared line by line."""
