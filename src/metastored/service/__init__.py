"""The metastore service: one module per topic, one function per Thrift method, with the method's name.

It opens no socket.
"""
