"""Files of Iceberg tables as values, read from bytes that anybody may have written: Avro, and manifests. Pure."""
