// Just enough of the metastore's interface to write to any Hive: a database, a table with one column, a transaction.
// The fields are those that all versions share; a server fills in the others.

struct FieldSchema { 1: string name, 2: string type, 3: string comment }
struct SerDeInfo { 1: string name, 2: string serializationLib, 3: map<string, string> parameters }
struct StorageDescriptor {
  1: list<FieldSchema> cols, 2: string location, 3: string inputFormat, 4: string outputFormat,
  5: bool compressed, 6: i32 numBuckets, 7: SerDeInfo serdeInfo, 8: list<string> bucketCols,
  10: map<string, string> parameters
}
struct Table {
  1: string tableName, 2: string dbName, 3: string owner, 7: StorageDescriptor sd,
  8: list<FieldSchema> partitionKeys, 9: map<string, string> parameters, 12: string tableType
}
struct Database { 1: string name, 2: string description, 3: string locationUri, 4: map<string, string> parameters }
struct OpenTxnRequest { 1: required i32 num_txns, 2: required string user, 3: required string hostname }
struct OpenTxnsResponse { 1: required list<i64> txn_ids }

exception AlreadyExistsException { 1: string message }
exception InvalidObjectException { 1: string message }
exception MetaException { 1: string message }
exception NoSuchObjectException { 1: string message }

service ThriftHiveMetastore {
  void create_database(1: Database database)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3)
  void create_table(1: Table tbl)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4)
  list<string> get_all_tables(1: string db_name) throws (1: MetaException o1)
  OpenTxnsResponse open_txns(1: OpenTxnRequest rqst)
}
