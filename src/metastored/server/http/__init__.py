"""The HTTP port: routes, connections, and Thrift over HTTP."""
