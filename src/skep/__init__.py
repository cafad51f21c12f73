"""skep: a Hive Metastore that you pip install."""

__version__ = "0.1.0.dev0"
