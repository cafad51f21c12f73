"""Column statistics and basic statistics: one function per Thrift method."""
