"""The fields of a function that can be changed."""

import pytest

from metastored.errors import MetaException
from metastored.wire.generated.functions import Function, ResourceUri
from metastored.wire.structs import replace
from tests.support.metastore import Metastore

FUNCTION = Function("f", "default", "a.B", "o", 1, 1, 1, (ResourceUri(1, "file:/x.jar"),))


def test_a_function_cannot_lose_its_class_or_its_types(hive_4: Metastore) -> None:
    hive_4.call("create_function", FUNCTION)
    for field, problem in {
        "className": "class name",
        "ownerType": "owner type",
        "functionType": "Function type",
    }.items():
        with pytest.raises(MetaException, match=f"{problem} cannot be null"):
            hive_4.call("alter_function", "default", "f", replace(FUNCTION, **{field: None}))
    assert hive_4.call("get_function", "default", "f").className == "a.B"


def test_a_change_leaves_the_resources_of_a_function_as_they_are(metastore: Metastore) -> None:
    metastore.call("create_function", FUNCTION)
    metastore.call("alter_function", "default", "f", replace(FUNCTION, className="c.D", resourceUris=()))
    result = metastore.call("get_function", "default", "f")
    assert (result.className, result.resourceUris) == ("c.D", FUNCTION.resourceUris)
