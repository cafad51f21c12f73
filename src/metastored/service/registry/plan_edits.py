"""A resource plan and the changes that can be made to it: pure functions from one whole plan to the next.

A plan is one document: pools, mappings and triggers are lists inside of it, so a change is all or nothing by itself.
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
    """The plan with other pools, mappings, triggers; None leaves them as they are."""
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
    wanted = normalize(path or "")
    for pool in full.pools or ():
        if pool.poolPath == wanted:
            return pool
    raise NoSuchObjectException(f"Cannot find pool: {wanted}")


def add_pool(full: WMFullResourcePlan, given: WMPool) -> WMFullResourcePlan:
    assert full.plan is not None
    path = given.poolPath or ""
    if not _has_parent(full, path):
        raise _NO_PARENT
    _check_policy(given.schedulingPolicy)
    if any(pool.poolPath == path for pool in full.pools or ()):
        raise AlreadyExistsException("Pool already exists: ")
    pool = replace(
        given,
        resourcePlanName=full.plan.name,
        ns=full.plan.ns,
        allocFraction=given.allocFraction or 0.0,
        queryParallelism=given.queryParallelism or 0,
    )
    return with_parts(full, pools=(*(full.pools or ()), pool))


def change_pool(full: WMFullResourcePlan, path: str | None, given: WMNullablePool) -> WMFullResourcePlan:
    old = find_pool(full, path)
    new = old
    if given.allocFraction is not None:
        new = replace(new, allocFraction=given.allocFraction)
    if given.queryParallelism is not None:
        new = replace(new, queryParallelism=given.queryParallelism)
    if given.isSetSchedulingPolicy:
        _check_policy(given.schedulingPolicy)
        new = replace(new, schedulingPolicy=given.schedulingPolicy)
    full = with_parts(full, pools=(new if pool is old else pool for pool in full.pools or ()))
    if given.poolPath is not None and given.poolPath != old.poolPath:
        full = _move_pool(full, old.poolPath or "", given.poolPath)
    return full


def _move_pool(full: WMFullResourcePlan, old: str, new: str) -> WMFullResourcePlan:
    """Another path for a pool and all below it; what refers to them follows."""
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
    wanted = normalize(path or "")
    pools = full.pools or ()
    if full.plan.defaultPoolPath == wanted:
        raise InvalidOperationException("Cannot drop default pool of a resource plan")
    if any((pool.poolPath or "").startswith(f"{wanted}.") for pool in pools):
        raise InvalidOperationException("Pool has children cannot drop.")
    kept = [pool for pool in pools if pool.poolPath != wanted]
    if len(kept) == len(pools):
        raise NoSuchObjectException(f"Cannot delete pool: {wanted}")
    if any(each.poolPath == wanted for each in full.mappings or ()):
        raise InvalidOperationException("Please remove all mappings for this pool.")
    return with_parts(full, pools=kept, pool_triggers=[t for t in full.poolTriggers or () if t.pool != wanted])


# --- triggers -------------------------------------------------------------------------------------------------------


def find_trigger(full: WMFullResourcePlan, name: str | None) -> WMTrigger:
    wanted = normalize(name or "")
    for trigger in full.triggers or ():
        if trigger.triggerName == wanted:
            return trigger
    raise NoSuchObjectException(f"Cannot find trigger with name: {wanted}")


def add_trigger(full: WMFullResourcePlan, given: WMTrigger) -> WMFullResourcePlan:
    assert full.plan is not None
    name = normalize(given.triggerName or "")
    if any(trigger.triggerName == name for trigger in full.triggers or ()):
        raise AlreadyExistsException("Trigger already exists, use alter: ")
    trigger = replace(
        given,
        resourcePlanName=full.plan.name,
        triggerName=name,
        isInUnmanaged=bool(given.isInUnmanaged),
        ns=full.plan.ns,
    )
    return with_parts(full, triggers=(*(full.triggers or ()), trigger))


def change_trigger(full: WMFullResourcePlan, given: WMTrigger) -> WMFullResourcePlan:
    old = find_trigger(full, given.triggerName)
    new = replace(
        old,
        triggerExpression=given.triggerExpression if given.triggerExpression is not None else old.triggerExpression,
        actionExpression=given.actionExpression if given.actionExpression is not None else old.actionExpression,
        isInUnmanaged=given.isInUnmanaged if given.isInUnmanaged is not None else old.isInUnmanaged,
    )
    return with_parts(full, triggers=(new if trigger is old else trigger for trigger in full.triggers or ()))


def remove_trigger(full: WMFullResourcePlan, name: str | None) -> WMFullResourcePlan:
    wanted = normalize(name or "")
    kept = [trigger for trigger in full.triggers or () if trigger.triggerName != wanted]
    if len(kept) == len(full.triggers or ()):
        raise NoSuchObjectException(f"Cannot delete trigger: {wanted}")
    return with_parts(full, triggers=kept, pool_triggers=[t for t in full.poolTriggers or () if t.trigger != wanted])


def map_trigger(full: WMFullResourcePlan, trigger: str | None, pool: str | None, *, drop: bool) -> WMFullResourcePlan:
    """A trigger applies to a pool, or no longer; saying it twice changes nothing."""
    path, name = find_pool(full, pool).poolPath, find_trigger(full, trigger).triggerName
    kept = [each for each in full.poolTriggers or () if (each.pool, each.trigger) != (path, name)]
    added = [] if drop else [WMPoolTrigger(pool=path, trigger=name)]
    return with_parts(full, pool_triggers=[*kept, *added])


# --- mappings -------------------------------------------------------------------------------------------------------


def _entity(given: WMMapping) -> tuple[str, str]:
    kind = (given.entityType or "").strip().upper()
    if kind not in ENTITIES:
        raise InvalidOperationException(f"a mapping is of one of {', '.join(ENTITIES)}, not {given.entityType}")
    return kind, normalize(given.entityName or "")


def put_mapping(full: WMFullResourcePlan, given: WMMapping, *, update: bool) -> WMFullResourcePlan:
    assert full.plan is not None
    kind, name = _entity(given)
    path = find_pool(full, given.poolPath).poolPath if given.poolPath is not None else None
    mappings = full.mappings or ()
    known = next((each for each in mappings if (each.entityType, each.entityName) == (kind, name)), None)
    if update:
        if known is None:
            raise NoSuchObjectException(f"Cannot find mapping of {kind} {name}")
        return with_parts(full, mappings=(replace(m, poolPath=path) if m is known else m for m in mappings))
    if known is not None:
        raise AlreadyExistsException(f"Mapping already exists: {kind} {name}")
    new = replace(
        given,
        resourcePlanName=full.plan.name,
        entityType=kind,
        entityName=name,
        poolPath=path,
        ordering=given.ordering or 0,
        ns=full.plan.ns,
    )
    return with_parts(full, mappings=(*mappings, new))


def remove_mapping(full: WMFullResourcePlan, given: WMMapping) -> WMFullResourcePlan:
    wanted = _entity(given)
    kept = [each for each in full.mappings or () if (each.entityType, each.entityName) != wanted]
    if len(kept) == len(full.mappings or ()):
        raise NoSuchObjectException("Cannot delete mapping.")
    return with_parts(full, mappings=kept)


# --- the whole ------------------------------------------------------------------------------------------------------


def validated(full: WMFullResourcePlan) -> WMValidateResourcePlanResponse:
    """What is wrong with a plan, and what is odd."""
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
