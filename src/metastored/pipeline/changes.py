"""What a step would change, for a dry run: from the metastore and listings of directories, without Spark.

Nothing is written here.
"""

from __future__ import annotations

from metastored.client._sync.client import Client
from metastored.errors import Error, NoSuchObjectException, NotSupported
from metastored.model.counting import counted
from metastored.model.names import table_name
from metastored.pipeline.model import Step
from metastored.statements.words import split_statements


def change_of(client: Client, step: Step) -> str:
    """One sentence about a step that would run."""
    match step.type:
        case "sql":
            return f"executes {counted(len(split_statements(step.text('sql'))), 'statement')}"
        case "python":
            return f"calls {step.text('function')} of {step.text('file')}"
        case "analyze":
            return "writes statistics of columns"
        case "repair":
            return f"partitions: {step.text('mode')}"
        case "compact":
            return f"a {step.text('kind')} compaction"
        case "lance":
            return f"a version, mode {step.text('mode')}"
        case "copy":
            return _copy_change(client, step)
    return "runs the project"


def _copy_change(client: Client, step: Step) -> str:
    from metastored.spark.copying.planning import plan_copy

    source, target = step.text("from"), step.text("to")
    if "." not in source:
        try:
            client.database(source)
        except NoSuchObjectException:
            return "copies a database that an earlier step makes"
        return f"copies {counted(len(client.tables(source)), 'table')}, views included"
    # The check of the file has refused what no earlier step makes.
    if not client.table_exists(source):
        return "copies a table that an earlier step makes"
    database = str(table_name(target).database_name)
    partitions = step.keys.get("partitions")
    assert not isinstance(partitions, bool)
    try:
        client.database(database)
    except NoSuchObjectException:
        return f"creates {target}, in the database {database} that an earlier step makes"
    try:
        plan = plan_copy(
            None,
            client,
            table_name(source),
            table_name(target),
            partitions,
            str(step.keys["format"]) if "format" in step.keys else None,
            step.text("mode"),
        )
    except NotSupported:
        return "copies what has changed; its storage can be listed only by Spark"
    except Error as error:
        return f"fails: {error}"
    return plan.summary
