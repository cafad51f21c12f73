"""Tables, views, constraints and indexes: one function per Thrift method."""
