"""The metastore's API as Thrift IDL text for one version, written from metastored's own tables.

Other Thrift libraries read it in the tests. Where two lines share an id or a name, the version decides; the layout
of an old version (`WAS`) is the struct of Hive 2.3.
"""

from __future__ import annotations

from functools import cache

from metastored.errors import THRIFT_EXCEPTIONS
from metastored.wire.generated import ENUMS, STRUCTS
from metastored.wire.methods import METHODS, Method
from metastored.wire.structs import fields
from metastored.wire.types import Field, Type, parse_field

SERVICE = "ThriftHiveMetastore"


@cache
def struct_fields(name: str, version: str) -> tuple[Field, ...]:
    """The fields of a struct or declared exception in this version, by id."""
    if name in THRIFT_EXCEPTIONS:
        return (Field(1, Type("string"), "message"),)
    cls = STRUCTS[name]
    if version == "2.3" and cls.WAS:  # type: ignore[attr-defined]
        return tuple(parse_field(line) for line in cls.WAS)  # type: ignore[attr-defined]
    found = [field for field in fields(cls) if version in field.versions]
    assert len({f.id for f in found}) == len({f.name for f in found}) == len(found), (name, version)
    return tuple(sorted(found, key=lambda field: field.id))


def method_fields(method: Method, version: str) -> tuple[Field, ...]:
    """The arguments of a method in this version."""
    return tuple(field for field in method.args if version in field.versions)


def thrown(method: Method, version: str) -> tuple[Field, ...]:
    """The exceptions of a method in this version, as fields of its result."""
    throws = method.throws_in(version).items()
    return tuple(Field(slot, Type(name), f"o{slot}") for name, slot in throws if slot > 0)


def _lines(found: tuple[Field, ...], modifier: str = "optional ") -> str:
    return "".join(f"  {f.id}: {modifier}{f.type} {f.name}\n" for f in found)


def _function(method: Method, version: str) -> str:
    args = ", ".join(f"{f.id}: {f.type} {f.name}" for f in method_fields(method, version))
    text = f"  {'oneway ' if method.oneway else ''}{method.returns or 'void'} {method.name}({args})"
    errors = ", ".join(f"{f.id}: {f.type} {f.name}" for f in thrown(method, version))
    return text + (f" throws ({errors})" if errors else "") + "\n"


def idl(version: str, every_method: bool = False) -> str:
    """The whole API of a version; with `every_method` also the methods that other versions have."""
    out = []
    for name, enum in ENUMS.items():
        names: dict[int, str] = enum.NAMES  # type: ignore[attr-defined]
        out.append(f"enum {name} {{\n" + "".join(f"  {word} = {n}\n" for n, word in names.items()) + "}\n")
    for name in THRIFT_EXCEPTIONS:
        out.append(f"exception {name} {{\n{_lines(struct_fields(name, version), '')}}}\n")
    for name, cls in STRUCTS.items():
        union = cls.UNION  # type: ignore[attr-defined]
        lines = _lines(struct_fields(name, version), "" if union else "optional ")
        out.append(f"{'union' if union else 'struct'} {name} {{\n{lines}}}\n")
    methods = (method for method in METHODS.values() if every_method or version in method.versions)
    out.append(f"service {SERVICE} {{\n" + "".join(_function(method, version) for method in methods) + "}\n")
    return "\n".join(out)
