"""Iceberg's REST catalog over a metastore: namespaces, tables, views and commits, without sockets.

    errors          errors in the specification's form
    routes          the endpoints, and the operation of a path
    requests        bodies, names and parameters of requests, checked
    schemas         columns: field ids, fresh ids, equality, Hive's columns
    specs           partition specs and sort orders
    metadata        metadata of tables: read and written
    new_tables      the metadata of new tables
    updates         updates of a commit, applied to metadata
    requirements    requirements of a commit
    view_metadata   the same for views
    definition      tables and views as Iceberg's Hive catalog stores them in a metastore
    files           metadata files, by the file systems of the warehouse
    catalog         the metastore in the session of a caller: look-ups, locks, conditional alters
    publishing      new metadata files, and the change that refers to them
    rights          privileges for changes that no single call of the metastore describes
    namespaces, tables, views, commits   the operations
    planning        which files a scan has to read
    serving         from a request to a response
    response_cache  a cache by the bytes of the metastore's replies, bounded
    repeated_loads, repeated_lists   responses to loads and lists of what has not changed, in such a cache

A table here is the table of the metastore. Its parameter `metadata_location` is the only pointer to its metadata, and a
commit is a conditional alter of that parameter, so writers by REST and by Thrift exclude each other. Metadata is kept
as plain JSON: fields that this package does not know survive. Nothing here loads a class, opens a host or reads a file
because a client or a metadata file names it: files are those of the table's own location.
"""
