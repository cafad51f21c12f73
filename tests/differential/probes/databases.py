"""Databases: create, get, list, alter and drop."""

from metastored.wire.generated.databases import Database
from tests.differential.probes.objects import starting
from tests.differential.script import Probe, Put, Tree, ask
from tests.support.objects import table

NAMES = ("a-b", "a.b", "1dba", "_dba", "a b", "ünï", "", "a$b", "a/b", " padded ")
PATTERNS = (
    *("*", "dba*", "DBA*", "dbab|dba_x", "dba*|o*", ".*", "db.b", "dbab", "dba?", "", "dba_x", "%", "dba%"),
    *("dba[bx]", "dba+", "(dbab)", "dba\\w*", " dbab ", "dbab | dba_x", "|", "dba**"),
)


def db(name: str | None, **other: object) -> Database:
    return Database(name=name, **other)  # type: ignore[arg-type]


SCRIPT: list[Probe] = [
    ask("plain", "create_database", db("dbab", description="d")),
    ask("plain", "get_database", "dbab"),
    Tree("its folder", "{W}/dbab.db"),
    ask("taken", "create_database", db("dbab")),
    ask("taken, in upper case", "create_database", db("DBAB")),
    *(ask(f"named {name!r}", "create_database", db(name)) for name in NAMES),
    ask("of the padded", "get_database", "padded"),
    ask("without a name", "create_database", db(None)),
    ask("null", "create_database", None),
    ask("with an owner", "create_database", db("DBA_X", parameters={"k": "v"}, ownerName="o", ownerType=1)),
    ask("in upper case", "get_database", "DBA_X"),
    ask("with spaces around", "get_database", " dba_x "),
    ask("owned by a role", "create_database", db("dba_r", ownerName="r", ownerType=2)),
    ask("owned by a role", "get_database", "dba_r"),
    ask("owned by a group, unnamed", "create_database", db("dba_g", ownerType=3)),
    ask("owned by a group, unnamed", "get_database", "dba_g"),
    ask("missing", "get_database", "nodb"),
    ask("null", "get_database", None),
    ask("empty", "get_database", ""),
    ask("with a location", "create_database", db("odba", locationUri="{W}/elsewhere")),
    ask("with a location", "get_database", "odba"),
    ask("with a location of three slashes", "create_database", db("dba_l", locationUri="file:///tmp/../tmp/dba_l")),
    ask("with a location of three slashes", "get_database", "dba_l"),
    ask("drop it again", "drop_database", "dba_l", True, False),
    ask("with an empty location", "create_database", db("dba_e", locationUri="")),
    ask("with an empty location", "get_database", "dba_e"),
    ask("with a relative location", "create_database", db("dba_rel", locationUri="some/where")),
    ask("of hive", "get_database", "default"),
    *(ask(f"{p!r}", "get_databases", p, show=starting("dba", "odba")) for p in PATTERNS),
    ask("null", "get_databases", None, show=starting("dba", "odba")),
    ask("of these", "get_all_databases", show=starting("dba", "odba")),
    ask(
        "all at once",
        "alter_database",
        "dbab",
        db(
            "dbab",
            description="new",
            locationUri="{W}/changed",
            parameters={"x": "y"},
            ownerName="zed",
            ownerType=2,
        ),
    ),
    ask("after the change", "get_database", "dbab"),
    Tree("the new folder is not made", "{W}/changed"),
    ask("another name", "alter_database", "odba", db("renamed", description="new")),
    ask("under the other name", "get_database", "renamed"),
    ask("under its own name", "get_database", "odba"),
    ask("missing", "alter_database", "nodb", db("nodb")),
    ask("null", "alter_database", "dbab", None),
    ask("without parameters", "alter_database", "dbab", db("dbab", description="d2")),
    ask("after less", "get_database", "dbab"),
    ask(
        "back",
        "alter_database",
        "dbab",
        db("dbab", description="d", locationUri="{W}/dbab.db", parameters={}, ownerName="zed", ownerType=1),
    ),
    ask("missing", "drop_database", "nodb", True, False),
    ask("default", "drop_database", "default", True, False),
    ask("in it", "create_table", table("dbab", "t")),
    ask("not empty", "drop_database", "dbab", True, False),
    ask("not empty", "get_all_tables", "dbab"),
    Put("a file in a table", "{W}/dbab.db/t/f", 3),
    Put("a file that belongs to nobody", "{W}/dbab.db/lost", 3),
    ask("with all in it, the data kept", "drop_database", "dbab", False, True),
    Tree("what is kept", "{W}/dbab.db"),
    ask("again", "create_database", db("dbab")),
    ask("in it again", "create_table", table("dbab", "t")),
    ask("with all in it", "drop_database", "DBAB", True, True),
    Tree("what is gone", "{W}/dbab.db"),
    ask("gone", "get_database", "dbab"),
    ask("gone", "get_all_tables", "dbab"),
    *(
        ask(name, "drop_database", name, True, True)
        for name in ("1dba", "_dba", "padded", "dba_x", "dba_r", "dba_g", "odba", "dba_e", "dba_rel")
    ),
    Tree("what is left elsewhere", "{W}/elsewhere"),
]
