"""Tables, views, constraints and indexes: one function a Thrift method."""
