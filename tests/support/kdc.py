"""A real MIT KDC for tests: a realm of its own, in a folder of its own, on a free port of 127.0.0.1.

Nothing of the machine's own Kerberos set-up is read or changed: every program gets its configuration by KRB5_CONFIG
and KRB5_KDC_PROFILE. The KDC is stopped by its process id and its folder removed. It never imports gssapi.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.ports import free_port

REALM = "METASTORED.TEST"
HOST = "127.0.0.1"
START_TIMEOUT = 30.0
STOP_TIMEOUT = 10.0
COMMAND_TIMEOUT = 30.0
MASTER_PASSWORD = "of a database of one test run"
PROGRAMS = ("kdb5_util", "kadmin.local", "krb5kdc", "kinit")
# Debian keeps the first three where only root's PATH looks.
PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))


def missing() -> str | None:
    """Why tests with a KDC cannot run here, as one sentence for a skip; None when they can."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if absent:
        return f"there is no KDC on this machine ({', '.join(absent)}): make system installs it"
    if importlib.util.find_spec("gssapi") is None:
        return "the kerberos extra (gssapi) is not installed: make system installs it"
    return None


class Kdc:
    """A running KDC, and its administration."""

    def __init__(self, folder: Path, realm: str, port: int) -> None:
        self.folder = folder
        self.realm = realm
        self.port = port
        self._known: set[str] = set()

    @property
    def config(self) -> Path:
        """The krb5.conf of this realm."""
        return self.folder / "krb5.conf"

    def principal(self, name: str) -> str:
        """Creates a principal with a random key; returns its full name. An existing principal is not changed."""
        if name not in self._known:
            self._admin(f"addprinc -randkey {name}")
            self._known.add(name)
        return f"{name}@{self.realm}"

    def rekey(self, name: str) -> None:
        """Gives a principal a new key; keytabs with the old one stay as they are."""
        self._admin(f"cpw -randkey {name}")

    def keytab(self, *principals: str) -> Path:
        """A new keytab with the keys of these principals."""
        file = Path(tempfile.mkdtemp(dir=self.folder)) / "keytab"
        # Without -norandkey a principal's key would change, and its other keytabs were worth nothing.
        self._admin(*(f"ktadd -norandkey -k {file} {name}" for name in principals))
        return file

    def kinit(self, principal: str, lifetime: str = "1h") -> Path:
        """Logs in from a keytab: a new ticket cache."""
        cache = Path(tempfile.mkdtemp(dir=self.folder)) / "cache"
        self._run("kinit", "-k", "-t", self.keytab(principal), "-l", lifetime, "-c", cache, principal)
        return cache

    def config_with(self, **libdefaults: str) -> Path:
        """Another krb5.conf of this realm, with further settings in [libdefaults]."""
        file = Path(tempfile.mkdtemp(dir=self.folder)) / "krb5.conf"
        lines = "".join(f"  {name} = {value}\n" for name, value in libdefaults.items())
        file.write_text(self.config.read_text().replace("[libdefaults]\n", "[libdefaults]\n" + lines))
        return file

    @property
    def environment(self) -> dict[str, str]:
        """The environment of Kerberos's programs."""
        return {**os.environ, "KRB5_CONFIG": str(self.config), "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf")}

    def _write_configuration(self) -> None:
        self.config.write_text(f"""\
[libdefaults]
  default_realm = {self.realm}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
[realms]
  {self.realm} = {{
    kdc = {HOST}:{self.port}
  }}
""")
        (self.folder / "kdc.conf").write_text(f"""\
[kdcdefaults]
  kdc_listen = {HOST}:{self.port}
  kdc_tcp_listen = {HOST}:{self.port}
[realms]
  {self.realm} = {{
    database_name = {self.folder}/principal
    key_stash_file = {self.folder}/stash
    acl_file = {self.folder}/kadm5.acl
    max_life = 1d
  }}
[logging]
  kdc = FILE:{self.folder}/kdc.log
""")

    def _admin(self, *commands: str) -> None:
        said = self._run("kadmin.local", "-r", self.realm, text="".join(f"{each}\n" for each in commands))
        # It reports failures on standard error, and leaves with 0 all the same.
        errors = [line for line in said.splitlines() if "while" in line]
        assert not errors, "\n".join(errors)

    def _run(self, program: str, *arguments: str | Path, text: str = "") -> str:
        found = shutil.which(program, path=PATH)
        assert found is not None, missing()
        done = subprocess.run(
            [found, *arguments],
            input=text,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=COMMAND_TIMEOUT,
        )
        assert done.returncode == 0, f"{program} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    @contextmanager
    def running(self) -> Iterator[None]:
        """Makes the realm and serves it."""
        self._write_configuration()
        self._run("kdb5_util", "create", "-s", "-r", self.realm, "-P", MASTER_PASSWORD)
        program = shutil.which("krb5kdc", path=PATH)
        assert program is not None, missing()
        with (self.folder / "output").open("wb") as output:
            process = subprocess.Popen(
                [program, "-n", "-r", self.realm], env=self.environment, stdout=output, stderr=output
            )
        try:
            self._wait_until_it_listens(process)
            yield
        finally:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _wait_until_it_listens(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            try:
                socket.create_connection((HOST, self.port), timeout=1).close()
                return
            except OSError:
                said = (self.folder / "output").read_text(errors="replace")
                assert process.poll() is None, f"krb5kdc ended with {process.returncode}:\n{said}"
                assert time.monotonic() < deadline, f"krb5kdc does not listen after {START_TIMEOUT:g} s:\n{said}"
                time.sleep(0.02)


@contextmanager
def running_kdc(realm: str = REALM) -> Iterator[Kdc]:
    """Starts a KDC with a new, empty realm; stops it and removes its folder at the end."""
    with tempfile.TemporaryDirectory(prefix="metastored-kdc-") as folder:
        kdc = Kdc(Path(folder), realm, free_port())
        with kdc.running():
            yield kdc
