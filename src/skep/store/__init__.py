"""The database and the warehouse's directories: schema, migrations, one file an aggregate. It knows no Thrift."""
