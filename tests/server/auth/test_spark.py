"""PySpark's own Java metastore client through Kerberos and with delegation tokens: unmodified, with the
usual settings of Hive. It is tested with each of the three protections (hadoop.rpc.protection)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import metastored.spark
from metastored.testing import RunningServer
from tests.server.conftest import Realm
from tests.server.support import users_of_events
from tests.support.apache import write_site
from tests.support.forks import running_server
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.kerberos, pytest.mark.slow]

COLUMNS = 3000
"""A table whose description is longer than a client takes in one protected message."""

SCRIPT = f"""
def rows(query):
    return [list(row) for row in spark.sql(query).collect()]

result = {{"databases": rows("show databases")}}
spark.sql("create database d")
spark.sql("create table d.t (a int, b string) using parquet")
spark.sql("insert into d.t values (1, 'x'), (2, 'y')")
result["t"] = rows("select * from d.t order by a")
spark.sql("create table d.h (a int) partitioned by (p string) stored as textfile")
spark.sql("insert into d.h partition (p = 'u') values (3)")
result["h"] = rows("select a, p from d.h where p = 'u'")
columns = ", ".join(f"a_column_with_a_long_name_{{i}} bigint" for i in range({COLUMNS}))
spark.sql(f"create table d.wide ({{columns}}) using parquet")
result["wide"] = len(spark.table("d.wide").columns)
result["owner"] = [row[1] for row in rows("describe extended d.t") if row[0] == "Owner"]
"""


STATEMENTS = """
import metastored.spark
remote = "CREATE REMOTE DATABASE old WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')"
metastored.spark.sql(spark, remote)
result["remotes"] = [row["name"] for row in metastored.spark.sql(spark, "SHOW REMOTES").collect()]
"""
"""Statements of metastored, whose client uses the ticket of the process."""

LANCE = """
lance, df, managed = metastored.spark.lance, spark.range(3), {"managed_by": "impl"}
versions = [lance.write(df, "d.points", properties=managed), lance.write(df, "d.points", mode="append")]
result["lance"] = [*versions, lance.read(spark, "d.points").count()]
"""
"""A Lance table whose versions the metastore keeps: the process that commits uses the ticket too."""

GET_TOKEN = """
jvm = spark.sparkContext._jvm
conf = jvm.org.apache.hadoop.hive.conf.HiveConf()
for name, value in spark.sparkContext.getConf().getAll():
    if name.startswith("spark.hadoop."):
        conf.set(name.removeprefix("spark.hadoop."), value)
client = jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)
token = client.getDelegationToken("alice", "alice")
result = {"token": token, "until": client.renewDelegationToken(token)}
"""
"""The Java code of a launcher of jobs, which uses its ticket."""

USE_TOKEN = """
jvm = spark.sparkContext._jvm
user = jvm.org.apache.hadoop.security.UserGroupInformation.getLoginUser()
jvm.org.apache.hadoop.hive.shims.Utils.setTokenStr(user, TOKEN, "metastored")
result = {"ticket": user.hasKerberosCredentials()}
spark.sql("create database d")
spark.sql("create table d.t (a int) using parquet")
spark.sql("insert into d.t values (1), (2)")
result["t"] = [row[0] for row in spark.sql("select a from d.t order by a").collect()]
conf = jvm.org.apache.hadoop.hive.conf.HiveConf()
for name, value in spark.sparkContext.getConf().getAll():
    if name.startswith("spark.hadoop."):
        conf.set(name.removeprefix("spark.hadoop."), value)
client = jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)
client.cancelDelegationToken(TOKEN)
try:
    jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)
except Exception as error:
    result["after"] = str(error)
"""
"""The code of a job, which uses its token."""


@pytest.fixture
def server(realm: Realm, protection: str) -> Iterator[RunningServer]:
    """It accepts only the protection of the test."""
    qop = {"authentication": "auth", "integrity": "auth-int", "privacy": "auth-conf"}[protection]
    kerberos: dict[str, Any] = {"kerberos_principal": realm.service, "kerberos_keytab": realm.keytab, "sasl_qop": qop}
    with running_server(**kerberos, log_level="debug") as running:
        yield running


def hadoop_configuration(folder: Path, realm: Realm, protection: str) -> Path:
    """A folder for HADOOP_CONF_DIR. As `spark.hadoop.…` these come too late: the JVM has logged in by then."""
    settings = {
        "hadoop.security.authentication": "kerberos",
        "hadoop.rpc.protection": protection,
        # Hadoop's input formats require the setting of a renewer of tokens, even if none is needed.
        "yarn.resourcemanager.principal": f"rm/localhost@{realm.kdc.realm}",
    }
    write_site(folder / "core-site.xml", settings)
    return folder


def settings_of(server: RunningServer, realm: Realm) -> dict[str, str]:
    uri, principal = f"thrift://localhost:{server.port}", f"hive/_HOST@{realm.kdc.realm}"
    return {
        **metastored.spark.conf(uri, server.warehouse, principal=principal),
        "spark.driver.extraJavaOptions": f"-Djava.security.krb5.conf={realm.kdc.config}",
    }


@pytest.mark.parametrize(
    ("login", "protection"), [("ticket cache", "authentication"), ("keytab", "privacy")], ids=["kinit", "keytab"]
)
def test_spark_works_through_kerberos(
    server: RunningServer, realm: Realm, tmp_path: Path, login: str, protection: str
) -> None:
    conf = settings_of(server, realm)
    env = {"HADOOP_CONF_DIR": str(hadoop_configuration(tmp_path, realm, protection))}
    script, expected = SCRIPT, dict[str, Any]()
    if login == "keytab":
        conf["spark.kerberos.principal"] = realm.alice
        conf["spark.kerberos.keytab"] = str(realm.kdc.keytab(realm.alice))
        env["KRB5CCNAME"] = str(tmp_path / "no tickets")
    else:
        env |= {"KRB5CCNAME": str(realm.cache), "KRB5_CONFIG": str(realm.kdc.config)}
        script, expected = SCRIPT + STATEMENTS + LANCE, {"remotes": ["old"], "lance": [1, 2, 6]}

    assert run_spark(script, conf=conf, env=env) == {
        "databases": [["default"]],
        "t": [[1, "x"], [2, "y"]],
        "h": [[3, "u"]],
        "wide": COLUMNS,
        "owner": ["alice"],
        **expected,
    }
    assert f"authenticated as {realm.alice}" in server.log
    # Nobody answers at the address of the remote that Spark has made.
    assert "refused" not in "".join(line for line in server.log.splitlines() if "127.0.0.1:1 " not in line)
    assert users_of_events(server, "d") == {"alice"}


@pytest.mark.parametrize("protection", ["integrity"])
def test_a_job_without_a_ticket_works_with_a_token_that_was_got_by_kerberos(
    server: RunningServer, realm: Realm, tmp_path: Path, protection: str
) -> None:
    conf = settings_of(server, realm)
    env = {"HADOOP_CONF_DIR": str(hadoop_configuration(tmp_path, realm, protection))}

    launched = run_spark(GET_TOKEN, conf=conf, env={**env, "KRB5CCNAME": str(realm.cache)})
    assert launched["until"] > time.time() * 1000
    assert f"authenticated as {realm.alice}" in server.log

    script = f"TOKEN = {launched['token']!r}\n{USE_TOKEN}"
    token_conf = {**conf, "spark.hadoop.hive.metastore.token.signature": "metastored"}
    done = run_spark(script, conf=token_conf, env={**env, "KRB5CCNAME": str(tmp_path / "no tickets")})
    assert (done["ticket"], done["t"]) == (False, [1, 2])
    assert "Could not connect to meta store" in done["after"]
    assert "refused: not authenticated: token expired or does not exist: of alice for alice" in server.log
    assert users_of_events(server, "d") == {"alice"}
    assert launched["token"] not in server.log
