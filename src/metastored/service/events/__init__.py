"""The event log: notifications and the JSON messages of Hive."""
