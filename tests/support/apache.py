"""Real Apache Hive metastores, started for tests on free ports of 127.0.0.1, each on its own Derby database.

Hive 2.3 runs on the jars inside pyspark, 3.1 on those `make setup` unpacks, and the others on those `make
peers` installs. Nothing here is a stand-in, and nothing here is shared: each context manager owns one process,
one folder and one port, and kills that process by its id when the block ends. It never imports pyspark, and
it never downloads.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from xml.sax.saxutils import escape

from tests.support.ports import free_port
from tests.support.thrift_probe import is_up

ROOT = Path(__file__).resolve().parents[2]
PEERS = Path(os.environ.get("HIVE_PEERS", ROOT / ".peers")).resolve()
FLINK = "1.20.0"
JAVA_SOURCES = Path(__file__).parent / "java"

HOST = "127.0.0.1"
HEAP = "-Xmx512m"
# Hive's calls deadlock in Derby while several processes write. Derby notices it after 20 seconds, and a call waits for
# 60: longer than clients do. Hive repeats a call that Derby has ended.
DERBY_LOCKS = ("-Dderby.locks.deadlockTimeout=1", "-Dderby.locks.waitTimeout=5")
START_TIMEOUT = 120.0
STOP_TIMEOUT = 10.0
LOG_TAIL_LINES = 60

# Hive and DataNucleus reflect into the JDK; Java 17 closes these packages by default.
OPENED_PACKAGES = ("java.lang", "java.net", "java.nio", "java.util", "java.util.concurrent", "java.time")

# A JRE has no compiler, so the small main classes are compiled by Janino, which pyspark carries.
COMPILER = "org.codehaus.janino.SimpleCompiler"
COMPILER_JARS = ("janino-*.jar", "commons-compiler-*.jar")
# A standalone metastore expects an installed Hadoop beside it; these are what it uses of one. The first come
# from pyspark, the others from the jars of Hive 3.1.3.
HADOOP_JARS = ("hadoop-client-*.jar", "javax.servlet-api-*.jar")
LIBRARY_JARS = tuple(
    f"{name}-*.jar"
    for name in (
        "commons-cli",
        "commons-collections",
        "commons-lang",
        "commons-logging",
        "commons-math3",
        "gson",
        "httpclient",
        "slf4j-api",
    )
)
# Hive 4.1.0 parses its filters with this, an undeclared dependency.
FILTER_JARS = ("antlr4-runtime-*.jar",)
DERBY_JARS = ("derby-*.jar", "derbyshared-*.jar", "derbytools-*.jar")

# A call that its database refuses is tried ten times, two seconds apart, before the client hears of it.
NO_RETRIES = {"hive.hmshandler.retry.attempts": "1", "hive.hmshandler.retry.interval": "10ms"}
STANDALONE_SETTINGS = {
    "metastore.schema.verification": "false",
    "metastore.thrift.uris": "",
    # The defaults of these two name classes of hive-exec, which a standalone metastore does not have.
    "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
    "metastore.task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
}
# Hive 4.1.0's jars have hive-exec's, which understands Kryo; that of 4.0 understands a filter's text.
EXPRESSION_PROXIES = {
    "4.0.0": "org.apache.hadoop.hive.metastore.MsckPartitionExpressionProxy",
    "4.0.1": "org.apache.hadoop.hive.metastore.MsckPartitionExpressionProxy",
    "4.1.0": "org.apache.hadoop.hive.ql.optimizer.ppr.PartitionExpressionForMetastore",
}
DERBY_DRIVER = "org.apache.derby.jdbc.EmbeddedDriver"
# The listener of the notification log is not in the metastore's own jars.
KEEPING_EVENTS = {
    "metastore.transactional.event.listeners": "org.apache.hive.hcatalog.listener.DbNotificationListener",
    # Else only Hadoop's proxy users may read the log.
    "metastore.event.db.notification.api.auth": "false",
}


@dataclass(frozen=True)
class ApacheMetastore:
    """A running server: where it listens, what it is, and where it keeps its files."""

    version: str
    host: str
    port: int
    warehouse: Path
    pid: int
    log: Path

    @property
    def home(self) -> Path:
        """Its home directory, which has its trash if it has one."""
        return self.warehouse.parent

    @property
    def uri(self) -> str:
        return f"thrift://{self.host}:{self.port}"


class MissingPeer(Exception):
    """The jars of a metastore are not on this machine; the message names the command that installs them."""


class StartFailure(Exception):
    """A metastore exited or did not respond at the start; the message ends with its log."""


@contextlib.contextmanager
def apache_2_3(
    more: Mapping[str, str] = MappingProxyType({}),
    ready: Callable[[str, int], bool] = is_up,
    *,
    events: bool = False,
    core: Mapping[str, str] = MappingProxyType({}),
    flags: Sequence[str] = (),
) -> Iterator[ApacheMetastore]:
    """Hive 2.3.10 from the jars inside pyspark; with `events` it keeps a notification log.

    `more` are settings of its own; `ready` checks whether it is up, if they change its protocol. `core` are settings
    of Hadoop (core-site.xml), `flags` those of its JVM.
    """
    listener = listener_jars("2.3.10") if events else []
    settings = {
        **NO_RETRIES,
        "datanucleus.connectionPoolingType": "HikariCP",  # pyspark has no BoneCP, Hive's default
        "datanucleus.schema.autoCreateAll": "true",
        "hive.async.log.enabled": "false",  # nor the ring buffer of asynchronous log4j
        "hive.metastore.schema.verification": "false",
        "hive.metastore.uris": "",
        **({f"hive.{key}": value for key, value in KEEPING_EVENTS.items()} if events else {}),
        **more,
    }
    with _home("2.3.10", "hive-site.xml", "hive.metastore.warehouse.dir", settings) as home:
        if core:
            write_site(home.conf / "core-site.xml", core)
        jars = [*sorted(_pyspark_jars().glob("*.jar")), *listener]
        with _running(home, jars, ["Hive2"], ready, flags) as metastore:
            yield metastore


@contextlib.contextmanager
def apache_3_1(
    more: Mapping[str, str] = MappingProxyType({}),
    ready: Callable[[str, int], bool] = is_up,
    *,
    events: bool = False,
    acid: bool = False,
) -> Iterator[ApacheMetastore]:
    """Hive 3.1.3 from the jars that `make setup` unpacks; with `events` it keeps a notification log.

    `more` are settings of its own; `ready` checks whether it is up, if they change its protocol. With `acid` it takes
    tables whose rows can be changed: it looks for the class of their format, which is Hive's own.
    """
    jars = [*_peer_jars("3.1.3", installed_by="make setup"), *_matching(_pyspark_jars(), DERBY_JARS)]
    jars += _exec_jars("3.1.3") if acid else []
    settings = {**STANDALONE_SETTINGS, **NO_RETRIES, "datanucleus.schema.autoCreateAll": "true", **more}
    if events:
        jars += listener_jars("3.1.3")
        settings |= {f"hive.{key}": value for key, value in KEEPING_EVENTS.items()}
    with _home("3.1.3", "metastore-site.xml", "metastore.warehouse.dir", settings) as home:
        with _running(home, [*jars, *_matching(_pyspark_jars(), COMPILER_JARS)], ["Hive3"], ready) as metastore:
            yield metastore


@contextlib.contextmanager
def apache_peer(
    version: str, more: Mapping[str, str] = MappingProxyType({}), *, acid: bool = False
) -> Iterator[ApacheMetastore]:
    """A Hive that `make peers` installs, such as "4.0.1", on the schema that its own script makes.

    `more` and `acid` as above.
    """
    jars = _jars_of_peer(version)
    # The jars of 4.1.0 have Hive itself.
    jars += _exec_jars(version) if acid and version != "4.1.0" else []
    script = PEERS / f"hive-{version}" / "schema.sql"
    settings = {**STANDALONE_SETTINGS, **NO_RETRIES}
    if version in EXPRESSION_PROXIES:
        settings["metastore.expression.proxy"] = EXPRESSION_PROXIES[version]
    settings |= more
    with _home(version, "metastore-site.xml", "metastore.warehouse.dir", settings) as home:
        main = ["HiveByScript", str(script), home.jdbc_url]
        with _running(home, jars, main) as metastore:
            yield metastore


def jars_of_hive_3_1() -> list[Path]:
    """Hive 3.1.3's, and the compiler for small programs that use them."""
    return [*_peer_jars("3.1.3", installed_by="make setup"), *_matching(_pyspark_jars(), COMPILER_JARS)]


def jars_of_hive(version: str) -> list[Path]:
    """The jars of a Hive, and the compiler for small programs that use them."""
    return jars_of_hive_3_1() if version == "3.1.3" else _jars_of_peer(version)


def _jars_of_peer(version: str) -> list[Path]:
    return [
        *_peer_jars(version, installed_by="make peers"),
        *_matching(_pyspark_jars(), (*HADOOP_JARS, *DERBY_JARS, *COMPILER_JARS)),
        *_matching(PEERS / "hive-3.1.3", LIBRARY_JARS),
        *_matching(PEERS / "hive-4.0.1", FILTER_JARS),
    ]


def listener_jars(version: str) -> list[Path]:
    """The jar of what writes a notification log, or MissingPeer."""
    jars = sorted((PEERS / f"listener-{version}").glob("*.jar"))
    if not jars:
        raise MissingPeer(f"Hive {version}'s notification listener is not on this machine: make peers installs it")
    return jars


def run_with_hive_2_3(main: str, given: str = "") -> str:
    """The output of a small program that uses Hive 2.3.10's classes; `main` is its source, `given` its input."""
    return _printed(sorted(_pyspark_jars().glob("*.jar")), main, given)


def run_with_hive_3_1(main: str, given: str = "") -> str:
    """The same with Hive 3.1.3's."""
    return _printed(jars_of_hive_3_1(), main, given)


def run_with_hive_4_1(main: str, *arguments: str) -> str:
    """The same with Hive 4.1.0's, which has hive-exec whole."""
    return _printed(_jars_of_peer("4.1.0"), main, "", arguments)


def hive_exec_command(version: str, main: str) -> list[str]:
    """The command of such a program with the classes of Hive itself, of 3.1.3 or 4.0.1."""
    return _command(hive_exec_jars(version), main)


def run_with_hive_driver(main: str, given: str) -> str:
    """The same with what the driver of Hive 3.1.3 needs to start: its program gets the name of its own file.

    The driver loads Calcite, which plans queries, also for statements without one. It is that of Hive 4.0.1, whose jar
    has it inside; other libraries are those of pyspark.
    """
    others = [jar for jar in sorted(_pyspark_jars().glob("*.jar")) if not jar.name.startswith(("hive-", "spark-"))]
    jars = [*hive_exec_jars("3.1.3"), *_exec_jars("4.0.1"), *others]
    return _printed(jars, main, given, [str(JAVA_SOURCES / f"{main}.java")])


def run_with_flink(main: str, given: str) -> str:
    """The same with Flink, its connector for Hive, and Hive 3.1.3."""
    jars = sorted((PEERS / f"flink-{FLINK}").glob("*.jar"))
    if not jars:
        raise MissingPeer(f"Flink {FLINK} is not on this machine: make peers installs it")
    return _printed([*jars, *hive_exec_jars("3.1.3")], main, given)


def hive_exec_jars(version: str) -> list[Path]:
    """The jar of Hive itself, what it needs of its metastore and of Hadoop, and the compiler; or MissingPeer."""
    return [*_exec_jars(version), *(jars_of_hive_3_1() if version == "3.1.3" else _jars_of_peer(version))]


def _exec_jars(version: str) -> list[Path]:
    jars = sorted((PEERS / f"exec-{version}").glob("*.jar"))
    if not jars:
        raise MissingPeer(f"hive-exec {version} is not on this machine: make peers installs it")
    return jars


def hive_defaults(version: str) -> str:
    """The values of get_config_value of a Hive with default settings, as `java/HiveDefaults.java` prints them."""
    if version == "2.3.10":
        return _printed(sorted(_pyspark_jars().glob("*.jar")), "HiveDefaults", "", ["hive"])
    if version == "3.1.3":
        jars = [*_peer_jars("3.1.3", installed_by="make setup"), *_matching(_pyspark_jars(), COMPILER_JARS)]
        return _printed(jars, "HiveDefaults", "", ["metastore"])
    return _printed(_jars_of_peer(version), "HiveDefaults", "", ["metastore"])


def _printed(jars: Sequence[Path], main: str, given: str, arguments: Sequence[str] = ()) -> str:
    command = _command(jars, main, arguments)
    done = subprocess.run(command, input=given, capture_output=True, timeout=START_TIMEOUT, text=True)
    if done.returncode != 0:
        raise StartFailure(f"{main} ended with status {done.returncode}:\n{done.stderr}")
    return done.stdout


def _command(jars: Sequence[Path], main: str, arguments: Sequence[str] = ()) -> list[str]:
    source = str(JAVA_SOURCES / f"{main}.java")
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES]
    options = [HEAP, "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", *opened]
    return [java(), *options, "-cp", os.pathsep.join(map(str, jars)), COMPILER, source, main, *arguments]


@dataclass(frozen=True)
class _Home:
    """The temporary folder of one server: configuration, Derby database, warehouse and log."""

    version: str
    folder: Path

    @property
    def conf(self) -> Path:
        return self.folder / "conf"

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def jdbc_url(self) -> str:
        return f"jdbc:derby:;databaseName={self.folder}/metastore_db;create=true"


@contextlib.contextmanager
def _home(version: str, site: str, warehouse_key: str, settings: Mapping[str, str]) -> Iterator[_Home]:
    home = _Home(version, Path(tempfile.mkdtemp(prefix=f"hive-{version}-")))
    try:
        home.conf.mkdir()
        home.warehouse.mkdir()
        of_this_home = {
            "javax.jdo.option.ConnectionDriverName": DERBY_DRIVER,
            "javax.jdo.option.ConnectionURL": home.jdbc_url,
            warehouse_key: f"file:{home.warehouse}",
        }
        write_site(home.conf / site, {**settings, **of_this_home})
        yield home
    finally:
        shutil.rmtree(home.folder, ignore_errors=True)


@contextlib.contextmanager
def _running(
    home: _Home,
    jars: Sequence[Path],
    main: Sequence[str],
    ready: Callable[[str, int], bool] = is_up,
    flags: Sequence[str] = (),
) -> Iterator[ApacheMetastore]:
    """Runs the class that main names, from source; the rest of main and a free port are its arguments."""
    port = free_port()
    command = [
        java(),
        HEAP,
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES),
        *DERBY_LOCKS,
        f"-Dderby.stream.error.file={home.folder}/derby.log",
        f"-Djava.io.tmpdir={home.folder}",
        f"-Duser.home={home.folder}",
        *flags,
        "-cp",
        os.pathsep.join(str(path) for path in (home.conf, *jars)),
        COMPILER,
        str(JAVA_SOURCES / f"{main[0]}.java"),
        *main,
        "-p",
        str(port),
    ]
    with home.log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=home.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        _wait_until_it_answers(process, home, port, ready)
        yield ApacheMetastore(home.version, HOST, port, home.warehouse, process.pid, home.log)
    finally:
        _stop(process)


def _wait_until_it_answers(
    process: subprocess.Popen[bytes], home: _Home, port: int, ready: Callable[[str, int], bool]
) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise StartFailure(_failure(f"Hive {home.version} ended with status {process.returncode}", home.log))
        if ready(HOST, port):
            return
        time.sleep(0.2)
    silence = f"Hive {home.version} did not reply on port {port} in {START_TIMEOUT:.0f} s"
    raise StartFailure(_failure(silence, home.log))


def _failure(what: str, log: Path) -> str:
    tail = log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
    return "\n".join([f"{what}. The end of its log:", *tail])


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends the server by its id: first as an operator would, then for certain."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def write_site(path: Path, settings: Mapping[str, str]) -> None:
    properties = "".join(
        f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in sorted(settings.items())
    )
    path.write_text(f'<?xml version="1.0"?>\n<configuration>\n{properties}</configuration>\n')


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if found is None:
        raise MissingPeer("java is not on this machine: apt-get install openjdk-17-jre-headless installs it")
    return found


def _pyspark_jars() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise MissingPeer("pyspark is not installed: make setup installs it")
    return Path(spec.origin).parent / "jars"


def _peer_jars(version: str, *, installed_by: str) -> list[Path]:
    folder = PEERS / f"hive-{version}"
    jars = sorted(folder.glob("*.jar"))
    if not jars:
        raise MissingPeer(f"the Hive {version} server is not on this machine: {installed_by} installs it")
    return jars


def _matching(folder: Path, patterns: Sequence[str]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(folder.glob(pattern))]
