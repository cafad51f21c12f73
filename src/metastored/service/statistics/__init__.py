"""Column statistics and basic statistics: one function a Thrift method."""
