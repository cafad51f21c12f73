"""Managed, external, view, materialized view; and Hive's rules for "external"."""

from __future__ import annotations

import pytest

from metastored.model import kinds
from metastored.wire.generated.common import Table


def external(value: str | None, type: str | None = None) -> Table:
    return Table(tableType=type, parameters={} if value is None else {"EXTERNAL": value})


@pytest.mark.parametrize(("value", "expected"), [("TRUE", True), ("true", True), ("FALSE", False), (None, False)])
def test_the_parameter_decides_what_is_external_in_any_case(value: str | None, expected: bool) -> None:
    assert kinds.is_external(external(value)) is expected


def test_the_type_alone_does_not_keep_the_data_of_a_dropped_table() -> None:
    by_type = external(None, kinds.EXTERNAL)
    assert not kinds.is_external(by_type)
    assert kinds.has_external_type(by_type)
    assert kinds.is_external_by_either(by_type)


def test_the_parameter_alone_makes_no_table_external_to_hive_4s_translation() -> None:
    by_parameter = external("TRUE", kinds.MANAGED)
    assert not kinds.has_external_type(by_parameter)
    assert kinds.is_external_by_either(by_parameter)


@pytest.mark.parametrize(
    ("value", "any_case", "stored"),
    [
        ("TRUE", False, kinds.EXTERNAL),
        ("true", False, kinds.MANAGED),
        ("true", True, kinds.EXTERNAL),
        (None, True, kinds.MANAGED),
    ],
)
@pytest.mark.parametrize("sent", [None, kinds.MANAGED, kinds.EXTERNAL])
def test_a_table_is_stored_by_its_parameter_and_hive_2_3_requires_capitals(
    value: str | None, any_case: bool, stored: str, sent: str | None
) -> None:
    assert kinds.stored_type(external(value, sent), any_case) == stored


def test_a_view_is_stored_as_what_it_is() -> None:
    assert kinds.stored_type(Table(viewOriginalText="select 1"), True) == kinds.VIEW
    assert kinds.stored_type(Table(tableType=kinds.MATERIALIZED_VIEW), True) == kinds.MATERIALIZED_VIEW


def test_views_and_materialized_views_are_distinguished() -> None:
    view, materialized = Table(tableType=kinds.VIEW), Table(tableType=kinds.MATERIALIZED_VIEW)
    assert (kinds.is_view(view), kinds.is_view(materialized)) == (True, False)
    assert (kinds.is_materialized_view(view), kinds.is_materialized_view(materialized)) == (False, True)
    assert kinds.is_any_view(view) and kinds.is_any_view(materialized)
    assert not kinds.is_any_view(Table(tableType=kinds.MANAGED))


def test_data_is_deleted_with_managed_tables_and_with_external_ones_that_are_to_be_purged() -> None:
    purged = Table(parameters={"EXTERNAL": "TRUE", kinds.PURGE: "true"})
    assert kinds.owns_data(Table(tableType=kinds.MANAGED), purges_external=False)
    assert not kinds.owns_data(external("TRUE"), purges_external=True)
    assert kinds.owns_data(purged, purges_external=True)
    assert not kinds.owns_data(purged, purges_external=False)
    assert not kinds.owns_data(Table(tableType=kinds.VIEW), purges_external=True)
    assert kinds.owns_data(Table(tableType=kinds.MATERIALIZED_VIEW), purges_external=True)
