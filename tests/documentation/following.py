"""Follows a page as a reader would: every block, in order, as it is printed, in an empty folder.

| block | what the reader does |
|---|---|
| its first line is a comment with a name, such as `# daily.yml` or `-- remotes.sql` | stores it as this file |
| `bash` | types it into a shell |
| `bash` that ends with `metastored serve` | starts a server, which runs until the page says "stop the server" |
| `python` | types it into one `python`, which stays open for the whole page |
| `sql` | types it into `metastored sql` |
| `spark-sql` | gives its statements to `spark.sql` of that `python` |
| `text` after a line that ends with "prints:" | sees it in what the blocks before it printed |

Only addresses are replaced: ports of this machine by free ones, and servers that the page says the reader has
(`thrift://old:9083`) by those of the test. `pip install '.[…]'` is not run. The shell finds `metastored` and `pytest`,
and no Python that has them.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.documentation.blocks import NO_CODE, Block, blocks
from tests.support.apache import ROOT
from tests.support.ports import free_port
from tests.support.run_costs import JAVA_OPTIONS
from tests.support.spark_jvm import SparkJvm

SECONDS: Final = 240.0
"""For a block: a JVM starts, on a busy machine."""
READY: Final = "serves the Hive Metastore API"
SERVE: Final = "metastored serve"
SESSION: Final = Path(__file__).with_name("session.py")
PORTS: Final = re.compile(r"(localhost:|127\.0\.0\.1:|port |port=)(\d{4,5})\b")
COMMANDS: Final = ("metastored", "pytest")
SPARK: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "1",
}
"""Settings of the reader's machine, a small one. They are properties of the JVM: with a directory of settings in its
class path, it could not use the archive of Spark's classes (`tests/support/class_archive.py`)."""


class PageError(AssertionError):
    """A block of a page failed; the message begins with the page and the line."""


class Reader:
    """Follows pages, each in an empty folder. One `python` is used for all of them: Spark's JVM is started once."""

    def __init__(self, base: Path) -> None:
        self._base: Final = base
        self._session: Session | None = None
        self._jvm: SparkJvm | None = None
        bin = base / "bin"
        bin.mkdir()
        for name in COMMANDS:
            (bin / name).symlink_to(Path(sys.executable).with_name(name))
        self.folder: Final = base / "folder"
        self.home: Final = base / "home"
        self._packages: Final = base / "packages"

    def follow(
        self,
        page: Path,
        peers: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        *,
        one_jvm: bool = False,
    ) -> str:
        """Everything that the blocks print. Raises PageError with the page and the line of a block that fails.

        A page may say that the reader has something: `peers` are addresses of servers, and the addresses of the test;
        `files` are in the folder; `variables` are in the environment, such as credentials. With `one_jvm`, commands
        that start Spark share a JVM.
        """
        self.prepare()
        walk = Walk(self, page, peers or {}, {**(variables or {}), **(self.jvm() if one_jvm else {})})
        for name, text in (files or {}).items():
            (self.folder / name).write_text(text, encoding="utf-8")
        try:
            walk.run()
        except BaseException:
            self.close()
            raise
        finally:
            walk.stop_servers()
        if self._session is not None:
            self._session.request(page.name, "leave", "")
        return walk.printed

    def prepare(self) -> None:
        """Empties the folders, which stay what they are: Spark's JVM has its working directory there."""
        for folder in (self.folder, self.home, self._packages):
            folder.mkdir(exist_ok=True)
            for each in folder.iterdir():
                if each.is_dir() and not each.is_symlink():
                    shutil.rmtree(each)
                else:
                    each.unlink()

    def session(self) -> Session:
        if self._session is None:
            self._session = Session(self.folder, self.environment(), self._base / "session.log")
        return self._session

    def environment(self) -> dict[str, str]:
        """Without settings of this machine, and without its virtual environment."""
        own = ("METASTORED_", "COV_CORE", "AWS_", "PYSPARK_", "VIRTUAL_ENV", "SPARK_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        own_bin = Path(sys.executable).parent
        path = [each for each in os.environ["PATH"].split(os.pathsep) if Path(each).resolve() != own_bin.resolve()]
        return kept | {
            "PATH": os.pathsep.join([str(self._base / "bin"), *path]),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(self._packages)]),
            "HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "MASTER": "local[2]",
            "SPARK_DRIVER_MEMORY": "1g",
            JAVA_OPTIONS: " ".join(
                [kept.get(JAVA_OPTIONS, ""), *(f"-D{name}={value}" for name, value in SPARK.items())]
            ),
        }

    def install(self, folder: Path) -> None:
        """`pip install .` for a package that the page has made."""
        words = ["-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--no-deps", "--target"]
        done = subprocess.run(
            [sys.executable, *words, str(self._packages), "."], cwd=folder, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr

    def jvm(self) -> dict[str, str]:
        """The variables by which commands that start Spark use one JVM, one after the other."""
        if self._jvm is None:
            self._jvm = SparkJvm(sys.executable, cwd=self.folder, variables=self.environment())
        return self._jvm.environment

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
        if self._jvm is not None:
            self._jvm.stop()
            self._jvm = None


class Walk:
    """One page, from its first block to its last."""

    def __init__(self, reader: Reader, page: Path, peers: Mapping[str, str], variables: Mapping[str, str]) -> None:
        self.printed = ""
        self._reader = reader
        self._blocks = blocks(page)
        self._servers: list[subprocess.Popen[bytes]] = []
        self._peers = peers
        texts = "\n".join(block.text for block in self._blocks if block.reason is None)
        self._ports = {port: str(free_port()) for port in {"9083", *(found[1] for found in PORTS.findall(texts))}}
        self._environment = reader.environment() | {
            "METASTORED_PORT": self._ports["9083"],
            "METASTORED_URI": f"thrift://127.0.0.1:{self._ports['9083']}",
            **variables,
        }

    def run(self) -> None:
        for block in self._blocks:
            if block.reason is not None:
                continue
            try:
                self._follow(block)
            except PageError:
                raise
            except Exception as error:
                raise PageError(f"{block.page}:{block.line}: {error}") from error

    def stop_servers(self) -> None:
        for process in reversed(self._servers):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self._servers):
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._servers.clear()

    def _follow(self, block: Block) -> None:
        text = self._addressed(block.text)
        if block.stops_servers:
            self.stop_servers()
        if block.file is not None:
            file = self._path(block.file)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        elif block.language == "bash":
            self._shell(block, text)
        elif block.language in ("python", "spark-sql"):
            self.printed += self._reader.session().request(f"{block.page}:{block.line}", block.language, text)
        elif block.language == "sql":
            self._run(block, ["metastored", "sql", "-e", text])
        elif block.prints:
            missing = [line for line in text.splitlines() if line.strip() not in self._lines()]
            if missing:
                raise PageError(f"{block.page}:{block.line}: not printed: {missing}\nbut:\n{self.printed}")
        elif block.language not in NO_CODE:
            raise PageError(f"{block.page}:{block.line}: nobody knows what to do with a block of {block.language}")

    def _shell(self, block: Block, text: str) -> None:
        commands = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
        if (
            any(command.startswith("pip install .") for command in commands)
            and (self._reader.folder / "pyproject.toml").exists()
        ):
            self._reader.install(self._reader.folder)
        text = "\n".join(line for line in text.splitlines() if not line.startswith("pip install"))
        servers = [command for command in commands if command.startswith(SERVE)]
        if not servers:
            self._run(block, ["bash", "-e", "-o", "pipefail", "-c", text])
        elif servers != commands[-1:]:
            raise PageError(f"{block.page}:{block.line}: a server runs until it is stopped: end the block with it")
        else:
            before, _, command = text.rpartition(SERVE)
            self._serve(block, f"{before}exec {SERVE}{command}")

    def _run(self, block: Block, command: list[str]) -> None:
        done = subprocess.run(
            command,
            cwd=self._reader.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise PageError(f"{block.page}:{block.line}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        self.printed += done.stdout

    def _serve(self, block: Block, text: str) -> None:
        log = self._reader.folder.with_name(f"server-{len(self._servers)}.log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-e", "-c", text],
                cwd=self._reader.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self._servers.append(process)
        limit = time.monotonic() + 60
        while READY not in log.read_text("utf-8"):
            if process.poll() is not None or time.monotonic() > limit:
                raise PageError(f"{block.page}:{block.line}: the server does not start\n{log.read_text('utf-8')}")
            time.sleep(0.02)
        self.printed += log.read_text("utf-8")

    def _addressed(self, text: str) -> str:
        for address, peer in self._peers.items():
            text = text.replace(address, peer)
        return PORTS.sub(lambda found: found[1] + self._ports.get(found[2], found[2]), text)

    def _lines(self) -> set[str]:
        """The printed lines, with the addresses of the page."""
        return {line.strip() for line in self.printed.splitlines()}

    def _path(self, name: str) -> Path:
        return self._reader.home / name[2:] if name.startswith("~/") else self._reader.folder / name


class Session:
    """A `python` of the reader (`session.py`)."""

    def __init__(self, folder: Path, environment: Mapping[str, str], log: Path) -> None:
        self._log: Final = log
        read, write = os.pipe()
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-u", str(SESSION), str(write)],
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=[write],
                start_new_session=True,  # Python and the JVM end together.
            )
        os.close(write)
        self._replies = os.fdopen(read, "rb", buffering=0)
        self._position = 0

    def request(self, name: str, kind: str, text: str) -> str:
        """What a block prints."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"name": name, "kind": kind, "text": text}).encode() + b"\n")
        self._process.stdin.flush()
        error: str | None = f"not done after {SECONDS:g} s"
        if select.select([self._replies], [], [], SECONDS)[0]:
            line = self._replies.readline()
            error = json.loads(line)["error"] if line else "python has ended"
        with self._log.open("rb") as log:
            log.seek(self._position)
            printed = log.read()
        self._position += len(printed)
        if error is not None:
            raise PageError(f"{name}: {error}\n{printed.decode(errors='replace')[-4000:]}")
        return printed.decode(errors="replace")

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._replies.close()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
