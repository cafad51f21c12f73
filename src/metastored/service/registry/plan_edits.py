"""A resource plan and the changes that can be made to it: pure functions from one complete plan to the next.

A plan is one document: pools, mappings and triggers are lists inside of it, so a change is atomic.
Lists are sorted by their names. Nothing here reads or writes the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from metastored.errors import AlreadyExistsException, InvalidOperationException, NoSuchObjectException
from metastored.hive.names import normalize
from metastored.wire.generated.resource_plans import (
    WMFullResourcePlan,
    WMMapping,
    WMNullablePool,
    WMPool,
    WMPoolTrigger,
    WMTrigger,
    WMValidateResourcePlanResponse,
)
from metastored.wire.structs import replace

ENTITIES: Final = ("USER", "GROUP", "APPLICATION")
POLICIES: Final = ("DEFAULT", "FAIR", "FIFO")
_NO_PARENT = NoSuchObjectException("Pool path is invalid, the parent does not exist")

T = TypeVar("T", WMPool, WMMapping, WMTrigger, WMPoolTrigger)


def _sorted(items: Iterable[T], key: Callable[[T], tuple[str, ...]]) -> tuple[T, ...] | None:
    return tuple(sorted(items, key=key)) or None


def with_parts(
    full: WMFullResourcePlan,
    *,
    pools: Iterable[WMPool] | None = None,
    mappings: Iterable[WMMapping] | None = None,
    triggers: Iterable[WMTrigger] | None = None,
    pool_triggers: Iterable[WMPoolTrigger] | None = None,
) -> WMFullResourcePlan:
    """The plan with new pools, mappings, triggers; None keeps the present ones."""
    changes: dict[str, object] = {}
    if pools is not None:
        changes["pools"] = _sorted(pools, lambda pool: (pool.poolPath or "",)) or ()
    if mappings is not None:
        changes["mappings"] = _sorted(mappings, lambda each: (each.entityType or "", each.entityName or ""))
    if triggers is not None:
        changes["triggers"] = _sorted(triggers, lambda each: (each.triggerName or "",))
    if pool_triggers is not None:
        changes["poolTriggers"] = _sorted(pool_triggers, lambda each: (each.pool or "", each.trigger or ""))
    return replace(full, **changes)


def renamed(full: WMFullResourcePlan, name: str) -> WMFullResourcePlan:
    """The plan under another name, in all of its parts."""
    assert full.plan is not None
    return replace(
        full,
        plan=replace(full.plan, name=name),
        pools=tuple(replace(pool, resourcePlanName=name) for pool in full.pools or ()),
        mappings=tuple(replace(each, resourcePlanName=name) for each in full.mappings or ()) or None,
        triggers=tuple(replace(each, resourcePlanName=name) for each in full.triggers or ()) or None,
    )


def _is_policy(policy: str | None) -> bool:
    return policy is None or policy.strip().upper() in POLICIES


def _check_policy(policy: str | None) -> None:
    if not _is_policy(policy):
        raise InvalidOperationException(f"Invalid scheduling policy {policy}")


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _has_parent(full: WMFullResourcePlan, path: str) -> bool:
    parent = _parent(path)
    return not parent or any(pool.poolPath == parent for pool in full.pools or ())


# --- pools ----------------------------------------------------------------------------------------------------------


def find_pool(full: WMFullResourcePlan, path: str | None) -> WMPool:
    key = normalize(path or "")
    for pool in full.pools or ():
        if pool.poolPath == key:
            return pool
    raise NoSuchObjectException(f"Cannot find pool: {key}")


def add_pool(full: WMFullResourcePlan, new: WMPool) -> WMFullResourcePlan:
    assert full.plan is not None
    path = new.poolPath or ""
    if not _has_parent(full, path):
        raise _NO_PARENT
    _check_policy(new.schedulingPolicy)
    if any(pool.poolPath == path for pool in full.pools or ()):
        raise AlreadyExistsException("Pool already exists: ")
    pool = replace(
        new,
        resourcePlanName=full.plan.name,
        ns=full.plan.ns,
        allocFraction=new.allocFraction or 0.0,
        queryParallelism=new.queryParallelism or 0,
    )
    return with_parts(full, pools=(*(full.pools or ()), pool))


def change_pool(full: WMFullResourcePlan, path: str | None, changes: WMNullablePool) -> WMFullResourcePlan:
    old = find_pool(full, path)
    new = old
    if changes.allocFraction is not None:
        new = replace(new, allocFraction=changes.allocFraction)
    if changes.queryParallelism is not None:
        new = replace(new, queryParallelism=changes.queryParallelism)
    if changes.isSetSchedulingPolicy:
        _check_policy(changes.schedulingPolicy)
        new = replace(new, schedulingPolicy=changes.schedulingPolicy)
    full = with_parts(full, pools=(new if pool is old else pool for pool in full.pools or ()))
    if changes.poolPath is not None and changes.poolPath != old.poolPath:
        full = _move_pool(full, old.poolPath or "", changes.poolPath)
    return full


def _move_pool(full: WMFullResourcePlan, old: str, new: str) -> WMFullResourcePlan:
    """Changes the path of a pool and of all pools below it, and the references to them."""
    assert full.plan is not None
    if not _has_parent(full, new):
        raise _NO_PARENT

    def moved(path: str | None) -> str | None:
        if path is None or (path != old and not path.startswith(f"{old}.")):
            return path
        return new + path[len(old) :]

    paths = [moved(pool.poolPath) for pool in full.pools or ()]
    if len(set(paths)) < len(paths):
        raise AlreadyExistsException("Pool already exists: ")
    full = replace(full, plan=replace(full.plan, defaultPoolPath=moved(full.plan.defaultPoolPath)))
    return with_parts(
        full,
        pools=(replace(pool, poolPath=moved(pool.poolPath)) for pool in full.pools or ()),
        mappings=(replace(each, poolPath=moved(each.poolPath)) for each in full.mappings or ()),
        pool_triggers=(replace(each, pool=moved(each.pool)) for each in full.poolTriggers or ()),
    )


def remove_pool(full: WMFullResourcePlan, path: str | None) -> WMFullResourcePlan:
    assert full.plan is not None
    key = normalize(path or "")
    pools = full.pools or ()
    if full.plan.defaultPoolPath == key:
        raise InvalidOperationException("Cannot drop default pool of a resource plan")
    if any((pool.poolPath or "").startswith(f"{key}.") for pool in pools):
        raise InvalidOperationException("Pool has children cannot drop.")
    kept = [pool for pool in pools if pool.poolPath != key]
    if len(kept) == len(pools):
        raise NoSuchObjectException(f"Cannot delete pool: {key}")
    if any(each.poolPath == key for each in full.mappings or ()):
        raise InvalidOperationException("Please remove all mappings for this pool.")
    return with_parts(full, pools=kept, pool_triggers=[t for t in full.poolTriggers or () if t.pool != key])


# --- triggers -------------------------------------------------------------------------------------------------------


def find_trigger(full: WMFullResourcePlan, name: str | None) -> WMTrigger:
    key = normalize(name or "")
    for trigger in full.triggers or ():
        if trigger.triggerName == key:
            return trigger
    raise NoSuchObjectException(f"Cannot find trigger with name: {key}")


def add_trigger(full: WMFullResourcePlan, new: WMTrigger) -> WMFullResourcePlan:
    assert full.plan is not None
    name = normalize(new.triggerName or "")
    if any(trigger.triggerName == name for trigger in full.triggers or ()):
        raise AlreadyExistsException("Trigger already exists, use alter: ")
    trigger = replace(
        new,
        resourcePlanName=full.plan.name,
        triggerName=name,
        isInUnmanaged=bool(new.isInUnmanaged),
        ns=full.plan.ns,
    )
    return with_parts(full, triggers=(*(full.triggers or ()), trigger))


def change_trigger(full: WMFullResourcePlan, changes: WMTrigger) -> WMFullResourcePlan:
    old = find_trigger(full, changes.triggerName)
    new = replace(
        old,
        triggerExpression=changes.triggerExpression if changes.triggerExpression is not None else old.triggerExpression,
        actionExpression=changes.actionExpression if changes.actionExpression is not None else old.actionExpression,
        isInUnmanaged=changes.isInUnmanaged if changes.isInUnmanaged is not None else old.isInUnmanaged,
    )
    return with_parts(full, triggers=(new if trigger is old else trigger for trigger in full.triggers or ()))


def remove_trigger(full: WMFullResourcePlan, name: str | None) -> WMFullResourcePlan:
    key = normalize(name or "")
    kept = [trigger for trigger in full.triggers or () if trigger.triggerName != key]
    if len(kept) == len(full.triggers or ()):
        raise NoSuchObjectException(f"Cannot delete trigger: {key}")
    return with_parts(full, triggers=kept, pool_triggers=[t for t in full.poolTriggers or () if t.trigger != key])


def map_trigger(full: WMFullResourcePlan, trigger: str | None, pool: str | None, *, drop: bool) -> WMFullResourcePlan:
    """Adds or removes a trigger of a pool; repeating it changes nothing."""
    path, name = find_pool(full, pool).poolPath, find_trigger(full, trigger).triggerName
    kept = [each for each in full.poolTriggers or () if (each.pool, each.trigger) != (path, name)]
    added = [] if drop else [WMPoolTrigger(pool=path, trigger=name)]
    return with_parts(full, pool_triggers=[*kept, *added])


# --- mappings -------------------------------------------------------------------------------------------------------


def _entity(mapping: WMMapping) -> tuple[str, str]:
    kind = (mapping.entityType or "").strip().upper()
    if kind not in ENTITIES:
        raise InvalidOperationException(f"a mapping is of one of {', '.join(ENTITIES)}, not {mapping.entityType}")
    return kind, normalize(mapping.entityName or "")


def put_mapping(full: WMFullResourcePlan, mapping: WMMapping, *, update: bool) -> WMFullResourcePlan:
    assert full.plan is not None
    kind, name = _entity(mapping)
    path = find_pool(full, mapping.poolPath).poolPath if mapping.poolPath is not None else None
    mappings = full.mappings or ()
    known = next((each for each in mappings if (each.entityType, each.entityName) == (kind, name)), None)
    if update:
        if known is None:
            raise NoSuchObjectException(f"Cannot find mapping of {kind} {name}")
        return with_parts(full, mappings=(replace(m, poolPath=path) if m is known else m for m in mappings))
    if known is not None:
        raise AlreadyExistsException(f"Mapping already exists: {kind} {name}")
    new = replace(
        mapping,
        resourcePlanName=full.plan.name,
        entityType=kind,
        entityName=name,
        poolPath=path,
        ordering=mapping.ordering or 0,
        ns=full.plan.ns,
    )
    return with_parts(full, mappings=(*mappings, new))


def remove_mapping(full: WMFullResourcePlan, mapping: WMMapping) -> WMFullResourcePlan:
    entity = _entity(mapping)
    kept = [each for each in full.mappings or () if (each.entityType, each.entityName) != entity]
    if len(kept) == len(full.mappings or ()):
        raise NoSuchObjectException("Cannot delete mapping.")
    return with_parts(full, mappings=kept)


# --- validation -----------------------------------------------------------------------------------------------------


def validated(full: WMFullResourcePlan) -> WMValidateResourcePlanResponse:
    """The errors and the warnings of a plan."""
    assert full.plan is not None
    errors: list[str] = []
    warnings: list[str] = []
    most = full.plan.queryParallelism
    if most is not None and most < 1:
        errors.append(f"Query parallelism should for resource plan be positive. Got: {most}")
    total = 0
    shares: dict[str, float] = {"": 0.0}
    pools = full.pools or ()
    for pool in pools:
        parent = _parent(pool.poolPath or "")
        shares[parent] = shares.get(parent, 0.0) + (pool.allocFraction or 0.0)
        if (pool.queryParallelism or 0) < 1:
            errors.append(f"Invalid query parallelism for pool: {pool.poolPath}")
        else:
            total += pool.queryParallelism or 0
        if not _is_policy(pool.schedulingPolicy):
            errors.append(f"Invalid scheduling policy {pool.schedulingPolicy} for pool: {pool.poolPath}")
    if most is not None and most != total:
        sum_of = f"Sum of all pools' query parallelism: {total}"
        if most < total:
            errors.append(f"{sum_of} exceeds resource plan query parallelism: {most}")
        else:
            warnings.append(f"{sum_of} is less than resource plan query parallelism: {most}")
    if not pools:
        errors.append("Root has no children")
    paths = {pool.poolPath for pool in pools}
    for parent, share in shares.items():
        if not parent:
            if pools and abs(1.0 - share) > 0.001:
                errors.append(f"Sum of root children pools' alloc fraction should be 1.0 got: {share} for pool: ")
            continue
        if parent not in paths:
            errors.append(f"Pool does not exists but has children: {parent}")
        if share >= 1.0:
            errors.append(
                f"Sum of children pools' alloc fraction should be less than 1 got: {share} for pool: {parent}"
            )
    return WMValidateResourcePlanResponse(errors=tuple(errors), warnings=tuple(warnings))
