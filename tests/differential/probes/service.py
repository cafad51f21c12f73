"""The calls of every Thrift service, and of the configuration."""

from tests.differential.script import SINCE_3_1, Probe, ask

DIRECT = "hive.metastore.try.direct.sql"
STRICT = "hive.metastore.disallow.incompatible.col.type.changes"
PROXY = "metastore.expression.proxy"
TIMEOUT = "hive.metastore.client.socket.timeout"
DEFAULTS = (
    *("metastore.txn.timeout", "hive.txn.timeout", "hive.txn.max.open.batch", "hive.metastore.batch.retrieve.max"),
    *("metastore.batch.retrieve.max", "metastore.limit.partition.request", "hive.metastore.limit.partition.request"),
    *("hive.metastore.client.socket.timeout", "hive.stats.autogather", "hive.repl.rootdir", "metastore.repldir"),
    *("hive.metastore.partition.name.whitelist.pattern", "metastore.stats.ndv.tuner", "hive.exec.scratchdir.nope"),
    *("hive.stats.ndv.error", "metastore.max.open.txns", "hive.max.open.txns", "metastore.repl.txn.timeout"),
    *("hive.metastore.event.db.listener.timetolive", "metastore.event.db.listener.timetolive", "hdfs.nope"),
    *("hive.compactor.history.retention.succeeded", "hive.exec.dynamic.partition.mode"),
    *("metastore.client.capability.check", "metastore.thrift.port", "hive.metastore.port", "HIVE.txn.timeout"),
)
SESSION_KEYS = (
    *("hive.metastore.expression.proxy", "metastore.partition.order.expr"),
    *("hive.metastore.partition.order.expr", "metastore.try.direct.sql", "metastore.client.capability.check"),
    *("metastore.client.socket.timeout", "hive.metastore.client.capability.check", "metastore.txn.timeout"),
)

SCRIPT: list[Probe] = [
    ask("name", "getName"),
    ask("version", "getVersion"),
    ask("status", "getStatus"),
    ask("details", "getStatusDetails"),
    ask("an option that was never set", "getOption", "x"),
    ask("options", "getOptions"),
    ask("profile", "getCpuProfile", 1),
    ask("a setting", "getMetaConf", DIRECT),
    ask("another setting", "getMetaConf", STRICT),
    ask("a timeout", "getMetaConf", "hive.metastore.client.socket.timeout"),
    ask("the pattern of names", "getMetaConf", "hive.metastore.partition.name.whitelist.pattern"),
    ask("unknown", "getMetaConf", "nope"),
    ask("null", "getMetaConf", None),
    ask("known", "setMetaConf", DIRECT, "true"),
    ask("a value that is no boolean", "setMetaConf", DIRECT, "zzz"),
    ask("what was set", "getMetaConf", DIRECT),
    ask("back", "setMetaConf", DIRECT, "true"),
    ask("unknown", "setMetaConf", "nope", "1"),
    ask("an unknown key", "get_config_value", "nope.nope", "fallback"),
    ask("an unknown key of Hive", "get_config_value", "hive.no.such.key", "fallback"),
    ask("the warehouse", "get_config_value", "hive.metastore.warehouse.dir", "x"),
    ask("the password", "get_config_value", "javax.jdo.option.ConnectionPassword", "x"),
    ask("another system's key", "get_config_value", "fs.defaultFS", "x"),
    ask("a null key", "get_config_value", None, "fallback"),
    ask("a boolean", "get_config_value", STRICT, "x"),
    ask("a batch size", "get_config_value", "hive.metastore.batch.retrieve.max", "50"),
    *(ask(f"a default of Hive: {key}", "get_config_value", key, "fallback") for key in DEFAULTS),
    *(ask(f"of sessions: {key}", "getMetaConf", key) for key in SESSION_KEYS),
    ask("another proxy", "setMetaConf", PROXY, "org.apache.hadoop.hive.metastore.MsckPartitionExpressionProxy"),
    ask("a timeout without a unit", "setMetaConf", TIMEOUT, "60"),
    ask("a timeout with a unit", "setMetaConf", TIMEOUT, "60s"),
    ask("a timeout that is none", "setMetaConf", TIMEOUT, "zzz"),
    ask("groups", "set_ugi", "alice", ("g1", "g2")),
    ask("no groups", "set_ugi", "alice", ()),
    ask("after all", "flushCache"),
    ask("the plain form", "partition_name_to_vals", "ds=a%2Fb/h=1"),
    ask("nothing", "partition_name_to_vals", ""),
    ask("no name", "partition_name_to_vals", "zzz"),
    ask("null", "partition_name_to_vals", None),
    ask("half escaped", "partition_name_to_vals", "a=%4/b=%zz/c=%41"),
    ask("several signs", "partition_name_to_vals", "a=b=c/d"),
    ask("the plain form", "partition_name_to_spec", "ds=a%2Fb/h=1"),
    ask("nothing", "partition_name_to_spec", ""),
    ask("no name", "partition_name_to_spec", "zzz"),
    ask("plain", "partition_name_has_valid_characters", ("a", "b"), True),
    ask("with a comma", "partition_name_has_valid_characters", ("a,b",), False),
    ask("not ASCII", "partition_name_has_valid_characters", ("é",), True),
    ask("a uuid", "get_metastore_db_uuid", show=lambda value: len(value), versions=SINCE_3_1),
]
