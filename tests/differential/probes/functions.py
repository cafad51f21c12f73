"""Functions."""

from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function, ResourceUri
from tests.differential.script import Probe, ask

DB = "fun"


def function(name: str | None, db: str = DB, **other: object) -> Function:
    plain = {
        "className": "x.Y",
        "ownerName": "o",
        "ownerType": 1,
        "createTime": 1,
        "functionType": 1,
        "resourceUris": (ResourceUri(1, "file:/x.jar"),),
    }
    return Function(functionName=name, dbName=db, **(plain | other))  # type: ignore[arg-type]


def of_this(result: object) -> object:
    return tuple(f for f in result.functions or () if f.dbName == DB)  # type: ignore[attr-defined]


SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("plain", "create_function", function("fn1")),
    ask("taken", "create_function", function("fn1")),
    ask("taken, in upper case", "create_function", function("FN1")),
    ask("plain", "get_function", DB, "fn1"),
    ask("in upper case", "get_function", "FUN", "FN1"),
    ask("missing", "get_function", DB, "zz"),
    ask("of no database", "get_function", "nodb", "zz"),
    ask("another", "create_function", function("other", className="a.B", resourceUris=())),
    ask("another", "get_function", DB, "other"),
    ask("all", "get_functions", DB, "*"),
    ask("some", "get_functions", DB, "f*|g*"),
    ask("none", "get_functions", DB, ""),
    ask("of no database", "get_functions", "nodb", "*"),
    ask("of this database", "get_all_functions", show=of_this),
    ask("another name", "alter_function", DB, "fn1", function("fn2")),
    ask("after another name", "get_functions", DB, "*"),
    ask("another class", "alter_function", DB, "fn2", function("fn2", className="z.Z", createTime=9)),
    ask("another class", "get_function", DB, "fn2"),
    ask("without a class", "alter_function", DB, "fn2", function("fn2", className=None)),
    ask("with an empty class", "alter_function", DB, "fn2", function("fn2", className="")),
    ask("after changes without a class", "get_function", DB, "fn2"),
    ask("with its class again", "alter_function", DB, "fn2", function("fn2", className="z.Z")),
    ask("without a type", "alter_function", DB, "fn2", function("fn2", functionType=None, ownerType=None)),
    ask("without a type", "get_function", DB, "fn2"),
    ask("without resources", "alter_function", DB, "fn2", function("fn2", resourceUris=None)),
    ask("without resources", "get_function", DB, "fn2"),
    ask("without a name", "alter_function", DB, "fn2", function(None)),
    ask("missing", "alter_function", DB, "zz", function("zz")),
    ask("a name that is taken", "alter_function", DB, "fn2", function("other")),
    ask("to no database", "alter_function", DB, "fn2", function("fn3", "nodb")),
    ask("a bad name", "alter_function", DB, "fn2", function("a-b")),
    ask("a bad name", "create_function", function("a-b")),
    ask("of no database", "create_function", function("g", "nodb")),
    ask("without a class", "create_function", function("noclass", className=None)),
    ask("with an empty class", "create_function", function("emptyclass", className="")),
    ask("with an empty class", "get_function", DB, "emptyclass"),
    ask("not empty", "drop_database", DB, True, False),
    ask("one", "drop_function", DB, "fn2"),
    ask("missing", "drop_function", DB, "fn2"),
    ask("of no database", "drop_function", "nodb", "fn2"),
    ask("with the least", "create_function", Function(functionName="Least", dbName=DB, className="a.B")),
    ask("with its functions", "drop_database", DB, True, True),
]
