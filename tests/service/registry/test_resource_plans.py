"""Resource plans: how one is put together, and how it becomes the active one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from metastored.errors import (
    AlreadyExistsException,
    ApplicationError,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.wire.generated.resource_plans import (
    WMAlterPoolRequest,
    WMAlterResourcePlanRequest,
    WMAlterTriggerRequest,
    WMCreateOrDropTriggerToPoolMappingRequest,
    WMCreateOrUpdateMappingRequest,
    WMCreatePoolRequest,
    WMCreateResourcePlanRequest,
    WMCreateTriggerRequest,
    WMDropMappingRequest,
    WMDropPoolRequest,
    WMDropResourcePlanRequest,
    WMDropTriggerRequest,
    WMFullResourcePlan,
    WMGetActiveResourcePlanRequest,
    WMGetAllResourcePlanRequest,
    WMGetResourcePlanRequest,
    WMGetTriggersForResourePlanRequest,
    WMMapping,
    WMNullablePool,
    WMNullableResourcePlan,
    WMPool,
    WMPoolTrigger,
    WMResourcePlan,
    WMResourcePlanStatus,
    WMTrigger,
    WMValidateResourcePlanRequest,
)
from tests.service.conftest import Starter
from tests.support.metastore import Metastore

ACTIVE, ENABLED, DISABLED = WMResourcePlanStatus.ACTIVE, WMResourcePlanStatus.ENABLED, WMResourcePlanStatus.DISABLED


@pytest.fixture
def plans(metastore: Metastore) -> Metastore:
    """A Hive 3.1 with the plans `day` and `night`."""
    for name in ("day", "night"):
        _create(metastore, name)
    return metastore


def _create(metastore: Metastore, name: str, copy: str | None = None, **other: Any) -> None:
    request = WMCreateResourcePlanRequest(WMResourcePlan(name=name, **other), copy)
    metastore.call("create_resource_plan", request)


def _get(metastore: Metastore, name: str = "day") -> WMFullResourcePlan:
    result: WMFullResourcePlan = metastore.call("get_resource_plan", WMGetResourcePlanRequest(name)).resourcePlan
    return result


def _alter(metastore: Metastore, plan: str | None, activate: bool = False, **changes: Any) -> Any:
    flags = {key: changes.pop(key) for key in ("isReplace", "isForceDeactivate") if key in changes}
    request = WMAlterResourcePlanRequest(plan, WMNullableResourcePlan(**changes), activate, **flags)
    return metastore.call("alter_resource_plan", request).fullResourcePlan


def _statuses(metastore: Metastore) -> dict[str, int]:
    result = metastore.call("get_all_resource_plans", WMGetAllResourcePlanRequest()).resourcePlans
    return {plan.name: plan.status for plan in result}


def _pool(metastore: Metastore, path: str, share: float = 0.25, **other: Any) -> None:
    pool = WMPool("day", path, allocFraction=share, queryParallelism=2, **other)
    metastore.call("create_wm_pool", WMCreatePoolRequest(pool))


def test_a_new_plan_is_disabled_and_has_one_pool_for_all(plans: Metastore) -> None:
    assert _get(plans, "DAY") == WMFullResourcePlan(
        plan=WMResourcePlan("day", DISABLED, defaultPoolPath="default", ns="default"),
        pools=(WMPool("day", "default", 1.0, 4, ns="default"),),
    )
    assert _statuses(plans) == {"day": DISABLED, "night": DISABLED}
    with pytest.raises(AlreadyExistsException):
        _create(plans, "Day")
    with pytest.raises(InvalidObjectException, match="Query parallelism should be positive"):
        _create(plans, "bad", queryParallelism=0)
    with pytest.raises(NoSuchObjectException, match="There is no resource plan named: nope"):
        _get(plans, "nope")


def test_pools_mappings_and_triggers_are_parts_of_a_plan(plans: Metastore) -> None:
    _pool(plans, "default.etl")
    _pool(plans, "default.bi", schedulingPolicy="fair")
    plans.call("create_wm_trigger", WMCreateTriggerRequest(WMTrigger("day", "Slow", "elapsed > 1", "KILL")))
    plans.call("alter_wm_trigger", WMAlterTriggerRequest(WMTrigger("day", "slow", actionExpression="MOVE TO x")))
    trigger = WMTrigger("day", "slow", "elapsed > 1", "MOVE TO x", False, "default")
    assert plans.call("get_triggers_for_resourceplan", WMGetTriggersForResourePlanRequest("day")).triggers == (trigger,)
    link = WMCreateOrDropTriggerToPoolMappingRequest("day", "slow", "default.etl")
    plans.call("create_or_drop_wm_trigger_to_pool_mapping", link)
    mapping = WMMapping("day", "user", "Alice", "default.etl", 3)
    plans.call("create_or_update_wm_mapping", WMCreateOrUpdateMappingRequest(mapping, False))
    moved = WMMapping("day", "USER", "alice", "default.bi")
    plans.call("create_or_update_wm_mapping", WMCreateOrUpdateMappingRequest(moved, True))
    full = _get(plans)
    assert [pool.poolPath for pool in full.pools or ()] == ["default", "default.bi", "default.etl"]
    assert full.triggers == (trigger,)
    assert full.poolTriggers == (WMPoolTrigger("default.etl", "slow"),)
    assert full.mappings == (WMMapping("day", "USER", "alice", "default.bi", 3, "default"),)
    plans.call("create_or_drop_wm_trigger_to_pool_mapping", WMCreateOrDropTriggerToPoolMappingRequest(*link[:3], True))
    plans.call("drop_wm_trigger", WMDropTriggerRequest("day", "slow"))
    plans.call("drop_wm_mapping", WMDropMappingRequest(moved))
    plans.call("drop_wm_pool", WMDropPoolRequest("day", "default.bi"))
    full = _get(plans)
    assert (full.triggers, full.poolTriggers, full.mappings, len(full.pools or ())) == (None, None, None, 2)


def test_references_to_a_pool_follow_it_to_another_path(plans: Metastore) -> None:
    _pool(plans, "default.etl")
    mapping = WMMapping("day", "USER", "alice", "default.etl")
    plans.call("create_or_update_wm_mapping", WMCreateOrUpdateMappingRequest(mapping, False))
    plans.call("alter_wm_pool", WMAlterPoolRequest(WMNullablePool("day", "main", 1.0), "default"))
    full = _get(plans)
    assert [pool.poolPath for pool in full.pools or ()] == ["main", "main.etl"]
    assert full.plan is not None and full.plan.defaultPoolPath == "main"
    assert [each.poolPath for each in full.mappings or ()] == ["main.etl"]


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("default", "Internal error|Cannot drop default pool"),
        ("nope", "Cannot delete pool: nope"),
        ("default.etl", "remove all mappings"),
    ],
)
def test_a_pool_that_is_needed_cannot_be_dropped(plans: Metastore, path: str, error: str) -> None:
    _pool(plans, "default.etl")
    mapping = WMMapping("day", "USER", "alice", "default.etl")
    plans.call("create_or_update_wm_mapping", WMCreateOrUpdateMappingRequest(mapping, False))
    with pytest.raises((InvalidOperationException, NoSuchObjectException), match=error):
        plans.call("drop_wm_pool", WMDropPoolRequest("day", path))
    assert len(_get(plans).pools or ()) == 2


def test_a_copy_is_a_plan_of_its_own(plans: Metastore) -> None:
    _pool(plans, "default.etl")
    _create(plans, "copy", "day")
    plans.call("drop_wm_pool", WMDropPoolRequest("copy", "default.etl"))
    assert [pool.resourcePlanName for pool in _get(plans, "copy").pools or ()] == ["copy"]
    assert len(_get(plans).pools or ()) == 2


def test_a_plan_is_checked_before_it_is_enabled(plans: Metastore) -> None:
    _pool(plans, "other", 0.5)
    _pool(plans, "other.a", 1.0)
    result = plans.call("validate_resource_plan", WMValidateResourcePlanRequest("day"))
    assert result.errors == (
        "Sum of root children pools' alloc fraction should be 1.0 got: 1.5 for pool: ",
        "Sum of children pools' alloc fraction should be less than 1 got: 1.0 for pool: other",
    )
    with pytest.raises(InvalidOperationException, match="ResourcePlan: day is invalid"):
        _alter(plans, "day", status=ENABLED)
    assert _statuses(plans)["day"] == DISABLED


def test_one_plan_is_active_at_a_time(plans: Metastore) -> None:
    with pytest.raises(InvalidOperationException, match="should be enabled before activation"):
        _alter(plans, "day", status=ACTIVE)
    assert _alter(plans, "day", status=ENABLED) is None
    assert _alter(plans, "day", status=ACTIVE).plan.name == "day"
    assert _alter(plans, "night", True, status=ACTIVE).plan.status == ACTIVE
    assert _statuses(plans) == {"day": ENABLED, "night": ACTIVE}
    active = plans.call("get_active_resource_plan", WMGetActiveResourcePlanRequest()).resourcePlan
    assert active == _get(plans, "night")
    with pytest.raises(MetaException, match="Cannot drop an active resource plan"):
        plans.call("drop_resource_plan", WMDropResourcePlanRequest("night"))
    with pytest.raises(InvalidOperationException, match="activate another plan first"):
        _alter(plans, "night", status=DISABLED)
    _alter(plans, "night", status=DISABLED, isForceDeactivate=True)
    plans.call("drop_resource_plan", WMDropResourcePlanRequest("night"))
    assert _statuses(plans) == {"day": ENABLED}


def test_an_enabled_plan_is_not_changed(plans: Metastore) -> None:
    _alter(plans, "day", status=ENABLED)
    with pytest.raises(ApplicationError):  # Hive does not declare it for pools.
        _pool(plans, "default.etl")
    with pytest.raises(InvalidOperationException, match="must be disabled to edit"):
        _alter(plans, "day", name="noon")
    assert len(_get(plans).pools or ()) == 1


def test_a_plan_replaces_another(plans: Metastore) -> None:
    _alter(plans, "day", True, status=ACTIVE)
    replaced = _alter(plans, "night", status=ACTIVE, isReplace=True)
    assert (replaced.plan.name, replaced.plan.status) == ("day", ACTIVE)
    names = _statuses(plans)
    assert names.pop("day") == ACTIVE
    ((aside, status),) = names.items()
    assert aside.startswith("day_old_2023_11_1") and status == DISABLED
    with pytest.raises(InvalidOperationException, match="A plan cannot replace itself"):
        _alter(plans, "day", name="day", isReplace=True)


def test_a_plan_gets_another_name_and_parallelism(plans: Metastore) -> None:
    _alter(plans, "day", name="Noon", queryParallelism=9, isSetQueryParallelism=True)
    result = _get(plans, "noon")
    assert result.plan is not None
    assert (result.plan.name, result.plan.queryParallelism) == ("noon", 9)
    with pytest.raises(MetaException, match="multiple flags are set"):
        _alter(plans, "noon", True, isReplace=True)


def test_namespaces_have_plans_of_their_own(plans: Metastore) -> None:
    _create(plans, "day", ns="other")
    result = plans.call("get_all_resource_plans", WMGetAllResourcePlanRequest("other")).resourcePlans
    assert [plan.name for plan in result] == ["day"]


def test_changes_made_at_the_same_time_are_all_kept(start: Starter) -> None:
    first, second = start(), start()
    _create(first, "day")

    def add(metastore: Metastore, names: range) -> None:
        for number in names:
            _pool(metastore, f"default.p{number}", 0.01)

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(add, first, range(10)), threads.submit(add, second, range(10, 20))]:
            done.result()
    assert len(_get(first).pools or ()) == 21
