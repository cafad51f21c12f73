"""An example of each statement, for the page of statements and for `help`. The tests execute them in the page's order.

They use the databases `shop` and `far`, and make what they need.
"""

from __future__ import annotations

from typing import Final

_URIS: Final = "'hive.metastore.uris' = 'thrift://old:9083'"

EXAMPLES: Final = {
    # Databases and catalogs
    "create_database": "CREATE DATABASE IF NOT EXISTS shop COMMENT 'what we sell' "
    "WITH DBPROPERTIES ('team' = 'sales');",
    "alter_database": "ALTER DATABASE shop SET OWNER USER alice;",
    "drop_database": "DROP DATABASE IF EXISTS old_shop CASCADE;",
    "create_catalog": "CREATE CATALOG lake LOCATION 'file:///tmp/lake' COMMENT 'the lake';",
    "alter_catalog": "ALTER CATALOG lake SET LOCATION 'file:///tmp/lake2';",
    "drop_catalog": "DROP CATALOG IF EXISTS nosuch;",
    "use": "USE shop;",
    # Tables
    "create_table": "CREATE TABLE orders (id BIGINT, price DECIMAL(10,2) COMMENT 'in euro') PARTITIONED BY (ds STRING) "
    "STORED AS PARQUET;\nCREATE TABLE visits (id BIGINT, at TIMESTAMP) USING parquet OPTIONS ('compression' = 'zstd');"
    "\nCREATE TRANSACTIONAL TABLE ledger (id BIGINT, amount DECIMAL(10,2)) STORED AS ORC;",
    "create_table_like": "CREATE EXTERNAL TABLE orders_copy LIKE orders LOCATION 'file:///tmp/orders_copy';",
    "alter_table": "ALTER TABLE orders_copy ADD PARTITION (ds = '2024-02-01');\n"
    "ALTER TABLE orders EXCHANGE PARTITION (ds = '2024-02-01') WITH TABLE orders_copy;\n"
    "ALTER TABLE orders ADD COLUMNS (note STRING COMMENT 'free text');\n"
    "ALTER TABLE orders ADD IF NOT EXISTS PARTITION (ds = '2024-01-01') PARTITION (ds = '2024-01-02');\n"
    "ALTER TABLE orders DROP PARTITION (ds > '2024-01-01');\n"
    "ALTER TABLE ledger COMPACT 'major';",
    "drop_table": "DROP TABLE IF EXISTS orders_copy PURGE;",
    "truncate_table": "TRUNCATE TABLE orders PARTITION (ds = '2024-01-01');",
    "comment_on": "COMMENT ON COLUMN shop.orders.id IS 'the number of the order';",
    "msck": "MSCK REPAIR TABLE orders;",
    # Views and functions
    "create_view": "CREATE OR REPLACE VIEW cheap AS SELECT id, price FROM orders WHERE price < 10;\n"
    "CREATE VIEW days (ds STRING, number BIGINT) AS SELECT ds, count(*) AS number FROM orders GROUP BY ds;",
    "alter_view": "ALTER VIEW cheap AS SELECT id FROM orders WHERE price < 5;",
    "drop_view": "DROP VIEW IF EXISTS days;",
    "create_materialized_view": "CREATE MATERIALIZED VIEW balances DISABLE REWRITE AS SELECT id, amount FROM ledger;",
    "alter_materialized_view": "ALTER MATERIALIZED VIEW balances DISABLE REWRITE;",
    "drop_materialized_view": "DROP MATERIALIZED VIEW IF EXISTS nosuch;",
    "create_function": "CREATE FUNCTION initials AS 'org.example.Initials' USING JAR 'file:///tmp/initials.jar';",
    "drop_function": "DROP FUNCTION IF EXISTS nosuch;",
    # Rights
    "create_role": "CREATE ROLE analyst;",
    "drop_role": "DROP ROLE IF EXISTS intern;",
    "grant": "GRANT SELECT, INSERT ON shop.orders TO ROLE analyst, USER carol WITH GRANT OPTION;\n"
    "GRANT ROLE analyst TO USER bob;\nGRANT CREATE_REMOTE ON SERVER TO USER bob;",
    "revoke": "REVOKE INSERT ON shop.orders FROM ROLE analyst;",
    "show_grant": "SHOW GRANT USER carol ON TABLE shop.orders;",
    "show_roles": "SHOW ROLES;",
    "show_role_grant": "SHOW ROLE GRANT USER bob;",
    "show_principals": "SHOW PRINCIPALS analyst;",
    "show_current_roles": "SHOW CURRENT ROLES;",
    "set_role": "SET ROLE ALL;",
    # Remotes
    "create_remote_table": "CREATE REMOTE TABLE shop.old_orders CONNECTED TO sales.orders "
    f"WITH TBLPROPERTIES ({_URIS});",
    "create_remote_database": f"CREATE REMOTE DATABASE far CONNECTED TO sales WITH DBPROPERTIES ({_URIS});",
    "create_remote_catalog": f"CREATE REMOTE CATALOG old PREFIX 'old_' WITH PROPERTIES ({_URIS});",
    "alter_remote_table": "ALTER REMOTE TABLE shop.old_orders SET TBLPROPERTIES ('metastored.remote.timeout' = 5);",
    "alter_remote_database": "ALTER REMOTE DATABASE far SET DBPROPERTIES ('metastored.remote.access' = 'write');",
    "alter_remote_catalog": "ALTER REMOTE CATALOG old PREFIX 'older_';",
    "drop_remote": "DROP REMOTE CATALOG old;",
    "show_remotes": "SHOW REMOTES;",
    "show_create_remote": "SHOW CREATE REMOTE DATABASE far;",
    # Connectors
    "create_connector": "CREATE CONNECTOR warehouse TYPE 'mysql' URL 'jdbc:mysql://db:3306/dwh';",
    "alter_connector": "ALTER CONNECTOR warehouse SET OWNER ROLE analyst;",
    "drop_connector": "DROP CONNECTOR IF EXISTS nosuch;",
    "show_connectors": "SHOW CONNECTORS;",
    "describe_connector": "DESCRIBE CONNECTOR EXTENDED warehouse;",
    # Reading
    "show_databases": "SHOW DATABASES LIKE 's*|d*';",
    "show_tables": "SHOW TABLES IN shop LIKE 'o*';",
    "show_partitions": "SHOW PARTITIONS orders WHERE ds >= '2024-01-01';",
    "show_views": "SHOW VIEWS IN shop;",
    "show_materialized_views": "SHOW MATERIALIZED VIEWS IN shop;",
    "show_table_extended": "SHOW TABLE EXTENDED IN shop LIKE 'orders';",
    "show_columns": "SHOW COLUMNS IN orders IN shop;",
    "show_tblproperties": "SHOW TBLPROPERTIES orders;",
    "show_create_table": "SHOW CREATE TABLE shop.orders;",
    "show_create_database": "SHOW CREATE DATABASE shop;",
    "show_functions": "SHOW FUNCTIONS IN shop;",
    "show_locks": "SHOW LOCKS shop.orders;",
    "show_transactions": "SHOW TRANSACTIONS;",
    "show_compactions": "SHOW COMPACTIONS;",
    "show_catalogs": "SHOW CATALOGS;",
    "describe_catalog": "DESCRIBE CATALOG lake;",
    "describe_function": "DESCRIBE FUNCTION EXTENDED shop.initials;",
    "describe_database": "DESCRIBE DATABASE EXTENDED shop;",
    "describe_table": "DESCRIBE FORMATTED shop.orders;\nDESCRIBE shop.orders PARTITION (ds = '2024-01-01');"
    "\nDESCRIBE shop.orders price;",
}
"""By the rule of the grammar."""
