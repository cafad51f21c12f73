-- Written by tools/create_tables.py from schema.py, which says what the columns are for. Do not edit.

CREATE TABLE catalogs (
    id BIGSERIAL NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    fmt INTEGER NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (name)
);

CREATE TABLE compaction_metrics (
    cat TEXT COLLATE "C" NOT NULL,
    db TEXT COLLATE "C" NOT NULL,
    tbl TEXT COLLATE "C" NOT NULL,
    part TEXT COLLATE "C" NOT NULL,
    type INTEGER NOT NULL,
    value INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (cat, db, tbl, part, type)
);

CREATE TABLE compactions (
    id BIGINT NOT NULL,
    cat TEXT COLLATE "C" NOT NULL,
    db TEXT COLLATE "C" NOT NULL,
    tbl TEXT COLLATE "C" NOT NULL,
    part TEXT COLLATE "C",
    state TEXT COLLATE "C" NOT NULL,
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
    pool TEXT COLLATE "C",
    buckets INTEGER,
    order_by TEXT,
    PRIMARY KEY (id)
);

CREATE INDEX compactions_name ON compactions (cat, db, tbl);

CREATE INDEX compactions_queue ON compactions (state, id) WHERE state IN ('i', 'w', 'r');

CREATE INDEX compactions_txn ON compactions (txn_id) WHERE txn_id IS NOT NULL;

CREATE TABLE completed_components (
    txn_id BIGINT NOT NULL,
    cat TEXT COLLATE "C" NOT NULL,
    db TEXT COLLATE "C" NOT NULL,
    tbl TEXT COLLATE "C",
    part TEXT COLLATE "C",
    write_id BIGINT,
    update_delete INTEGER NOT NULL,
    time BIGINT NOT NULL
);

CREATE INDEX completed_components_name ON completed_components (cat, db, tbl, write_id);

CREATE INDEX completed_components_txn ON completed_components (txn_id);

CREATE TABLE counters (
    name TEXT COLLATE "C" NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE events (
    id BIGINT NOT NULL,
    time BIGINT NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    cat TEXT COLLATE "C",
    db TEXT COLLATE "C",
    tbl TEXT COLLATE "C",
    fmt INTEGER NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE locks (
    ext_id BIGINT NOT NULL,
    int_id INTEGER NOT NULL,
    txn_id BIGINT NOT NULL,
    cat TEXT COLLATE "C" NOT NULL,
    db TEXT COLLATE "C" NOT NULL,
    tbl TEXT COLLATE "C",
    part TEXT COLLATE "C",
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
);

CREATE INDEX locks_name ON locks (cat, db, tbl);

CREATE INDEX locks_txn ON locks (txn_id);

CREATE TABLE master_keys (
    id BIGSERIAL NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE meta (
    key TEXT COLLATE "C" NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (key)
);

CREATE TABLE min_history (
    txn_id BIGINT NOT NULL,
    cat TEXT COLLATE "C" NOT NULL,
    db TEXT COLLATE "C" NOT NULL,
    tbl TEXT COLLATE "C" NOT NULL,
    write_id BIGINT NOT NULL
);

CREATE INDEX min_history_name ON min_history (cat, db, tbl);

CREATE INDEX min_history_txn ON min_history (txn_id);

CREATE TABLE rate_counters (
    principal TEXT COLLATE "C" NOT NULL,
    minute BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    PRIMARY KEY (principal, minute)
);

CREATE INDEX rate_counters_minute ON rate_counters (minute);

CREATE TABLE rebuild_locks (
    cat TEXT COLLATE "C" NOT NULL,
    db TEXT COLLATE "C" NOT NULL,
    tbl TEXT COLLATE "C" NOT NULL,
    txn_id BIGINT NOT NULL,
    heartbeat BIGINT NOT NULL,
    PRIMARY KEY (cat, db, tbl)
);

CREATE TABLE remote_leases (
    id BIGSERIAL NOT NULL,
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
    policy TEXT COLLATE "C" NOT NULL,
    source BIGINT NOT NULL,
    target BIGINT NOT NULL,
    PRIMARY KEY (policy, source)
);

CREATE INDEX replicated_txns_target ON replicated_txns (target);

CREATE TABLE roles (
    name TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C",
    create_time BIGINT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE tokens (
    identifier TEXT COLLATE "C" NOT NULL,
    token TEXT NOT NULL,
    expires BIGINT,
    PRIMARY KEY (identifier)
);

CREATE INDEX tokens_expires ON tokens (expires);

CREATE TABLE txn_components (
    txn_id BIGINT NOT NULL,
    cat TEXT COLLATE "C" NOT NULL,
    db TEXT COLLATE "C" NOT NULL,
    tbl TEXT COLLATE "C",
    part TEXT COLLATE "C",
    op TEXT COLLATE "C" NOT NULL,
    write_id BIGINT
);

CREATE INDEX txn_components_name ON txn_components (cat, db, tbl);

CREATE INDEX txn_components_txn ON txn_components (txn_id);

CREATE TABLE txns (
    id BIGINT NOT NULL,
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
    name TEXT COLLATE "C" NOT NULL,
    password TEXT NOT NULL,
    create_time BIGINT NOT NULL,
    change_time BIGINT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE warehouse_jobs (
    id BIGSERIAL NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    source TEXT NOT NULL,
    target TEXT,
    created BIGINT NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT,
    next_attempt BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE write_id_counters (
    id BIGSERIAL NOT NULL,
    cat TEXT COLLATE "C" NOT NULL,
    db TEXT COLLATE "C" NOT NULL,
    tbl TEXT COLLATE "C" NOT NULL,
    next BIGINT NOT NULL,
    stamp BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (cat, db, tbl)
);

CREATE TABLE write_sets (
    txn_id BIGINT NOT NULL,
    commit_id BIGINT NOT NULL,
    cat TEXT COLLATE "C" NOT NULL,
    db TEXT COLLATE "C" NOT NULL,
    tbl TEXT COLLATE "C",
    part TEXT COLLATE "C",
    op TEXT COLLATE "C" NOT NULL
);

CREATE INDEX write_sets_name ON write_sets (cat, db, tbl, commit_id);

CREATE TABLE databases (
    id BIGSERIAL NOT NULL,
    cat_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    fmt INTEGER NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (cat_id, name),
    FOREIGN KEY(cat_id) REFERENCES catalogs (id)
);

CREATE TABLE role_grants (
    role TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    principal_type INTEGER NOT NULL,
    grant_option BOOLEAN NOT NULL,
    create_time BIGINT NOT NULL,
    grantor TEXT COLLATE "C",
    grantor_type INTEGER,
    PRIMARY KEY (role, principal, principal_type),
    FOREIGN KEY(role) REFERENCES roles (name) ON DELETE CASCADE
);

CREATE INDEX role_grants_principal ON role_grants (principal, principal_type);

CREATE TABLE write_ids (
    counter_id BIGINT NOT NULL,
    write_id BIGINT NOT NULL,
    txn_id BIGINT NOT NULL,
    PRIMARY KEY (counter_id, write_id),
    UNIQUE (txn_id, counter_id),
    FOREIGN KEY(counter_id) REFERENCES write_id_counters (id) ON DELETE CASCADE
);

CREATE TABLE functions (
    id BIGSERIAL NOT NULL,
    db_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    fmt INTEGER NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (db_id, name),
    FOREIGN KEY(db_id) REFERENCES databases (id)
);

CREATE TABLE table_name_stamps (
    db_id BIGINT NOT NULL,
    stamp BIGINT NOT NULL,
    PRIMARY KEY (db_id),
    FOREIGN KEY(db_id) REFERENCES databases (id) ON DELETE CASCADE
);

CREATE TABLE tables (
    id BIGSERIAL NOT NULL,
    db_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C",
    last_access BIGINT NOT NULL,
    write_id BIGINT NOT NULL,
    fmt INTEGER NOT NULL,
    body BYTEA NOT NULL,
    creation_metadata BYTEA,
    statistics_stamp BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (db_id, name),
    FOREIGN KEY(db_id) REFERENCES databases (id)
);

CREATE INDEX tables_type ON tables (db_id, type);

CREATE TABLE bases (
    table_id BIGINT NOT NULL,
    no INTEGER NOT NULL,
    uri TEXT NOT NULL,
    PRIMARY KEY (table_id, no),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE TABLE constraints (
    id BIGSERIAL NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    position INTEGER NOT NULL,
    table_id BIGINT NOT NULL,
    column_name TEXT COLLATE "C",
    flags INTEGER NOT NULL,
    parent_id BIGINT,
    parent_column TEXT COLLATE "C",
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
    id BIGSERIAL NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    db_id BIGINT,
    table_id BIGINT,
    parent TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    fmt INTEGER NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (kind, parent, key),
    FOREIGN KEY(db_id) REFERENCES databases (id) ON DELETE CASCADE,
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE INDEX documents_at ON documents (kind, parent, at);

CREATE INDEX documents_db_id ON documents (db_id);

CREATE INDEX documents_table_id ON documents (table_id);

CREATE TABLE partition_marks (
    table_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    type INTEGER NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (table_id, name, type),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE TABLE partitions (
    id BIGSERIAL NOT NULL,
    table_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    v1 TEXT COLLATE "C",
    v2 TEXT COLLATE "C",
    v3 TEXT COLLATE "C",
    v4 TEXT COLLATE "C",
    v5 TEXT COLLATE "C",
    v6 TEXT COLLATE "C",
    v7 TEXT COLLATE "C",
    v8 TEXT COLLATE "C",
    shape INTEGER,
    base INTEGER,
    suffix TEXT,
    write_id BIGINT NOT NULL,
    fmt INTEGER NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (table_id, name),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE INDEX partitions_ids ON partitions (table_id, id);

CREATE INDEX partitions_values ON partitions (table_id, v1, v2);

CREATE TABLE remotes (
    id BIGSERIAL NOT NULL,
    cat_id BIGINT,
    db_id BIGINT,
    table_id BIGINT,
    fmt INTEGER NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (cat_id),
    UNIQUE (db_id),
    UNIQUE (table_id),
    FOREIGN KEY(cat_id) REFERENCES catalogs (id) ON DELETE CASCADE,
    FOREIGN KEY(db_id) REFERENCES databases (id) ON DELETE CASCADE,
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE TABLE shapes (
    table_id BIGINT NOT NULL,
    no INTEGER NOT NULL,
    sd BYTEA NOT NULL,
    PRIMARY KEY (table_id, no),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE TABLE table_params (
    table_id BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (table_id, key),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE INDEX table_params_value ON table_params (key, value);

CREATE TABLE table_statistics (
    table_id BIGINT NOT NULL,
    column_name TEXT COLLATE "C" NOT NULL,
    engine TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    last_analyzed BIGINT NOT NULL,
    low BIGINT,
    high BIGINT,
    double_low DOUBLE PRECISION,
    double_high DOUBLE PRECISION,
    nulls BIGINT,
    distincts BIGINT,
    average_length DOUBLE PRECISION,
    max_length BIGINT,
    trues BIGINT,
    falses BIGINT,
    fmt INTEGER NOT NULL,
    body BYTEA NOT NULL,
    bit_vector BYTEA,
    histogram BYTEA,
    PRIMARY KEY (table_id, column_name, engine),
    FOREIGN KEY(table_id) REFERENCES tables (id) ON DELETE CASCADE
);

CREATE TABLE grants (
    id BIGSERIAL NOT NULL,
    object_type INTEGER NOT NULL,
    db_id BIGINT,
    table_id BIGINT,
    partition_id BIGINT,
    column_name TEXT COLLATE "C",
    connector TEXT COLLATE "C",
    principal TEXT COLLATE "C" NOT NULL,
    principal_type INTEGER NOT NULL,
    privilege TEXT COLLATE "C" NOT NULL,
    grant_option BOOLEAN NOT NULL,
    create_time BIGINT NOT NULL,
    grantor TEXT COLLATE "C",
    grantor_type INTEGER,
    authorizer TEXT COLLATE "C",
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
    partition_id BIGINT NOT NULL,
    column_name TEXT COLLATE "C" NOT NULL,
    engine TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    last_analyzed BIGINT NOT NULL,
    low BIGINT,
    high BIGINT,
    double_low DOUBLE PRECISION,
    double_high DOUBLE PRECISION,
    nulls BIGINT,
    distincts BIGINT,
    average_length DOUBLE PRECISION,
    max_length BIGINT,
    trues BIGINT,
    falses BIGINT,
    fmt INTEGER NOT NULL,
    body BYTEA NOT NULL,
    bit_vector BYTEA,
    histogram BYTEA,
    PRIMARY KEY (partition_id, column_name, engine),
    FOREIGN KEY(partition_id) REFERENCES partitions (id) ON DELETE CASCADE
);

INSERT INTO counters (name, value) VALUES
    ('event', 0),
    ('version', 0),
    ('txn', 0),
    ('lock', 0),
    ('compaction', 0),
    ('token', 0),
    ('remotes', 0);
