"""Fixtures for the tests of all packages, and the list of skipped tests.

hive_2_3 and hive_3_1 come with `make setup` and are never skipped; the others skip unless `make peers`
installed them, and kdc unless `make system` did. Each starts once a session, at its first use; tests that
use one create databases under names of their own.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.apache import ApacheMetastore, MissingPeer, apache_2_3, apache_3_1, apache_peer
from tests.support.durations import RecordedDurations
from tests.support.examples import register_profiles
from tests.support.kdc import Kdc, running_kdc
from tests.support.kdc import missing as missing_kdc
from tests.support.left_out import LeftOut
from tests.support.needs import Needs
from tests.support.postgres import PostgresServer, shared_postgres, stop_shared_postgres
from tests.support.run_costs import RunCosts
from tests.support.short_reports import ShortReports
from tests.support.soak import SoakSeed

if TYPE_CHECKING:
    from tests.support.iceberg_rest import RestCatalog

# Programs that tests start run the code of this tree, as the tests themselves do.
os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent / "src")

# A background job of a shell ignores Ctrl-C, and so would all programs that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

register_profiles()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(LeftOut(), "metastored-left-out")
    config.pluginmanager.register(Needs(), "metastored-needs")
    config.pluginmanager.register(RunCosts(), "metastored-run-costs")
    config.pluginmanager.register(RecordedDurations(), "metastored-durations")
    config.pluginmanager.register(SoakSeed(), "metastored-soak-seed")
    config.pluginmanager.register(ShortReports(), "metastored-short-reports")


def pytest_unconfigure() -> None:
    stop_shared_postgres()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from tests.support.sharing import Sharing

    return Sharing(config, log)


@pytest.fixture(scope="session")
def hive_2_3() -> Iterator[ApacheMetastore]:
    """A real Hive 2.3.10 metastore."""
    with apache_2_3() as metastore:
        yield metastore


@pytest.fixture(scope="session")
def hive_3_1() -> Iterator[ApacheMetastore]:
    """A real Hive 3.1.3 metastore."""
    with apache_3_1() as metastore:
        yield metastore


def _peer(version: str) -> Iterator[ApacheMetastore]:
    peer = apache_peer(version)
    try:
        metastore = peer.__enter__()
    except MissingPeer as reason:
        pytest.skip(str(reason))
    try:
        yield metastore
    finally:
        peer.__exit__(None, None, None)


@pytest.fixture(scope="session")
def hive_3_0() -> Iterator[ApacheMetastore]:
    """A real Hive 3.0.0 metastore."""
    yield from _peer("3.0.0")


@pytest.fixture(scope="session")
def hive_4_0_0() -> Iterator[ApacheMetastore]:
    """A real Hive 4.0.0 metastore."""
    yield from _peer("4.0.0")


@pytest.fixture(scope="session")
def hive_4_0_1() -> Iterator[ApacheMetastore]:
    """A real Hive 4.0.1 metastore."""
    yield from _peer("4.0.1")


@pytest.fixture(scope="session")
def hive_4_1_0() -> Iterator[ApacheMetastore]:
    """A real Hive 4.1.0 metastore."""
    yield from _peer("4.1.0")


@pytest.fixture(scope="session")
def postgres() -> PostgresServer:
    """The PostgreSQL of the session, in which each test has a database of its own."""
    return shared_postgres()


@pytest.fixture(scope="session")
def kdc() -> Iterator[Kdc]:
    """A real KDC with a realm of its own. Who uses it sets KRB5_CONFIG to its `config`."""
    reason = missing_kdc()
    if reason is not None:
        pytest.skip(reason)
    with running_kdc() as running:
        yield running


@pytest.fixture(scope="session")
def glue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of a Glue on this machine."""
    from tests.support.glue import running_glue

    with running_glue(tmp_path_factory.mktemp("glue")) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def iceberg_rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestCatalog]:
    """An Iceberg REST catalog on this machine."""
    from tests.support.iceberg_rest import running_rest_catalog

    with running_rest_catalog(tmp_path_factory.mktemp("iceberg-rest")) as running:
        yield running
