"""The same calls to metastored and to a real Hive in the same run; their replies are compared line by line."""
