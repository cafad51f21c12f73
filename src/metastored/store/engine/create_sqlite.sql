-- Written by tools/create_tables.py from schema.py, which says what the columns are for. Do not edit.

CREATE TABLE catalogs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    fmt INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (name)
);

CREATE TABLE compaction_metrics (
    cat TEXT NOT NULL,
    db TEXT NOT NULL,
    tbl TEXT NOT NULL,
    part TEXT NOT NULL,
    type INTEGER NOT NULL,
    value INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (cat, db, tbl, part, type)
)
 WITHOUT ROWID;

CREATE TABLE compactions (
    id INTEGER NOT NULL,
    cat TEXT NOT NULL,
    db TEXT NOT NULL,
    tbl TEXT NOT NULL,
    part TEXT,
    state TEXT NOT NULL,
    type INTEGER NOT NULL,
    properties TEXT,
    worker_id TEXT,
    worker_version TEXT,
    initiator_id TEXT,
    initiator_version TEXT,
    start BIGINT,
    "end" BIGINT,
    run_as TEXT,
    highest_write_id BIGINT,
    hadoop_job_id TEXT,
    error_message TEXT,
    enqueue_time BIGINT,
    retry_retention BIGINT NOT NULL,
    cleaner_start BIGINT,
    next_txn_id BIGINT,
    txn_id BIGINT,
    commit_time BIGINT,
    pool TEXT,
    buckets INTEGER,
    order_by TEXT,
    PRIMARY KEY (id)
);

CREATE INDEX compactions_name ON compactions (cat, db, tbl);

CREATE INDEX compactions_queue ON compactions (state, id) WHERE state IN ('i', 'w', 'r');

CREATE INDEX compactions_txn ON compactions (txn_id) WHERE txn_id IS NOT NULL;

CREATE TABLE completed_components (
    txn_id BIGINT NOT NULL,
    cat TEXT NOT NULL,
    db TEXT NOT NULL,
    tbl TEXT,
    part TEXT,
    write_id BIGINT,
    update_delete INTEGER NOT NULL,
    time BIGINT NOT NULL
);

CREATE INDEX completed_components_name ON completed_components (cat, db, tbl, write_id);

CREATE INDEX completed_components_txn ON completed_components (txn_id);

CREATE TABLE counters (
    name TEXT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE events (
    id INTEGER NOT NULL,
    time BIGINT NOT NULL,
    type TEXT NOT NULL,
    cat TEXT,
    db TEXT,
    tbl TEXT,
    fmt INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE locks (
    ext_id INTEGER NOT NULL,
    int_id INTEGER NOT NULL,
    txn_id BIGINT NOT NULL,
    cat TEXT NOT NULL,
    db TEXT NOT NULL,
    tbl TEXT,
    part TEXT,
    state INTEGER NOT NULL,
    type INTEGER NOT NULL,
    heartbeat BIGINT NOT NULL,
    acquired BIGINT,
    user_name TEXT NOT NULL,
    host TEXT NOT NULL,
    agent TEXT,
    blocked_ext BIGINT,
    blocked_int INTEGER,
    opened_by TEXT,
    PRIMARY KEY (ext_id, int_id)
)
 WITHOUT ROWID;

CREATE INDEX locks_name ON locks (cat, db, tbl);

CREATE INDEX locks_txn ON locks (txn_id);

CREATE TABLE master_keys (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "key" TEXT NOT NULL
);

CREATE TABLE meta (
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY ("key")
);

CREATE TABLE min_history (
    txn_id BIGINT NOT NULL,
    cat TEXT NOT NULL,
    db TEXT NOT NULL,
    tbl TEXT NOT NULL,
    write_id BIGINT NOT NULL
);

CREATE INDEX min_history_name ON min_history (cat, db, tbl);

CREATE INDEX min_history_txn ON min_history (txn_id);

CREATE TABLE rate_counters (
    principal TEXT NOT NULL,
    minute BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    PRIMARY KEY (principal, minute)
);

CREATE INDEX rate_counters_minute ON rate_counters (minute);

CREATE TABLE rebuild_locks (
    cat TEXT NOT NULL,
    db TEXT NOT NULL,
    tbl TEXT NOT NULL,
    txn_id BIGINT NOT NULL,
    heartbeat BIGINT NOT NULL,
    PRIMARY KEY (cat, db, tbl)
)
 WITHOUT ROWID;

CREATE TABLE remote_leases (
    id INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    txn_id BIGINT NOT NULL,
    lock_id BIGINT NOT NULL,
    remote_txn BIGINT NOT NULL,
    remote_lock BIGINT NOT NULL,
    snapshot TEXT NOT NULL,
    user_name TEXT NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX remote_leases_lock ON remote_leases (lock_id);

CREATE INDEX remote_leases_txn ON remote_leases (txn_id);

CREATE TABLE replicated_txns (
    policy TEXT NOT NULL,
    source BIGINT NOT NULL,
    target BIGINT NOT NULL,
    PRIMARY KEY (policy, source)
)
 WITHOUT ROWID;

CREATE INDEX replicated_txns_target ON replicated_txns (target);

CREATE TABLE roles (
    name TEXT NOT NULL,
    owner TEXT,
    create_time BIGINT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE tokens (
    identifier TEXT NOT NULL,
    token TEXT NOT NULL,
    expires BIGINT,
    PRIMARY KEY (identifier)
);

CREATE INDEX tokens_expires ON tokens (expires);

CREATE TABLE txn_components (
    txn_id BIGINT NOT NULL,
    cat TEXT NOT NULL,
    db TEXT NOT NULL,
    tbl TEXT,
    part TEXT,
    op TEXT NOT NULL,
    write_id BIGINT
);

CREATE INDEX txn_components_name ON txn_components (cat, db, tbl);

CREATE INDEX txn_components_txn ON txn_components (txn_id);

CREATE TABLE txns (
    id INTEGER NOT NULL,
    state INTEGER NOT NULL,
    type INTEGER NOT NULL,
    user_name TEXT NOT NULL,
    host TEXT NOT NULL,
    started BIGINT NOT NULL,
    heartbeat BIGINT NOT NULL,
    min_open BIGINT NOT NULL,
    ended BIGINT,
    reason TEXT,
    opened_by TEXT,
    PRIMARY KEY (id)
);

CREATE INDEX txns_unfinished ON txns (id, state, type) WHERE state <> 1;

CREATE TABLE users (
    name TEXT NOT NULL,
    password TEXT NOT NULL,
    create_time BIGINT NOT NULL,
    change_time BIGINT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE warehouse_jobs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    target TEXT,
    created BIGINT NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT,
    next_attempt BIGINT DEFAULT 0 NOT NULL
);

CREATE TABLE write_id_counters (
    id INTEGER NOT NULL,
    cat TEXT NOT NULL,
    db TEXT NOT NULL,
    tbl TEXT NOT NULL,
    next BIGINT NOT NULL,
    stamp BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (cat, db, tbl)
);

CREATE TABLE write_sets (
    txn_id BIGINT NOT NULL,
    commit_id BIGINT NOT NULL,
    cat TEXT NOT NULL,
    db TEXT NOT NULL,
    tbl TEXT,
    part TEXT,
    op TEXT NOT NULL
);

CREATE INDEX write_sets_name ON write_sets (cat, db, tbl, commit_id);

CREATE TABLE databases (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    cat_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    fmt INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (cat_id, name),
    FOREIGN KEY(cat_id) REFERENCES catalogs (id)
);

CREATE TABLE role_grants (
    role TEXT NOT NULL,
    principal TEXT NOT NULL,
    principal_type INTEGER NOT NULL,
    grant_option BOOLEAN NOT NULL,
    create_time BIGINT NOT NULL,
    grantor TEXT,
    grantor_type INTEGER,
    PRIMARY KEY (role, principal, principal_type),
    FOREIGN KEY(role) REFERENCES roles (name) ON DELETE CASCADE
);

CREATE INDEX role_grants_principal ON role_grants (principal, principal_type);

CREATE TABLE write_ids (
    counter_id INTEGER NOT NULL,
    write_id BIGINT NOT NULL,
    txn_id BIGINT NOT NULL,
    PRIMARY KEY (counter_id, write_id),
    UNIQUE (txn_id, counter_id),
    FOREIGN KEY(counter_id) REFERENCES write_id_counters (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE TABLE functions (
    id INTEGER NOT NULL,
    db_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    fmt INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (db_id, name),
    FOREIGN KEY(db_id) REFERENCES databases (id)
);

CREATE TABLE table_name_stamps (
    db_id INTEGER NOT NULL,
    stamp BIGINT NOT NULL,
    PRIMARY KEY (db_id),
    FOREIGN KEY(db_id) REFERENCES databases (id) ON DELETE CASCADE
);

CREATE TABLE tables (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    db_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    owner TEXT,
    last_access BIGINT NOT NULL,
    write_id BIGINT NOT NULL,
    fmt INTEGER NOT NULL,
    body BLOB NOT NULL,
    creation_metadata BLOB,
    statistics_stamp BIGINT DEFAULT 0 NOT NULL,
    UNIQUE (db_id, name),
    FOREIGN KEY(db_id) REFERENCES databases (id)
);

CREATE INDEX tables_type ON tables (db_id, type);

CREATE TABLE bases (
    table_id INTEGER NOT NULL,
    no INTEGER NOT NULL,
    uri TEXT NOT NULL,
    PRIMARY KEY (table_id, no),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE TABLE constraints (
    id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    table_id INTEGER NOT NULL,
    column_name TEXT,
    flags INTEGER NOT NULL,
    parent_id INTEGER,
    parent_column TEXT,
    update_rule INTEGER,
    delete_rule INTEGER,
    value TEXT,
    PRIMARY KEY (id),
    UNIQUE (table_id, name, position),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE,
    FOREIGN KEY(parent_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE INDEX constraints_name ON constraints (name);

CREATE INDEX constraints_parent ON constraints (parent_id);

CREATE TABLE documents (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    db_id INTEGER,
    table_id INTEGER,
    parent TEXT NOT NULL,
    "key" TEXT NOT NULL,
    at BIGINT NOT NULL,
    fmt INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (kind, parent, "key"),
    FOREIGN KEY(db_id) REFERENCES databases (id) ON DELETE CASCADE,
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE INDEX documents_at ON documents (kind, parent, at);

CREATE INDEX documents_db_id ON documents (db_id);

CREATE INDEX documents_table_id ON documents (table_id);

CREATE TABLE partition_marks (
    table_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    type INTEGER NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (table_id, name, type),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE TABLE partitions (
    id INTEGER NOT NULL,
    table_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    v1 TEXT,
    v2 TEXT,
    v3 TEXT,
    v4 TEXT,
    v5 TEXT,
    v6 TEXT,
    v7 TEXT,
    v8 TEXT,
    shape INTEGER,
    base INTEGER,
    suffix TEXT,
    write_id BIGINT NOT NULL,
    fmt INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (table_id, name),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE INDEX partitions_ids ON partitions (table_id, id);

CREATE INDEX partitions_values ON partitions (table_id, v1, v2);

CREATE TABLE remotes (
    id INTEGER NOT NULL,
    cat_id INTEGER,
    db_id INTEGER,
    table_id INTEGER,
    fmt INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (cat_id),
    UNIQUE (db_id),
    UNIQUE (table_id),
    FOREIGN KEY(cat_id) REFERENCES catalogs (id) ON DELETE CASCADE,
    FOREIGN KEY(db_id) REFERENCES databases (id) ON DELETE CASCADE,
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE TABLE shapes (
    table_id INTEGER NOT NULL,
    no INTEGER NOT NULL,
    sd BLOB NOT NULL,
    PRIMARY KEY (table_id, no),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE TABLE table_params (
    table_id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (table_id, "key"),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE INDEX table_params_value ON table_params ("key", value);

CREATE TABLE table_statistics (
    table_id INTEGER NOT NULL,
    column_name TEXT NOT NULL,
    engine TEXT NOT NULL,
    type TEXT NOT NULL,
    kind TEXT NOT NULL,
    last_analyzed BIGINT NOT NULL,
    low BIGINT,
    high BIGINT,
    double_low DOUBLE,
    double_high DOUBLE,
    nulls BIGINT,
    distincts BIGINT,
    average_length DOUBLE,
    max_length BIGINT,
    trues BIGINT,
    falses BIGINT,
    fmt INTEGER NOT NULL,
    body BLOB NOT NULL,
    bit_vector BLOB,
    histogram BLOB,
    PRIMARY KEY (table_id, column_name, engine),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE TABLE grants (
    id INTEGER NOT NULL,
    object_type INTEGER NOT NULL,
    db_id INTEGER,
    table_id INTEGER,
    partition_id INTEGER,
    column_name TEXT,
    connector TEXT,
    principal TEXT NOT NULL,
    principal_type INTEGER NOT NULL,
    privilege TEXT NOT NULL,
    grant_option BOOLEAN NOT NULL,
    create_time BIGINT NOT NULL,
    grantor TEXT,
    grantor_type INTEGER,
    authorizer TEXT,
    PRIMARY KEY (id),
    FOREIGN KEY(db_id) REFERENCES databases (id) ON DELETE CASCADE,
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE,
    FOREIGN KEY(partition_id) REFERENCES partitions (id) ON DELETE CASCADE
);

CREATE INDEX grants_db ON grants (db_id);

CREATE INDEX grants_partition ON grants (partition_id);

CREATE INDEX grants_principal ON grants (principal, principal_type);

CREATE INDEX grants_table ON grants (table_id);

CREATE TABLE partition_statistics (
    partition_id INTEGER NOT NULL,
    column_name TEXT NOT NULL,
    engine TEXT NOT NULL,
    type TEXT NOT NULL,
    kind TEXT NOT NULL,
    last_analyzed BIGINT NOT NULL,
    low BIGINT,
    high BIGINT,
    double_low DOUBLE,
    double_high DOUBLE,
    nulls BIGINT,
    distincts BIGINT,
    average_length DOUBLE,
    max_length BIGINT,
    trues BIGINT,
    falses BIGINT,
    fmt INTEGER NOT NULL,
    body BLOB NOT NULL,
    bit_vector BLOB,
    histogram BLOB,
    PRIMARY KEY (partition_id, column_name, engine),
    FOREIGN KEY(partition_id) REFERENCES partitions (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

INSERT INTO counters (name, value) VALUES
    ('event', 0),
    ('version', 0),
    ('txn', 0),
    ('lock', 0),
    ('compaction', 0),
    ('token', 0),
    ('remotes', 0);

ANALYZE sqlite_schema;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('partitions', 'sqlite_autoindex_partitions_1', '1000000 10000 1'),
    ('partitions', 'partitions_values', '1000000 10000 100 1'),
    ('partitions', 'partitions_ids', '1000000 10000 1'),
    ('table_statistics', 'table_statistics', '1000000 50 2 1'),
    ('partition_statistics', 'partition_statistics', '1000000 50 2 1');
