"""Workload management: resource plans with their pools, mappings and triggers. A plan is one document.

The changes of a plan are in `plan_edits.py`; this module looks plans up, checks that they may be changed, and stores
them. The parent of a plan is its namespace (Hive 4; `default` before).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.hive.generation import Generation
from metastored.hive.names import normalize
from metastored.service.core.context import Context
from metastored.service.core.documents import Document, Kind
from metastored.service.core.serving import method
from metastored.service.registry import plan_edits
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.wire.generated.resource_plans import (
    WMAlterPoolRequest,
    WMAlterPoolResponse,
    WMAlterResourcePlanRequest,
    WMAlterResourcePlanResponse,
    WMAlterTriggerRequest,
    WMAlterTriggerResponse,
    WMCreateOrDropTriggerToPoolMappingRequest,
    WMCreateOrDropTriggerToPoolMappingResponse,
    WMCreateOrUpdateMappingRequest,
    WMCreateOrUpdateMappingResponse,
    WMCreatePoolRequest,
    WMCreatePoolResponse,
    WMCreateResourcePlanRequest,
    WMCreateResourcePlanResponse,
    WMCreateTriggerRequest,
    WMCreateTriggerResponse,
    WMDropMappingRequest,
    WMDropMappingResponse,
    WMDropPoolRequest,
    WMDropPoolResponse,
    WMDropResourcePlanRequest,
    WMDropResourcePlanResponse,
    WMDropTriggerRequest,
    WMDropTriggerResponse,
    WMFullResourcePlan,
    WMGetActiveResourcePlanRequest,
    WMGetActiveResourcePlanResponse,
    WMGetAllResourcePlanRequest,
    WMGetAllResourcePlanResponse,
    WMGetResourcePlanRequest,
    WMGetResourcePlanResponse,
    WMGetTriggersForResourePlanRequest,
    WMGetTriggersForResourePlanResponse,
    WMNullableResourcePlan,
    WMPool,
    WMResourcePlan,
    WMResourcePlanStatus,
    WMValidateResourcePlanRequest,
    WMValidateResourcePlanResponse,
)
from metastored.wire.structs import replace

PLANS: Final = Kind("resource_plan", WMFullResourcePlan)
DEFAULT_POOL_SIZE: Final = 4
ACTIVE, ENABLED, DISABLED = WMResourcePlanStatus.ACTIVE, WMResourcePlanStatus.ENABLED, WMResourcePlanStatus.DISABLED

Plan = Document[WMFullResourcePlan]


def _space(ns: str | None) -> str:
    return ns if ns is not None and ns.strip() else "default"


def _shown(ctx: Context, ns: str | None, name: str) -> str:
    """A plan as Hive's messages name it."""
    return name if ctx.generation < Generation.HIVE_4_0 else f"{name} in {_space(ns)}"


def _find(ctx: Context, tx: Transaction, ns: str | None, name: str | None, *, to_edit: bool = False) -> Plan:
    key = normalize(name or "")
    plan = PLANS.find(tx, key, _space(ns))
    if plan is None:
        raise NoSuchObjectException(f"There is no resource plan named: {_shown(ctx, ns, key)}")
    if to_edit and _head(plan.value).status != DISABLED:
        raise InvalidOperationException("Resource plan must be disabled to edit it.")
    return plan


def _head(full: WMFullResourcePlan) -> WMResourcePlan:
    assert full.plan is not None
    return full.plan


def _active(tx: Transaction, ns: str | None) -> Plan | None:
    return next((plan for plan in PLANS.below(tx, _space(ns)) if _head(plan.value).status == ACTIVE), None)


def _edit(
    ctx: Context, ns: str | None, name: str | None, change: Callable[[WMFullResourcePlan], WMFullResourcePlan]
) -> None:
    """Changes a plan, which must be disabled."""

    def edit(tx: Transaction) -> None:
        PLANS.lock(tx, _space(ns))
        plan = _find(ctx, tx, ns, name, to_edit=True)
        PLANS.update(tx, plan, change(plan.value))

    ctx.database.run(edit)


# --- plans ----------------------------------------------------------------------------------------------------------


@method
def create_resource_plan(ctx: Context, request: WMCreateResourcePlanRequest) -> WMCreateResourcePlanResponse:
    plan = request.resourcePlan
    if plan is None:
        raise MetaException("create_resource_plan needs a plan")
    name = normalize(plan.name or "")
    if not name:
        raise InvalidObjectException("Resource name cannot be empty.")
    copied = request.copyFrom
    if copied is None and plan.queryParallelism is not None and plan.queryParallelism <= 0:
        raise InvalidObjectException("Query parallelism should be positive.")
    taken = AlreadyExistsException("Resource plan already exists: ")
    space = _space(plan.ns)

    def create(tx: Transaction) -> None:
        PLANS.lock(tx, space)
        if PLANS.find(tx, name, space) is not None:
            raise taken
        if copied is not None:
            source = _find(ctx, tx, plan.ns, copied).value
            full = replace(source, plan=replace(_head(source), status=DISABLED))
        else:
            full = _empty(space, plan.queryParallelism)
        PLANS.insert(tx, name, plan_edits.renamed(full, name), parent=space)

    try:
        ctx.database.run(create)
    except ConstraintViolated:
        raise taken from None
    return WMCreateResourcePlanResponse()


def _empty(ns: str, parallelism: int | None) -> WMFullResourcePlan:
    """Creates a plan, which has one pool at first."""
    plan = WMResourcePlan(status=DISABLED, queryParallelism=parallelism, defaultPoolPath="default", ns=ns)
    size = parallelism if parallelism is not None else DEFAULT_POOL_SIZE
    pool = WMPool(poolPath="default", allocFraction=1.0, queryParallelism=size, ns=ns)
    return WMFullResourcePlan(plan=plan, pools=(pool,))


@method
def get_resource_plan(ctx: Context, request: WMGetResourcePlanRequest) -> WMGetResourcePlanResponse:
    plan = _find(ctx, ctx.reader(), request.ns, request.resourcePlanName)
    return WMGetResourcePlanResponse(resourcePlan=plan.value)


@method
def get_active_resource_plan(ctx: Context, request: WMGetActiveResourcePlanRequest) -> WMGetActiveResourcePlanResponse:
    plan = _active(ctx.reader(), request.ns)
    return WMGetActiveResourcePlanResponse(resourcePlan=plan.value if plan is not None else None)


@method
def get_all_resource_plans(ctx: Context, request: WMGetAllResourcePlanRequest) -> WMGetAllResourcePlanResponse:
    plans = tuple(_head(plan.value) for plan in PLANS.below(ctx.reader(), _space(request.ns)))
    return WMGetAllResourcePlanResponse(resourcePlans=plans)


@method
def validate_resource_plan(ctx: Context, request: WMValidateResourcePlanRequest) -> WMValidateResourcePlanResponse:
    name = normalize(request.resourcePlanName or "")
    plan = PLANS.find(ctx.reader(), name, _space(request.ns))
    if plan is None:
        raise NoSuchObjectException(f"Cannot find resourcePlan: {_shown(ctx, request.ns, name)}")
    return plan_edits.validated(plan.value)


@method
def drop_resource_plan(ctx: Context, request: WMDropResourcePlanRequest) -> WMDropResourcePlanResponse:
    def drop(tx: Transaction) -> None:
        PLANS.lock(tx, _space(request.ns))
        plan = _find(ctx, tx, request.ns, request.resourcePlanName)
        if _head(plan.value).status == ACTIVE:
            raise MetaException("Cannot drop an active resource plan")
        PLANS.delete(tx, plan)

    ctx.database.run(drop)
    return WMDropResourcePlanResponse()


@method
def alter_resource_plan(ctx: Context, request: WMAlterResourcePlanRequest) -> WMAlterResourcePlanResponse:
    """Changes a plan, switches its status, or replaces another by it. Returns the complete plan if it is active."""
    flags = (request.isEnableAndActivate, request.isReplace, request.isForceDeactivate)
    if sum(map(bool, flags)) > 1:
        raise MetaException("Invalid request; multiple flags are set")
    changes = request.resourcePlan
    if changes is None:
        raise MetaException("alter_resource_plan needs the changes")
    name = normalize(request.resourcePlanName) if request.resourcePlanName is not None else None
    if request.isReplace and name is None:
        raise InvalidOperationException("Cannot replace without specifying the source plan")

    def alter(tx: Transaction) -> WMFullResourcePlan | None:
        PLANS.lock(tx, _space(request.ns))
        if request.isReplace:
            return _put_in_place(ctx, tx, request.ns, name, changes)
        return _change(ctx, tx, request, name, changes)

    return WMAlterResourcePlanResponse(fullResourcePlan=ctx.database.run(alter))


def _change(
    ctx: Context,
    tx: Transaction,
    request: WMAlterResourcePlanRequest,
    name: str | None,
    changes: WMNullableResourcePlan,
) -> WMFullResourcePlan | None:
    document = (
        _active(tx, request.ns) if name is None else _find(ctx, tx, request.ns, name, to_edit=changes.status is None)
    )
    if document is None:
        raise InvalidOperationException("There is no active resource plan to change")
    full = document.value
    plan = _head(full)
    others = changes.isSetQueryParallelism is not None or changes.isSetDefaultPoolPath is not None
    if others or (changes.name is not None and changes.name != name):
        if changes.status is not None:
            raise InvalidOperationException("Cannot change values during status switch.")
        if plan.status != DISABLED:
            raise InvalidOperationException("Resource plan must be disabled to edit it.")
    key = document.key
    if changes.name is not None:
        key = normalize(changes.name)
        if not key:
            raise InvalidOperationException("Cannot rename to empty value.")
        if key != document.key and PLANS.find(tx, key, document.parent) is not None:
            raise AlreadyExistsException("Resource plan name should be unique: ")
        full = plan_edits.renamed(full, key)
    if changes.isSetQueryParallelism:
        if changes.queryParallelism is not None and changes.queryParallelism <= 0:
            raise InvalidOperationException("queryParallelism should be positive.")
        full = replace(full, plan=replace(_head(full), queryParallelism=changes.queryParallelism))
    if changes.isSetDefaultPoolPath:
        path = changes.defaultPoolPath
        pool = plan_edits.find_pool(full, path).poolPath if path is not None else None
        full = replace(full, plan=replace(_head(full), defaultPoolPath=pool))
    activated = False
    if changes.status is not None:
        full, activated = _switch(tx, request, name, full, changes.status)
    PLANS.update(tx, document, full, key=key)
    return full if activated else None


def _switch(
    tx: Transaction, request: WMAlterResourcePlanRequest, name: str | None, full: WMFullResourcePlan, status: int
) -> tuple[WMFullResourcePlan, bool]:
    """The plan with another status, and whether that made it the active one."""
    before = _head(full).status
    if status not in WMResourcePlanStatus.NAMES:
        raise InvalidOperationException(f"Invalid status: {status}")
    if status == before:
        return full, False
    if before == ACTIVE and not request.isForceDeactivate:
        raise InvalidOperationException(
            f"Resource plan {name} is active; activate another plan first, or disable workload management."
        )
    activate = status == ACTIVE
    if before == DISABLED:
        if activate and not request.isEnableAndActivate:
            raise InvalidOperationException(
                f"Resource plan {name} is disabled and should be enabled before activation (or in the same command)"
            )
        errors = plan_edits.validated(full).errors
        if errors:
            raise InvalidOperationException(f"ResourcePlan: {name} is invalid: [{', '.join(errors)}]")
    other = _active(tx, request.ns) if activate else None
    if other is not None:
        PLANS.update(tx, other, replace(other.value, plan=replace(_head(other.value), status=ENABLED)))
    return replace(full, plan=replace(_head(full), status=status)), activate


def _put_in_place(
    ctx: Context, tx: Transaction, ns: str | None, name: str | None, changes: WMNullableResourcePlan
) -> WMFullResourcePlan | None:
    """A plan gets the name and the status of another, which is disabled and renamed."""
    if changes.queryParallelism is not None or changes.defaultPoolPath is not None:
        raise InvalidOperationException("Cannot change values during replace.")
    active = changes.status == ACTIVE
    if active == (changes.name is not None):
        named = WMResourcePlanStatus.NAMES.get(changes.status or 0, "null")
        raise InvalidOperationException(
            f"Must specify a name, or the active plan; received {changes.name or 'null'}, {named}"
        )
    old = _active(tx, ns) if active else _find(ctx, tx, ns, changes.name)
    if old is None:
        raise InvalidOperationException("There is no active resource plan to replace")
    new = _find(ctx, tx, ns, name)
    if old.id == new.id:
        raise InvalidOperationException("A plan cannot replace itself")
    status = _head(old.value).status
    aside = _aside(ctx, tx, old)
    disabled = replace(old.value, plan=replace(_head(old.value), status=DISABLED))
    PLANS.update(tx, old, plan_edits.renamed(disabled, aside), key=aside)
    full = plan_edits.renamed(replace(new.value, plan=replace(_head(new.value), status=status)), old.key)
    PLANS.update(tx, new, full, key=old.key)
    return full if status == ACTIVE else None


def _aside(ctx: Context, tx: Transaction, old: Plan) -> str:
    """A free name for the plan that another one replaces."""
    stamp = datetime.fromtimestamp(ctx.now()).strftime("%Y_%m_%d_%H_%M_%S")
    name = f"{old.key}_old_{stamp}"
    number = 0
    while PLANS.find(tx, name if not number else f"{name}_{number}", old.parent) is not None:
        number += 1
    return name if not number else f"{name}_{number}"


# --- triggers, pools, mappings --------------------------------------------------------------------------------------


@method
def create_wm_trigger(ctx: Context, request: WMCreateTriggerRequest) -> WMCreateTriggerResponse:
    trigger = request.trigger
    if trigger is None:
        raise MetaException("create_wm_trigger needs a trigger")
    _edit(ctx, trigger.ns, trigger.resourcePlanName, lambda full: plan_edits.add_trigger(full, trigger))
    return WMCreateTriggerResponse()


@method
def alter_wm_trigger(ctx: Context, request: WMAlterTriggerRequest) -> WMAlterTriggerResponse:
    trigger = request.trigger
    if trigger is None:
        raise MetaException("alter_wm_trigger needs a trigger")
    _edit(ctx, trigger.ns, trigger.resourcePlanName, lambda full: plan_edits.change_trigger(full, trigger))
    return WMAlterTriggerResponse()


@method
def drop_wm_trigger(ctx: Context, request: WMDropTriggerRequest) -> WMDropTriggerResponse:
    name = request.triggerName
    _edit(ctx, request.ns, request.resourcePlanName, lambda full: plan_edits.remove_trigger(full, name))
    return WMDropTriggerResponse()


@method
def get_triggers_for_resourceplan(
    ctx: Context, request: WMGetTriggersForResourePlanRequest
) -> WMGetTriggersForResourePlanResponse:
    plan = _find(ctx, ctx.reader(), request.ns, request.resourcePlanName)
    return WMGetTriggersForResourePlanResponse(triggers=plan.value.triggers or ())


@method
def create_wm_pool(ctx: Context, request: WMCreatePoolRequest) -> WMCreatePoolResponse:
    pool = request.pool
    if pool is None:
        raise MetaException("create_wm_pool needs a pool")
    _edit(ctx, pool.ns, pool.resourcePlanName, lambda full: plan_edits.add_pool(full, pool))
    return WMCreatePoolResponse()


@method
def alter_wm_pool(ctx: Context, request: WMAlterPoolRequest) -> WMAlterPoolResponse:
    pool = request.pool
    if pool is None:
        raise MetaException("alter_wm_pool needs a pool")
    path = request.poolPath
    _edit(ctx, pool.ns, pool.resourcePlanName, lambda full: plan_edits.change_pool(full, path, pool))
    return WMAlterPoolResponse()


@method
def drop_wm_pool(ctx: Context, request: WMDropPoolRequest) -> WMDropPoolResponse:
    path = request.poolPath
    _edit(ctx, request.ns, request.resourcePlanName, lambda full: plan_edits.remove_pool(full, path))
    return WMDropPoolResponse()


@method
def create_or_update_wm_mapping(
    ctx: Context, request: WMCreateOrUpdateMappingRequest
) -> WMCreateOrUpdateMappingResponse:
    mapping = request.mapping
    if mapping is None:
        raise MetaException("create_or_update_wm_mapping needs a mapping")
    update = bool(request.update)
    _edit(ctx, mapping.ns, mapping.resourcePlanName, lambda full: plan_edits.put_mapping(full, mapping, update=update))
    return WMCreateOrUpdateMappingResponse()


@method
def drop_wm_mapping(ctx: Context, request: WMDropMappingRequest) -> WMDropMappingResponse:
    mapping = request.mapping
    if mapping is None:
        raise MetaException("drop_wm_mapping needs a mapping")
    _edit(ctx, mapping.ns, mapping.resourcePlanName, lambda full: plan_edits.remove_mapping(full, mapping))
    return WMDropMappingResponse()


@method
def create_or_drop_wm_trigger_to_pool_mapping(
    ctx: Context, request: WMCreateOrDropTriggerToPoolMappingRequest
) -> WMCreateOrDropTriggerToPoolMappingResponse:
    trigger, pool, drop = request.triggerName, request.poolPath, bool(request.drop)
    _edit(
        ctx,
        request.ns,
        request.resourcePlanName,
        lambda full: plan_edits.map_trigger(full, trigger, pool, drop=drop),
    )
    return WMCreateOrDropTriggerToPoolMappingResponse()
