"""The operations that plan scans on the server: which data files and delete files a client has to read.

A plan is completed in its response, in whole or as tasks that the client fetches, so no plan is held and none has to be
cancelled. It needs the extra `iceberg`: without it the endpoints are not announced, and refused with the command that
installs it. Data files are never opened.
"""

from __future__ import annotations

import uuid as uuids
from importlib.util import find_spec

from metastored.errors import MissingExtra
from metastored.iceberg.catalog import Catalog
from metastored.iceberg.errors import NoSuchPlan, Unsupported
from metastored.iceberg.planning.scans import read_scan, read_token
from metastored.iceberg.requests import Json, Request, required

__all__ = ["can_plan", "cancel_planning", "fetch_planning_result", "fetch_scan_tasks", "plan_table_scan"]


def can_plan() -> bool:
    """Whether the library that evaluates filters is installed. It is imported with the first plan only."""
    return find_spec("pyiceberg") is not None


def _check() -> None:
    if not can_plan():
        raise Unsupported(str(MissingExtra("planning scans", "iceberg")))


def plan_table_scan(catalog: Catalog, request: Request) -> Json:
    """The tasks of a scan: files, or for a large scan tasks by which `fetch_scan_tasks` returns them."""
    _check()
    from metastored.iceberg.planning.planner import Planner

    fields = request.fields()
    loaded = catalog.table(request.table)
    scan = read_scan(fields, loaded.metadata)
    plan: Json = {} if scan is None else Planner(catalog, loaded, scan).plan()
    # The specification wants an id with each plan; nothing is stored under it.
    return {"status": "completed", "plan-id": str(uuids.uuid4()), **plan}


def fetch_scan_tasks(catalog: Catalog, request: Request) -> Json:
    """The files of one task of a plan, and the task for the rest if there are too many for one response."""
    _check()
    from metastored.iceberg.planning.planner import Planner

    token = required(request.fields(), "plan-task", str, "the request")
    loaded = catalog.table(request.table)
    scan, part = read_token(token, loaded.metadata)
    return Planner(catalog, loaded, scan).tasks(part)


def fetch_planning_result(catalog: Catalog, request: Request) -> Json:
    """Raises NoSuchPlan: the result of a plan was in its response."""
    catalog.table_row(request.table)
    raise NoSuchPlan("The plan id does not exist: plans are completed at once, and their result is in the response")


def cancel_planning(catalog: Catalog, request: Request) -> None:
    """Does nothing for a table that the caller may read: nothing is held for a plan."""
    catalog.table_row(request.table)
