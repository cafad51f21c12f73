"""Lance tables in a Hive metastore. Needs the extra `lance`.

    import metastored.lance
    space = lance_namespace.connect("metastored-hive2", {"uri": "thrift://host:9083", "root": "s3://bucket/lance"})
    lance.write_dataset(rows, namespace_client=space, table_id=["shop", "points"])

`Hive2Namespace` has databases and tables, `Hive3Namespace` catalogs above them. Both work with every Hive metastore.
With `managed_by=impl` the metastore decides between concurrent commits.
"""

from __future__ import annotations

from metastored.errors import MissingExtra as _MissingExtra

try:
    import lance_namespace
except ImportError:
    raise _MissingExtra("a Lance namespace", "lance") from None

from metastored.lance.conditions import CheckedTables
from metastored.lance.namespace import Hive2Namespace, Hive3Namespace

__all__ = ["CheckedTables", "Hive2Namespace", "Hive3Namespace"]

lance_namespace.register_namespace_impl("metastored-hive2", "metastored.lance.Hive2Namespace")
lance_namespace.register_namespace_impl("metastored-hive3", "metastored.lance.Hive3Namespace")
