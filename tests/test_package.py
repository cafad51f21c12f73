"""The package as a whole: what is public, what it costs to import, and that it is documented and typed."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest

import metastored
from metastored.catalog import AsyncCatalogManager, CatalogManager
from metastored.client._async.acid import AsyncRead, AsyncWrite
from metastored.client._async.caller import AsyncCaller
from metastored.client._async.capabilities import AsyncCapabilities
from metastored.client._async.client import AsyncClient
from metastored.client._async.locks import AsyncLock, AsyncTransaction
from metastored.client._sync.caller import Caller
from metastored.client._sync.client import Client
from metastored.client.cache import MetadataCache
from metastored.wire import generated
from metastored.wire.methods import METHODS

USED = (
    AsyncCaller,
    AsyncCapabilities,
    AsyncCatalogManager,
    AsyncClient,
    AsyncLock,
    AsyncRead,
    AsyncTransaction,
    AsyncWrite,
    Caller,
    CatalogManager,
    Client,
    MetadataCache,
)
"""The public classes of the client."""

ROOT = Path(__file__).parent.parent


def test_the_package_has_py_typed() -> None:
    assert files(metastored).joinpath("py.typed").is_file()


@pytest.mark.slow
def test_a_built_wheel_has_the_command_and_the_pytest_plugin(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("metastored-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (points,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        text = archive.read(points).decode()
    assert "[console_scripts]\nmetastored = metastored.cli:main\n" in text
    assert "[pytest11]\nmetastored.pytest_plugin = metastored.pytest_plugin\n" in text
    # It is complete: the command runs from the wheel alone.
    program = "import metastored.cli; print(metastored.__file__); metastored.cli.main()"
    # The wheel is a second copy of all modules: their coverage is not measured.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment = {**kept, "PYTHONPATH": str(wheel)}
    words = [sys.executable, "-P", "-c", program, "relocate", "--help"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.startswith(str(wheel))) == (0, True), done.stderr
    assert "--dry-run" in done.stdout


def test_public_names_are_listed_in_all() -> None:
    public = {"aconnect", "catalog", "connect", "database", "errors", "partition", "structs", "table", "to_dict"}
    assert public <= set(dir(metastored))
    assert "__version__" in dir(metastored)
    assert all(getattr(metastored, name) is not None for name in dir(metastored))


def test_a_private_name_is_refused_with_the_list_of_public_ones() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'conect'; it has .*connect"):
        _ = metastored.conect


def test_an_import_of_the_package_imports_nothing_else_of_it() -> None:
    text = "import sys, metastored; print([name for name in sys.modules if name.startswith('metastored.')])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_writing_a_table_down_needs_neither_client_nor_server() -> None:
    text = (
        "import sys, metastored; metastored.table('d.t', {'a': 'int'});"
        "heavy = ('metastored.client', 'metastored.server', 'metastored.store', 'sqlalchemy');"
        "print([name for name in sys.modules if name.startswith(heavy)])"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_all_structs_and_enums_are_in_one_place() -> None:
    names = {*generated.STRUCTS, *generated.ENUMS}
    assert {*metastored.structs.__all__} == {*names, "from_dict", "replace", "to_dict"}
    for name in names:
        assert getattr(metastored.structs, name) is getattr(generated, name)


@pytest.mark.slow
def test_structs_have_their_types_for_type_checkers(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import metastored\n"
        "from metastored.structs import Table, replace, to_dict\n"
        "made: Table = replace(metastored.table('d.t', {'a': 'int'}), owner='ann')\n"
        "plain: dict[str, object] = to_dict(made)\n"
        "with metastored.connect('thrift://host') as client:\n"
        "    reveal_type(client.table('d.t').tableName)\n"
        "    reveal_type(client.api.get_all_tables('d'))\n"
        "    client.partition('d.t', {'ds': '1'})\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, cwd=tmp_path)
    notes = [line.partition("Revealed type is ")[2] for line in done.stdout.splitlines() if "Revealed" in line]
    assert done.returncode == 0, done.stdout
    assert [note.replace("builtins.", "").strip('"') for note in notes] == ["str | None", "tuple[str, ...]"]


@pytest.mark.parametrize("kind", USED, ids=lambda kind: kind.__name__)
def test_every_public_method_has_a_docstring(kind: type) -> None:
    members = [(name, value) for name, value in inspect.getmembers(kind) if not name.startswith("_")]
    functions = [(name, value.fget if isinstance(value, property) else value) for name, value in members]
    assert [name for name, value in functions if callable(value) and not inspect.getdoc(value)] == []


def test_docstrings_of_the_api_have_purpose_versions_and_errors() -> None:
    for name, method in METHODS.items():
        text = inspect.getdoc(getattr(Caller, name)) or ""
        assert text.startswith(method.doc), name
        assert "Hive " in text, name
        assert all(error in text for error in method.throws), name
    assert inspect.getdoc(Caller.get_table) == (
        "Returns a table or a view by its name.\n\nHive 2.3 to 4.0.0. Raises MetaException, NoSuchObjectException."
    )
