"""The blocks of docs/guide/remotes.md, connectors.md and waggle-dance.md are executed as they are written.

Python blocks of remotes.md are run by `tests/client/test_guide.py`, its blocks for Spark by
`tests/spark/test_statements.py`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import metastored
from metastored.connectors.context import Context
from metastored.connectors.registry import Connectors
from metastored.gate.hooked import load_hook
from metastored.model.remotes import Endpoint
from metastored.structs import Table
from metastored.testing import running_server
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.support.ssh import bastions
from tests.support.waggle_dance import Federation, federation

GUIDES = Path(__file__).parents[2] / "docs/guide"
FEDERATION = """
primary-meta-store: {name: primary, remote-meta-store-uris: 'URI', access-control-type: READ_ONLY}
federated-meta-stores:
- {name: dw, remote-meta-store-uris: 'URI', database-prefix: dw_}
"""


class Block(NamedTuple):
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """All blocks between fences, those inside of lists too."""
    found = re.findall(r"^( *)```([\w-]*)\n(.*?)^\1```$", (GUIDES / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [Block(language, re.sub(f"^{indent}", "", text, flags=re.MULTILINE)) for indent, language, text in found]


def of(page: str, language: str) -> list[str]:
    return [block.text for block in blocks(page) if block.language == language]


def test_every_block_has_a_language_whose_blocks_are_executed() -> None:
    count = {
        page: {language: len(of(page, language)) for language in sorted({each.language for each in blocks(page)})}
        for page in ("remotes.md", "connectors.md", "waggle-dance.md")
    }
    assert count == {
        "remotes.md": {"bash": 2, "pyspark": 1, "python": 2, "spark-sql": 1, "sql": 6},
        "connectors.md": {"python": 1, "sql": 1, "toml": 1},
        "waggle-dance.md": {"bash": 2, "python": 1, "toml": 1},
    }, "a new block needs a test"


@pytest.fixture(scope="module")
def servers() -> Iterator[Federation]:
    with federation() as found:
        for name in ("raw_sales", "web", "sales"):
            found.there.create_database(name)
        for name in ("raw_sales.orders", "web.clicks", "web.clicks_2024", "sales.orders", "sales.hidden"):
            found.there.create_table(metastored.table(name, {"id": "bigint"}))
        yield found


@pytest.fixture
def both(servers: Federation) -> Iterator[Federation]:
    servers.here.create_database("shop")
    yield servers
    for row in servers.sql("SHOW REMOTES").dicts():
        servers.sql(f"DROP REMOTE {row['kind']} {row['name']}")
    servers.here.drop_database("shop", cascade=True)


def statements(page: str, number: int, uri: str) -> str:
    return re.sub(r"thrift://[\w.-]+:9083", uri, of(page, "sql")[number])


# remotes.md


@pytest.mark.slow
def test_remotes_are_made_changed_written_and_dropped(both: Federation) -> None:
    create, _, _, change, write, _ = (statements("remotes.md", number, both.remote.uri) for number in range(6))
    both.here.sql(create)
    assert both.here.tables("sales") == ("orders",)
    assert both.here.table("shop.clicks").tableName == "clicks"
    both.here.sql(change)
    assert both.here.tables("shop") == ()
    both.here.sql(write)
    both.here.create_table(metastored.table("sales.written", {"id": "int"}))
    assert both.there.tables("raw_sales") == ("orders", "written")
    both.there.drop_table("raw_sales.written")


@pytest.mark.slow
def test_a_connector_of_hive_4_makes_a_remote_database(both: Federation) -> None:
    both.here.sql(statements("remotes.md", 1, both.remote.uri))
    assert both.here.tables("sales") == ("orders",)
    both.sql("DROP REMOTE DATABASE sales; DROP CONNECTOR old_cluster")


@pytest.mark.slow
def test_a_remote_catalog_shows_what_its_lists_allow(both: Federation) -> None:
    both.here.sql(statements("remotes.md", 2, both.remote.uri))
    assert "old_shop" in both.here.databases() and "old_web" not in both.here.databases()
    assert both.here.tables("old_shop") == ("orders",)


@pytest.mark.slow
def test_the_privilege_to_make_remotes_is_granted_and_revoked() -> None:
    with (
        running_server(authorization="sql", admin_users="root") as server,
        metastored.connect(server.uri, user="root", cache=False) as root,
    ):
        root.create_database("shop")
        root.api.create_role(metastored.structs.Role("data_engineers", 0, "root"))
        root.sql(of("remotes.md", "sql")[5])
        with metastored.connect(server.uri, user="alice", cache=False) as alice:
            alice.sql("CREATE REMOTE TABLE shop.t WITH TBLPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')")


# Commands


def run_commands(text: str, folder: Path, uri: str) -> list[str]:
    """What the commands of a block print. `metastored serve` is started, and stopped when it is ready."""
    printed = []
    for line in text.strip().splitlines():
        command = line.replace("metastored ", f"{shlex.quote(sys.executable)} -m metastored ", 1)
        if " serve " in line:
            words = [word for word in shlex.split(command) if not word.isdecimal() and word != "--port"]
            separately(words, folder)
            continue
        command = re.sub(r"thrift://(localhost|host):9083", uri, command)
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        printed.append(done.stdout)
    return printed


def separately(words: list[str], folder: Path) -> None:
    """Starts a server with the directories of the guide, below `folder`, on a free port."""
    data, warehouse = (folder / words[words.index(flag) + 1] for flag in ("--data", "--warehouse"))
    with (
        running_server(data=data, warehouse=warehouse) as server,
        metastored.connect(server.uri) as client,
    ):
        assert client.databases() == ("default",)


@pytest.mark.slow
def test_the_servers_of_the_guide_start(tmp_path: Path) -> None:
    assert run_commands(of("remotes.md", "bash")[0], tmp_path, "") == []


@pytest.mark.slow
@pytest.mark.parametrize(("page", "numbers"), [("remotes.md", [1]), ("waggle-dance.md", [0, 1])])
def test_a_configuration_of_waggle_dance_is_converted_and_executed(
    both: Federation, tmp_path: Path, page: str, numbers: list[int]
) -> None:
    (tmp_path / "waggle-dance-federation.yml").write_text(FEDERATION.replace("URI", both.remote.uri))
    (tmp_path / "waggle-dance-server.yml").write_text("database-resolution: PREFIXED\n")
    printed = [text for number in numbers for text in run_commands(of(page, "bash")[number], tmp_path, both.server.uri)]
    assert both.here.tables("dw_raw_sales") == ("orders",)
    if page == "waggle-dance.md":
        assert "ok     catalog dw" in printed[-1]


# connectors.md


@pytest.mark.slow
def test_the_statement_with_a_tunnel_reads_through_two_hops(both: Federation, tmp_path: Path) -> None:
    with bastions(tmp_path, "jump", "node") as ssh:
        text = of("connectors.md", "sql")[0].replace("CONNECTED TO raw", "CONNECTED TO raw_sales")
        text = text.replace("thrift://metastore.internal:9083", both.remote.uri)
        for key, value in ssh.properties.items():
            text = re.sub(rf"('{re.escape(key)}' = )'[^']*'", rf"\1'{value}'", text)
        both.here.sql(text)
        assert both.here.tables("sales") == ("orders",)
        assert [server.accepted for server in ssh.servers] == [1, 1]
        both.sql("DROP REMOTE DATABASE sales")


def install(folder: Path, page: str, module: str, patch: pytest.MonkeyPatch) -> None:
    """The package of a guide: its Python block as a module, with the entry points of its TOML block."""
    (toml,) = of(page, "toml")
    (program,) = of(page, "python")
    (folder / f"{module}.py").write_text(program)
    metadata = folder / f"{module}-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
    groups: dict[str, dict[str, str]] = tomllib.loads(toml)["project"]["entry-points"]
    lines = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in each.items())
             for group, each in groups.items()]  # fmt: skip
    (metadata / "entry_points.txt").write_text("".join(lines))
    patch.syspath_prepend(str(folder))


def test_the_connector_of_another_package_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "connectors.md", "toys", monkeypatch)
    handler: Any = Connectors(Context()).connect(Endpoint("toy", (("toy.box", "blocks"),)))
    coroutine = handler.handle(Call(METHODS["get_all_databases"], ()), Session())
    with pytest.raises(StopIteration) as stopped:
        coroutine.send(None)
    assert stopped.value.value.value(METHODS["get_all_databases"]) == ("blocks",)


# waggle-dance.md


def test_the_filter_is_found_by_its_entry_point_and_hides_what_is_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "waggle-dance.md", "my_package", monkeypatch)
    hook = load_hook("mine")
    assert hook(Table(parameters={"secret": "true"}), None) is None
    assert hook(Table(parameters={}), None) == Table(parameters={})
