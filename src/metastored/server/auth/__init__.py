"""Authentication: SASL mechanisms of the Thrift port, and the ways of HTTP."""
