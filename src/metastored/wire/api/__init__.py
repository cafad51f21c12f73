"""The API files: the only description of the metastore's API, one TOML file a topic.

    [enum.LockState]             names and numbers; {value, in} where a version range matters
    [struct.Database]
    fields = ["1 string name required @db in=3.1+", …]    id type name, then required, default=, @role, in=
    union = true                 a Thrift union: exactly one field is set
    was_when = "2 string"        an older layout, recognised by this field's type on the wire …
    was = ["1 i64 txnid", …]     … and its fields, read into the same names
    [method.get_table]
    args, returns, throws        as in Thrift; returns = "list<string> @table" where the result itself has a role;
                                 throws_in for versions whose exception ids differ. A struct among the arguments must
                                 be set, unless it is `optional`: then the method itself defines what its absence means
    in = "2.3-4.0.0"             the versions that have it; all when absent
    doc = "Returns a table."     what it does, one sentence; for the client's docstrings and the reference

`tools/generate.py` turns these files into Python, `tools/check_api.py` holds them to what follows.

Roles of fields, arguments and results: what a string or an id identifies.

    cat          a catalog                           view_text    the SQL text of a view
    db           a database; as an argument it may   location     a URI of data, code or a file
                 carry a catalog: "@cat#db"          txn_id       a transaction of this metastore
    table        a table or view                     lock_id      a lock of this metastore
    full_name    "db.table"                          user         a principal: user, group or role
    part_name    a partition, "ds=1/h=2"             secret       a credential: never in a log or an
    part_values  one value of a partition                         audit line (tokens, keys, connector URLs)
    function     a function                          relative_location  a path below the location of the struct
    pattern      a pattern of databases, tables or                      around it
                 functions                           table_id     a table of this metastore, by its number
    connector    a data connector                    limit        how many are returned at most
    table_type   MANAGED_TABLE, EXTERNAL_TABLE, VIRTUAL_VIEW …, of a table that is returned
    name         anything else that has a name: a constraint, an index, a schema, a procedure, a plan …;
                 it is neither routed nor renamed

A role is set on a string, a binary, a number, on a list or set of these, or on a map with string keys. On a list or
set it is the role of each element, on a map of each key; never of a map's values. A name that means something only
in another metastore (`remote_dbname`, the transaction ids of a replication source) has no role: it is neither routed
nor renamed. Text that merely contains names (filters, lists of valid write ids, messages of notifications) has none.

The attributes of a method:

    verb        read        changes nothing
                write       changes what objects contain: partitions, statistics, write ids, events
                ddl         changes what objects are: creates, alters, drops
                grant       changes roles and privileges
                admin       keeps the service itself going: compaction workers, resource plans, key stores
                session     is about the caller's own session: identity, settings, tokens, transactions and locks;
                            a reader needs these too, so a read-only server allows them
    object      what it is about, a singular noun (OBJECTS in tools/check_api.py)
    cost        point (one row by its key, or none), scan (many rows), write (anything is written, a heartbeat too)
    route       local       never sent to a remote. The definition of a remote database is a local object: creating,
                            altering and dropping one is local
                names       the exact names in its arguments decide. If they have several owners, each gets a call for
                            its own names, and `merge` says how the replies are combined
                pattern     a listing: of the objects in its @db; without a @db, of those in the databases that match
                            its first @pattern. The call is sent to local and to each remote that can match
                all         local and every remote
                id          the metastore that issued the @txn_id or @lock_id in its arguments
    merge       of several replies: none (there is one), concat (a list, or the lists in a struct), sorted_union
                (names, each once), sum
    retry       safe        a repeat does no harm
                lookup      a repeat would fail or write twice, but a read shows whether the first took effect
                never       neither
    privileges  what the caller needs, all of them, separated by commas:
                "select table", insert, update, delete      that privilege on each table named; "insert|update table":
                                                            one of them
                "select schema", package, procedure         SELECT on each database named
                "select connector"                          ownership of, or SELECT on, each connector named
                "own transaction", "own lock"               to be the user that opened each one in the arguments
                "alter table", "drop table"                 ownership of it, or of the database, schema … named
                "create table"                              ownership of what it is created in; for a database or a
                                                            connector, the right to create one
                "grant role", "grant privilege"             the admin or grant option on what is granted
                "use location"                              to read and write each @location in the arguments
                "admin"                                     the admin role
                "admin with a|b"                            the admin role, if the request has one of these fields
                "service"                                   to be one of admin_users or service_users, authenticated
                                                            and not by a delegation token. This is enforced
                                                            whatever `authorization` is
                empty: nothing. Objects of listings are not checked one by one
    event       the kinds of notification it writes; several are separated by spaces, each written where it applies
    hook        the few methods that no table can describe:
                lock            its components may belong to several owners; the locked objects decide
                snapshot        write ids are read under the transaction list of the metastore that owns the table
                notifications   names are also in the text of the messages
                grants          what is needed depends on the objects and principals in the request
                filter          objects that the caller may not see are omitted from the returned list
                definitions     the list of remotes among its namespaces is for everybody, filtered likewise
                txn_range       all transactions between two numbers are meant: they are kept alive
                check           returns whether a lock is held, and keeps it alive
                heartbeat       keeps a lock or a transaction alive
                end             ends locks or transactions
    changes_with  fields of a request by which a session method changes objects: a read-only server refuses them
"""
