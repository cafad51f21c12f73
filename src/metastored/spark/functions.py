"""Permanent functions in Spark's external catalog: classes in jars, whose names are in lower case."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

from metastored.errors import NoSuchObjectException, SparkCatalogError
from metastored.hive.names import normalize
from metastored.model.names import database_name
from metastored.model.spark.values import CatalogFunction, FunctionIdentifier, FunctionResource
from metastored.spark.connection import Connected, client_errors
from metastored.structs import Function, FunctionType, PrincipalType, ResourceType, ResourceUri

RESOURCES: Final = {"jar": ResourceType.JAR, "file": ResourceType.FILE, "archive": ResourceType.ARCHIVE}


class Functions(Connected):
    """The methods for functions; each has the name of Spark's in Python's way."""

    def create_function(self, db: str, definition: CatalogFunction) -> None:
        """Spark's createFunction. Raises SparkCatalogError: SCHEMA_NOT_FOUND, ROUTINE_ALREADY_EXISTS."""
        with client_errors():
            name = normalize(definition.identifier.func_name)
            self._require_no_function(db, name)
            self.client.api.create_function(_to_hive(db, name, definition))

    def drop_function(self, db: str, name: str) -> None:
        """Spark's dropFunction. Raises SparkCatalogError: SCHEMA_NOT_FOUND, ROUTINE_NOT_FOUND."""
        with client_errors():
            self.get_function(db, name)
            self.client.api.drop_function(database_name(db).field, normalize(name))

    def alter_function(self, db: str, definition: CatalogFunction) -> None:
        """Spark's alterFunction. Raises SparkCatalogError: SCHEMA_NOT_FOUND, ROUTINE_NOT_FOUND."""
        with client_errors():
            name = normalize(definition.identifier.func_name)
            self.get_function(db, name)
            self.client.api.alter_function(database_name(db).field, name, _to_hive(db, name, definition))

    def rename_function(self, db: str, old_name: str, new_name: str) -> None:
        """Spark's renameFunction.

        Raises SparkCatalogError: SCHEMA_NOT_FOUND, ROUTINE_NOT_FOUND, ROUTINE_ALREADY_EXISTS.
        """
        with client_errors():
            function = self.get_function(db, old_name)
            self._require_no_function(db, new_name)
            renamed = replace(function, identifier=FunctionIdentifier(normalize(new_name), db))
            struct = _to_hive(db, normalize(new_name), renamed)
            self.client.api.alter_function(database_name(db).field, normalize(old_name), struct)

    def get_function(self, db: str, name: str) -> CatalogFunction:
        """Spark's getFunction. Raises SparkCatalogError: SCHEMA_NOT_FOUND, ROUTINE_NOT_FOUND."""
        with client_errors():
            self._require_database(db)
            try:
                function = self.client.api.get_function(database_name(db).field, normalize(name))
            except NoSuchObjectException as error:
                raise SparkCatalogError("ROUTINE_NOT_FOUND", f"the function {db}.{name} does not exist") from error
        return _from_hive(function)

    def function_exists(self, db: str, name: str) -> bool:
        """Spark's functionExists. Raises SparkCatalogError: SCHEMA_NOT_FOUND."""
        try:
            self.get_function(db, name)
        except SparkCatalogError as error:
            if error.condition != "ROUTINE_NOT_FOUND":
                raise
            return False
        return True

    def list_functions(self, db: str, pattern: str = "*") -> list[str]:
        """Spark's listFunctions. Raises SparkCatalogError: SCHEMA_NOT_FOUND."""
        with client_errors():
            self._require_database(db)
            return list(self.client.api.get_functions(database_name(db).field, pattern))

    def _require_no_function(self, db: str, name: str) -> None:
        if self.function_exists(db, name):
            raise SparkCatalogError("ROUTINE_ALREADY_EXISTS", f"the function {db}.{name} exists already")


def _to_hive(db: str, name: str, function: CatalogFunction) -> Function:
    return Function(
        functionName=name,
        dbName=db,
        className=function.class_name,
        ownerType=PrincipalType.USER,
        createTime=int(time.time()),
        functionType=FunctionType.JAVA,
        resourceUris=tuple(ResourceUri(_type(each), each.uri) for each in function.resources),
    )


def _type(resource: FunctionResource) -> int:
    type = RESOURCES.get(resource.resource_type.lower())
    if type is None:
        raise SparkCatalogError(
            "_LEGACY_ERROR_TEMP_1214",
            f"the resource type {resource.resource_type!r} is not supported; known are {', '.join(RESOURCES)}",
        )
    return type


def _from_hive(function: Function) -> CatalogFunction:
    names = {number: name for name, number in RESOURCES.items()}
    return CatalogFunction(
        FunctionIdentifier(function.functionName or "", function.dbName),
        function.className or "",
        tuple(
            FunctionResource(names.get(each.resourceType or 0, "jar"), each.uri or "")
            for each in function.resourceUris or ()
        ),
    )
