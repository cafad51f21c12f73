"""The metastore service: one file a topic, one function a Thrift method, named as the method. It opens no socket."""
