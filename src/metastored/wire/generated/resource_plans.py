"""The metastore API, resource plans. Made by tools/generate.py from api/resource_plans.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['WMAlterPoolRequest', 'WMAlterPoolResponse', 'WMAlterResourcePlanRequest', 'WMAlterResourcePlanResponse', 'WMAlterTriggerRequest', 'WMAlterTriggerResponse', 'WMCreateOrDropTriggerToPoolMappingRequest', 'WMCreateOrDropTriggerToPoolMappingResponse', 'WMCreateOrUpdateMappingRequest', 'WMCreateOrUpdateMappingResponse', 'WMCreatePoolRequest', 'WMCreatePoolResponse', 'WMCreateResourcePlanRequest', 'WMCreateResourcePlanResponse', 'WMCreateTriggerRequest', 'WMCreateTriggerResponse', 'WMDropMappingRequest', 'WMDropMappingResponse', 'WMDropPoolRequest', 'WMDropPoolResponse', 'WMDropResourcePlanRequest', 'WMDropResourcePlanResponse', 'WMDropTriggerRequest', 'WMDropTriggerResponse', 'WMFullResourcePlan', 'WMGetActiveResourcePlanRequest', 'WMGetActiveResourcePlanResponse', 'WMGetAllResourcePlanRequest', 'WMGetAllResourcePlanResponse', 'WMGetResourcePlanRequest', 'WMGetResourcePlanResponse', 'WMGetTriggersForResourePlanRequest', 'WMGetTriggersForResourePlanResponse', 'WMMapping', 'WMNullablePool', 'WMNullableResourcePlan', 'WMPool', 'WMPoolTrigger', 'WMResourcePlan', 'WMResourcePlanStatus', 'WMTrigger', 'WMValidateResourcePlanRequest', 'WMValidateResourcePlanResponse']


class WMResourcePlanStatus:
    ACTIVE = 1
    ENABLED = 2
    DISABLED = 3
    NAMES: ClassVar[dict[int, str]] = {1: 'ACTIVE', 2: 'ENABLED', 3: 'DISABLED'}


if TYPE_CHECKING:

    class WMAlterPoolRequest(NamedTuple):
        pool: WMNullablePool | None = None
        poolPath: str | None = None

    class WMAlterPoolResponse(NamedTuple):
        pass

    class WMAlterResourcePlanRequest(NamedTuple):
        resourcePlanName: str | None = None
        resourcePlan: WMNullableResourcePlan | None = None
        isEnableAndActivate: bool | None = None
        isForceDeactivate: bool | None = None
        isReplace: bool | None = None
        ns: str | None = None

    class WMAlterResourcePlanResponse(NamedTuple):
        fullResourcePlan: WMFullResourcePlan | None = None

    class WMAlterTriggerRequest(NamedTuple):
        trigger: WMTrigger | None = None

    class WMAlterTriggerResponse(NamedTuple):
        pass

    class WMCreateOrDropTriggerToPoolMappingRequest(NamedTuple):
        resourcePlanName: str | None = None
        triggerName: str | None = None
        poolPath: str | None = None
        drop: bool | None = None
        ns: str | None = None

    class WMCreateOrDropTriggerToPoolMappingResponse(NamedTuple):
        pass

    class WMCreateOrUpdateMappingRequest(NamedTuple):
        mapping: WMMapping | None = None
        update: bool | None = None

    class WMCreateOrUpdateMappingResponse(NamedTuple):
        pass

    class WMCreatePoolRequest(NamedTuple):
        pool: WMPool | None = None

    class WMCreatePoolResponse(NamedTuple):
        pass

    class WMCreateResourcePlanRequest(NamedTuple):
        resourcePlan: WMResourcePlan | None = None
        copyFrom: str | None = None

    class WMCreateResourcePlanResponse(NamedTuple):
        pass

    class WMCreateTriggerRequest(NamedTuple):
        trigger: WMTrigger | None = None

    class WMCreateTriggerResponse(NamedTuple):
        pass

    class WMDropMappingRequest(NamedTuple):
        mapping: WMMapping | None = None

    class WMDropMappingResponse(NamedTuple):
        pass

    class WMDropPoolRequest(NamedTuple):
        resourcePlanName: str | None = None
        poolPath: str | None = None
        ns: str | None = None

    class WMDropPoolResponse(NamedTuple):
        pass

    class WMDropResourcePlanRequest(NamedTuple):
        resourcePlanName: str | None = None
        ns: str | None = None

    class WMDropResourcePlanResponse(NamedTuple):
        pass

    class WMDropTriggerRequest(NamedTuple):
        resourcePlanName: str | None = None
        triggerName: str | None = None
        ns: str | None = None

    class WMDropTriggerResponse(NamedTuple):
        pass

    class WMFullResourcePlan(NamedTuple):
        plan: WMResourcePlan | None = None
        pools: tuple[WMPool, ...] | None = None
        mappings: tuple[WMMapping, ...] | None = None
        triggers: tuple[WMTrigger, ...] | None = None
        poolTriggers: tuple[WMPoolTrigger, ...] | None = None

    class WMGetActiveResourcePlanRequest(NamedTuple):
        ns: str | None = None

    class WMGetActiveResourcePlanResponse(NamedTuple):
        resourcePlan: WMFullResourcePlan | None = None

    class WMGetAllResourcePlanRequest(NamedTuple):
        ns: str | None = None

    class WMGetAllResourcePlanResponse(NamedTuple):
        resourcePlans: tuple[WMResourcePlan, ...] | None = None

    class WMGetResourcePlanRequest(NamedTuple):
        resourcePlanName: str | None = None
        ns: str | None = None

    class WMGetResourcePlanResponse(NamedTuple):
        resourcePlan: WMFullResourcePlan | None = None

    class WMGetTriggersForResourePlanRequest(NamedTuple):
        resourcePlanName: str | None = None
        ns: str | None = None

    class WMGetTriggersForResourePlanResponse(NamedTuple):
        triggers: tuple[WMTrigger, ...] | None = None

    class WMMapping(NamedTuple):
        resourcePlanName: str | None = None
        entityType: str | None = None
        entityName: str | None = None
        poolPath: str | None = None
        ordering: int | None = None
        ns: str | None = None

    class WMNullablePool(NamedTuple):
        resourcePlanName: str | None = None
        poolPath: str | None = None
        allocFraction: float | None = None
        queryParallelism: int | None = None
        schedulingPolicy: str | None = None
        isSetSchedulingPolicy: bool | None = None
        ns: str | None = None

    class WMNullableResourcePlan(NamedTuple):
        name: str | None = None
        status: int | None = None
        queryParallelism: int | None = None
        isSetQueryParallelism: bool | None = None
        defaultPoolPath: str | None = None
        isSetDefaultPoolPath: bool | None = None
        ns: str | None = None

    class WMPool(NamedTuple):
        resourcePlanName: str | None = None
        poolPath: str | None = None
        allocFraction: float | None = None
        queryParallelism: int | None = None
        schedulingPolicy: str | None = None
        ns: str | None = None

    class WMPoolTrigger(NamedTuple):
        pool: str | None = None
        trigger: str | None = None
        ns: str | None = None

    class WMResourcePlan(NamedTuple):
        name: str | None = None
        status: int | None = None
        queryParallelism: int | None = None
        defaultPoolPath: str | None = None
        ns: str | None = None

    class WMTrigger(NamedTuple):
        resourcePlanName: str | None = None
        triggerName: str | None = None
        triggerExpression: str | None = None
        actionExpression: str | None = None
        isInUnmanaged: bool | None = None
        ns: str | None = None

    class WMValidateResourcePlanRequest(NamedTuple):
        resourcePlanName: str | None = None
        ns: str | None = None

    class WMValidateResourcePlanResponse(NamedTuple):
        errors: tuple[str, ...] | None = None
        warnings: tuple[str, ...] | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class WMAlterPoolRequest(Struct):
        __slots__ = ()
        SPEC = ('1 WMNullablePool pool in=3.1+', '2 string poolPath @name in=3.1+',)

        def __new__(cls, pool=None, poolPath=None):
            return new(cls, (pool, poolPath,))

        pool = at[0]
        poolPath = at[1]

    class WMAlterPoolResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMAlterResourcePlanRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName @name in=3.1+', '2 WMNullableResourcePlan resourcePlan in=3.1+', '3 bool isEnableAndActivate in=3.1+', '4 bool isForceDeactivate in=3.1+', '5 bool isReplace in=3.1+', '6 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, resourcePlan=None, isEnableAndActivate=None, isForceDeactivate=None, isReplace=None, ns=None):
            return new(cls, (resourcePlanName, resourcePlan, isEnableAndActivate, isForceDeactivate, isReplace, ns,))

        resourcePlanName = at[0]
        resourcePlan = at[1]
        isEnableAndActivate = at[2]
        isForceDeactivate = at[3]
        isReplace = at[4]
        ns = at[5]

    class WMAlterResourcePlanResponse(Struct):
        __slots__ = ()
        SPEC = ('1 WMFullResourcePlan fullResourcePlan in=3.1+',)

        def __new__(cls, fullResourcePlan=None):
            return new(cls, (fullResourcePlan,))

        fullResourcePlan = at[0]

    class WMAlterTriggerRequest(Struct):
        __slots__ = ()
        SPEC = ('1 WMTrigger trigger in=3.1+',)

        def __new__(cls, trigger=None):
            return new(cls, (trigger,))

        trigger = at[0]

    class WMAlterTriggerResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMCreateOrDropTriggerToPoolMappingRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName @name in=3.1+', '2 string triggerName @name in=3.1+', '3 string poolPath @name in=3.1+', '4 bool drop in=3.1+', '5 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, triggerName=None, poolPath=None, drop=None, ns=None):
            return new(cls, (resourcePlanName, triggerName, poolPath, drop, ns,))

        resourcePlanName = at[0]
        triggerName = at[1]
        poolPath = at[2]
        drop = at[3]
        ns = at[4]

    class WMCreateOrDropTriggerToPoolMappingResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMCreateOrUpdateMappingRequest(Struct):
        __slots__ = ()
        SPEC = ('1 WMMapping mapping in=3.1+', '2 bool update in=3.1+',)

        def __new__(cls, mapping=None, update=None):
            return new(cls, (mapping, update,))

        mapping = at[0]
        update = at[1]

    class WMCreateOrUpdateMappingResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMCreatePoolRequest(Struct):
        __slots__ = ()
        SPEC = ('1 WMPool pool in=3.1+',)

        def __new__(cls, pool=None):
            return new(cls, (pool,))

        pool = at[0]

    class WMCreatePoolResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMCreateResourcePlanRequest(Struct):
        __slots__ = ()
        SPEC = ('1 WMResourcePlan resourcePlan in=3.1+', '2 string copyFrom @name in=3.1+',)

        def __new__(cls, resourcePlan=None, copyFrom=None):
            return new(cls, (resourcePlan, copyFrom,))

        resourcePlan = at[0]
        copyFrom = at[1]

    class WMCreateResourcePlanResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMCreateTriggerRequest(Struct):
        __slots__ = ()
        SPEC = ('1 WMTrigger trigger in=3.1+',)

        def __new__(cls, trigger=None):
            return new(cls, (trigger,))

        trigger = at[0]

    class WMCreateTriggerResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMDropMappingRequest(Struct):
        __slots__ = ()
        SPEC = ('1 WMMapping mapping in=3.1+',)

        def __new__(cls, mapping=None):
            return new(cls, (mapping,))

        mapping = at[0]

    class WMDropMappingResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMDropPoolRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName @name in=3.1+', '2 string poolPath @name in=3.1+', '3 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, poolPath=None, ns=None):
            return new(cls, (resourcePlanName, poolPath, ns,))

        resourcePlanName = at[0]
        poolPath = at[1]
        ns = at[2]

    class WMDropPoolResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMDropResourcePlanRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName @name in=3.1+', '2 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, ns=None):
            return new(cls, (resourcePlanName, ns,))

        resourcePlanName = at[0]
        ns = at[1]

    class WMDropResourcePlanResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMDropTriggerRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName @name in=3.1+', '2 string triggerName @name in=3.1+', '3 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, triggerName=None, ns=None):
            return new(cls, (resourcePlanName, triggerName, ns,))

        resourcePlanName = at[0]
        triggerName = at[1]
        ns = at[2]

    class WMDropTriggerResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class WMFullResourcePlan(Struct):
        __slots__ = ()
        SPEC = ('1 WMResourcePlan plan required in=3.1+', '2 list<WMPool> pools required in=3.1+', '3 list<WMMapping> mappings in=3.1+', '4 list<WMTrigger> triggers in=3.1+', '5 list<WMPoolTrigger> poolTriggers in=3.1+',)

        def __new__(cls, plan=None, pools=None, mappings=None, triggers=None, poolTriggers=None):
            return new(cls, (plan, pools, mappings, triggers, poolTriggers,))

        plan = at[0]
        pools = at[1]
        mappings = at[2]
        triggers = at[3]
        poolTriggers = at[4]

    class WMGetActiveResourcePlanRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string ns in=4.0.0+',)

        def __new__(cls, ns=None):
            return new(cls, (ns,))

        ns = at[0]

    class WMGetActiveResourcePlanResponse(Struct):
        __slots__ = ()
        SPEC = ('1 WMFullResourcePlan resourcePlan in=3.1+',)

        def __new__(cls, resourcePlan=None):
            return new(cls, (resourcePlan,))

        resourcePlan = at[0]

    class WMGetAllResourcePlanRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string ns in=4.0.0+',)

        def __new__(cls, ns=None):
            return new(cls, (ns,))

        ns = at[0]

    class WMGetAllResourcePlanResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<WMResourcePlan> resourcePlans in=3.1+',)

        def __new__(cls, resourcePlans=None):
            return new(cls, (resourcePlans,))

        resourcePlans = at[0]

    class WMGetResourcePlanRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName @name in=3.1+', '2 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, ns=None):
            return new(cls, (resourcePlanName, ns,))

        resourcePlanName = at[0]
        ns = at[1]

    class WMGetResourcePlanResponse(Struct):
        __slots__ = ()
        SPEC = ('1 WMFullResourcePlan resourcePlan in=3.1+',)

        def __new__(cls, resourcePlan=None):
            return new(cls, (resourcePlan,))

        resourcePlan = at[0]

    class WMGetTriggersForResourePlanRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName @name in=3.1+', '2 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, ns=None):
            return new(cls, (resourcePlanName, ns,))

        resourcePlanName = at[0]
        ns = at[1]

    class WMGetTriggersForResourePlanResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<WMTrigger> triggers in=3.1+',)

        def __new__(cls, triggers=None):
            return new(cls, (triggers,))

        triggers = at[0]

    class WMMapping(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName required @name in=3.1+', '2 string entityType required in=3.1+', '3 string entityName required @name in=3.1+', '4 string poolPath @name in=3.1+', '5 i32 ordering in=3.1+', '6 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, entityType=None, entityName=None, poolPath=None, ordering=None, ns=None):
            return new(cls, (resourcePlanName, entityType, entityName, poolPath, ordering, ns,))

        resourcePlanName = at[0]
        entityType = at[1]
        entityName = at[2]
        poolPath = at[3]
        ordering = at[4]
        ns = at[5]

    class WMNullablePool(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName required @name in=3.1+', '2 string poolPath required @name in=3.1+', '3 double allocFraction in=3.1+', '4 i32 queryParallelism in=3.1+', '5 string schedulingPolicy in=3.1+', '6 bool isSetSchedulingPolicy in=3.1+', '7 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, poolPath=None, allocFraction=None, queryParallelism=None, schedulingPolicy=None, isSetSchedulingPolicy=None, ns=None):
            return new(cls, (resourcePlanName, poolPath, allocFraction, queryParallelism, schedulingPolicy, isSetSchedulingPolicy, ns,))

        resourcePlanName = at[0]
        poolPath = at[1]
        allocFraction = at[2]
        queryParallelism = at[3]
        schedulingPolicy = at[4]
        isSetSchedulingPolicy = at[5]
        ns = at[6]

    class WMNullableResourcePlan(Struct):
        __slots__ = ()
        SPEC = ('1 string name @name in=3.1+', '2 WMResourcePlanStatus status in=3.1+', '4 i32 queryParallelism in=3.1+', '5 bool isSetQueryParallelism in=3.1+', '6 string defaultPoolPath @name in=3.1+', '7 bool isSetDefaultPoolPath in=3.1+', '8 string ns in=4.0.0+',)

        def __new__(cls, name=None, status=None, queryParallelism=None, isSetQueryParallelism=None, defaultPoolPath=None, isSetDefaultPoolPath=None, ns=None):
            return new(cls, (name, status, queryParallelism, isSetQueryParallelism, defaultPoolPath, isSetDefaultPoolPath, ns,))

        name = at[0]
        status = at[1]
        queryParallelism = at[2]
        isSetQueryParallelism = at[3]
        defaultPoolPath = at[4]
        isSetDefaultPoolPath = at[5]
        ns = at[6]

    class WMPool(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName required @name in=3.1+', '2 string poolPath required @name in=3.1+', '3 double allocFraction in=3.1+', '4 i32 queryParallelism in=3.1+', '5 string schedulingPolicy in=3.1+', '6 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, poolPath=None, allocFraction=None, queryParallelism=None, schedulingPolicy=None, ns=None):
            return new(cls, (resourcePlanName, poolPath, allocFraction, queryParallelism, schedulingPolicy, ns,))

        resourcePlanName = at[0]
        poolPath = at[1]
        allocFraction = at[2]
        queryParallelism = at[3]
        schedulingPolicy = at[4]
        ns = at[5]

    class WMPoolTrigger(Struct):
        __slots__ = ()
        SPEC = ('1 string pool required @name in=3.1+', '2 string trigger required @name in=3.1+', '3 string ns in=4.0.0+',)

        def __new__(cls, pool=None, trigger=None, ns=None):
            return new(cls, (pool, trigger, ns,))

        pool = at[0]
        trigger = at[1]
        ns = at[2]

    class WMResourcePlan(Struct):
        __slots__ = ()
        SPEC = ('1 string name required @name in=3.1+', '2 WMResourcePlanStatus status in=3.1+', '3 i32 queryParallelism in=3.1+', '4 string defaultPoolPath @name in=3.1+', '5 string ns in=4.0.0+',)

        def __new__(cls, name=None, status=None, queryParallelism=None, defaultPoolPath=None, ns=None):
            return new(cls, (name, status, queryParallelism, defaultPoolPath, ns,))

        name = at[0]
        status = at[1]
        queryParallelism = at[2]
        defaultPoolPath = at[3]
        ns = at[4]

    class WMTrigger(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName required @name in=3.1+', '2 string triggerName required @name in=3.1+', '3 string triggerExpression in=3.1+', '4 string actionExpression in=3.1+', '5 bool isInUnmanaged in=3.1+', '6 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, triggerName=None, triggerExpression=None, actionExpression=None, isInUnmanaged=None, ns=None):
            return new(cls, (resourcePlanName, triggerName, triggerExpression, actionExpression, isInUnmanaged, ns,))

        resourcePlanName = at[0]
        triggerName = at[1]
        triggerExpression = at[2]
        actionExpression = at[3]
        isInUnmanaged = at[4]
        ns = at[5]

    class WMValidateResourcePlanRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string resourcePlanName @name in=3.1+', '2 string ns in=4.0.0+',)

        def __new__(cls, resourcePlanName=None, ns=None):
            return new(cls, (resourcePlanName, ns,))

        resourcePlanName = at[0]
        ns = at[1]

    class WMValidateResourcePlanResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> errors in=3.1+', '2 list<string> warnings in=3.1+',)

        def __new__(cls, errors=None, warnings=None):
            return new(cls, (errors, warnings,))

        errors = at[0]
        warnings = at[1]
