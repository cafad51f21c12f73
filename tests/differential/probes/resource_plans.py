"""Workload management: plans, pools, triggers, mappings, and how a plan becomes the active one."""

from collections.abc import Callable
from typing import Any

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
    WMResourcePlan,
    WMResourcePlanStatus,
    WMTrigger,
    WMValidateResourcePlanRequest,
)
from metastored.wire.structs import replace
from tests.differential.script import SINCE_3_1, Ask, ask

NS = "default"
"""The namespace that clients of Hive 4 always name; its server takes none for another one when it creates."""
ACTIVE, ENABLED, DISABLED = WMResourcePlanStatus.ACTIVE, WMResourcePlanStatus.ENABLED, WMResourcePlanStatus.DISABLED


def probe(label: str, method: str, request: Any, show: Callable[[Any], Any] | None = None) -> Ask:
    return ask(label, method, request, show=show, versions=SINCE_3_1)


def _sorted(items: Any) -> Any:
    return tuple(sorted(items, key=repr)) if items else items


def in_order(plan: WMFullResourcePlan | None) -> Any:
    """Hive keeps the parts of a plan in sets."""
    if plan is None:
        return None
    return replace(
        plan,
        pools=_sorted(plan.pools),
        mappings=_sorted(plan.mappings),
        triggers=_sorted(plan.triggers),
        poolTriggers=_sorted(plan.poolTriggers),
    )


def whole(result: Any) -> Any:
    return in_order(result.resourcePlan)


def altered(result: Any) -> Any:
    return in_order(result.fullResourcePlan)


def create(label: str, name: str, copy: str | None = None, **other: Any) -> Ask:
    plan = WMResourcePlan(name=name, ns=NS, **other)
    return probe(label, "create_resource_plan", WMCreateResourcePlanRequest(resourcePlan=plan, copyFrom=copy))


def get(label: str, name: str = "p1") -> Ask:
    return probe(label, "get_resource_plan", WMGetResourcePlanRequest(ns=NS, resourcePlanName=name), whole)


def alter(label: str, name: str | None, changes: dict[str, Any], **flags: bool) -> Ask:
    request = WMAlterResourcePlanRequest(
        resourcePlanName=name,
        ns=NS,
        resourcePlan=WMNullableResourcePlan(ns=NS, **changes),
        **{
            "isEnableAndActivate": flags.get("activate", False),
            "isForceDeactivate": flags.get("deactivate", False),
            "isReplace": flags.get("replace", False),
        },
    )
    return probe(label, "alter_resource_plan", request, altered)


def pool(label: str, path: str, plan: str = "p1", **other: Any) -> Ask:
    return probe(label, "create_wm_pool", WMCreatePoolRequest(pool=WMPool(plan, path, ns=NS, **other)))


def change_pool(label: str, path: str, **changes: Any) -> Ask:
    to = changes.pop("to", path)
    request = WMAlterPoolRequest(pool=WMNullablePool("p1", to, ns=NS, **changes), poolPath=path)
    return probe(label, "alter_wm_pool", request)


def trigger(label: str, method: str, name: str, plan: str = "p1", **other: Any) -> Ask:
    request = WMCreateTriggerRequest if method == "create_wm_trigger" else WMAlterTriggerRequest
    return probe(label, method, request(trigger=WMTrigger(plan, name, ns=NS, **other)))


def mapping(label: str, kind: str, name: str, path: str | None, *, update: bool = False, plan: str = "p1") -> Ask:
    given = WMMapping(plan, kind, name, path, 1, NS)
    return probe(label, "create_or_update_wm_mapping", WMCreateOrUpdateMappingRequest(mapping=given, update=update))


def mapped(label: str, name: str, path: str, *, drop: bool = False) -> Ask:
    request = WMCreateOrDropTriggerToPoolMappingRequest(
        resourcePlanName="p1", triggerName=name, poolPath=path, drop=drop, ns=NS
    )
    return probe(label, "create_or_drop_wm_trigger_to_pool_mapping", request)


def statuses(result: Any) -> Any:
    return tuple(sorted((plan.name, plan.status) for plan in result.resourcePlans or () if "_old_" not in plan.name))


def all_plans(label: str) -> Ask:
    return probe(label, "get_all_resource_plans", WMGetAllResourcePlanRequest(ns=NS), statuses)


def valid(label: str, name: str = "p1") -> Ask:
    def show(result: Any) -> Any:
        return _sorted(result.errors), _sorted(result.warnings)

    return probe(label, "validate_resource_plan", WMValidateResourcePlanRequest(ns=NS, resourcePlanName=name), show)


SCRIPT = [
    probe("none", "get_active_resource_plan", WMGetActiveResourcePlanRequest(ns=NS), whole),
    all_plans("none"),
    create("plain", "P1"),
    create("taken", "p1"),
    create("without a name", ""),
    create("with a parallelism of 0", "bad", queryParallelism=0),
    create("with a parallelism", "p2", queryParallelism=7),
    get("plain"),
    get("with a parallelism", "p2"),
    get("missing", "nope"),
    all_plans("two"),
    valid("plain"),
    valid("missing", "nope"),
    pool("plain", "default.etl", allocFraction=0.25, queryParallelism=2),
    pool("taken", "default.etl", allocFraction=0.25, queryParallelism=2),
    pool("without its parent", "nope.x", allocFraction=0.25, queryParallelism=2),
    pool("with a bad policy", "default.bi", allocFraction=0.25, queryParallelism=2, schedulingPolicy="RANDOM"),
    pool("with a policy", "default.bi", allocFraction=0.5, queryParallelism=1, schedulingPolicy="fair"),
    pool("with a policy in capitals", "default.bi", allocFraction=0.5, queryParallelism=1, schedulingPolicy="FIFO"),
    pool("of no plan", "x", "nope", allocFraction=0.5, queryParallelism=1),
    trigger("plain", "create_wm_trigger", "T1", triggerExpression="elapsed > 10", actionExpression="KILL"),
    trigger("taken", "create_wm_trigger", "t1", triggerExpression="elapsed > 10", actionExpression="KILL"),
    trigger("of no plan", "create_wm_trigger", "t1", "nope", triggerExpression="x", actionExpression="KILL"),
    trigger("plain", "alter_wm_trigger", "t1", triggerExpression="elapsed > 20"),
    trigger("missing", "alter_wm_trigger", "nope", triggerExpression="elapsed > 20"),
    mapped("plain", "t1", "default.etl"),
    mapped("no trigger", "nope", "default.etl"),
    mapped("no pool", "t1", "nope"),
    mapping("plain", "user", "Alice", "default.etl"),
    mapping("to no pool", "USER", "bob", "nope"),
    mapping("to nothing", "GROUP", "g", None),
    mapping("of a bad kind", "CAT", "bob", "default"),
    mapping("changed", "USER", "alice", "default.bi", update=True),
    get("with all"),
    probe("plain", "get_triggers_for_resourceplan", WMGetTriggersForResourePlanRequest(ns=NS, resourcePlanName="p1")),
    probe(
        "missing", "get_triggers_for_resourceplan", WMGetTriggersForResourePlanRequest(ns=NS, resourcePlanName="nope")
    ),
    change_pool("numbers", "default.etl", allocFraction=0.3, queryParallelism=3),
    change_pool("policy", "default.bi", schedulingPolicy=None, isSetSchedulingPolicy=True),
    change_pool("a bad policy", "default.bi", schedulingPolicy="NO", isSetSchedulingPolicy=True),
    change_pool("another path", "default", to="main"),
    change_pool("missing", "nope"),
    get("with another path"),
    valid("with pools"),
    probe("default", "drop_wm_pool", WMDropPoolRequest(ns=NS, resourcePlanName="p1", poolPath="main")),
    probe("missing", "drop_wm_pool", WMDropPoolRequest(ns=NS, resourcePlanName="p1", poolPath="nope")),
    probe("mapped", "drop_wm_pool", WMDropPoolRequest(ns=NS, resourcePlanName="p1", poolPath="main.bi")),
    probe("missing", "drop_wm_mapping", WMDropMappingRequest(mapping=WMMapping("p1", "USER", "nope", ns=NS))),
    probe("plain", "drop_wm_mapping", WMDropMappingRequest(mapping=WMMapping("p1", "USER", "alice", ns=NS))),
    probe("plain", "drop_wm_pool", WMDropPoolRequest(ns=NS, resourcePlanName="p1", poolPath="main.bi")),
    mapped("removed", "t1", "main.etl", drop=True),
    probe("missing", "drop_wm_trigger", WMDropTriggerRequest(ns=NS, resourcePlanName="p1", triggerName="nope")),
    probe("plain", "drop_wm_trigger", WMDropTriggerRequest(ns=NS, resourcePlanName="p1", triggerName="t1")),
    get("with little"),
    create("a copy", "p3", "p1"),
    create("a copy of none", "p4", "nope"),
    get("a copy", "p3"),
    alter("another name", "p3", {"name": "p5"}),
    alter("a name that is taken", "p5", {"name": "p2"}),
    alter("a parallelism", "p5", {"queryParallelism": 9, "isSetQueryParallelism": True}),
    alter("a parallelism of 0", "p5", {"queryParallelism": 0, "isSetQueryParallelism": True}),
    alter("no default pool", "p5", {"isSetDefaultPoolPath": True}),
    alter("a default pool that is missing", "p5", {"defaultPoolPath": "nope", "isSetDefaultPoolPath": True}),
    get("changed", "p5"),
    alter("values and status", "p5", {"status": ENABLED, "queryParallelism": 3, "isSetQueryParallelism": True}),
    alter("several flags", "p5", {"status": ENABLED}, activate=True, replace=True),
    alter("active at once", "p1", {"status": ACTIVE}),
    alter("enabled", "p1", {"status": ENABLED}),
    pool("of an enabled plan", "x", allocFraction=0.5, queryParallelism=1),
    alter("active", "p1", {"status": ACTIVE}),
    probe("one", "get_active_resource_plan", WMGetActiveResourcePlanRequest(ns=NS), whole),
    alter("disabled though active", "p1", {"status": DISABLED}),
    probe("active", "drop_resource_plan", WMDropResourcePlanRequest(ns=NS, resourcePlanName="p1")),
    alter("another, enabled and active", "p2", {"status": ACTIVE}, activate=True),
    all_plans("after a change"),
    alter("in its own place", "p2", {"status": ACTIVE}, replace=True),
    alter("in the place of none", "p5", {}, replace=True),
    alter("in the place of the active one", "p5", {"status": ACTIVE}, replace=True),
    all_plans("after another took its place"),
    alter("none active any more", "p2", {"status": DISABLED}, deactivate=True),
    all_plans("after none is active"),
    probe("plain", "drop_resource_plan", WMDropResourcePlanRequest(ns=NS, resourcePlanName="p1")),
    probe("missing", "drop_resource_plan", WMDropResourcePlanRequest(ns=NS, resourcePlanName="p1")),
]
