"""Arrow data in requests and responses, and Arrow schemas in Lance's JSON form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from lance_namespace import InvalidInputError
from lance_namespace_urllib3_client.models.json_arrow_data_type import JsonArrowDataType
from lance_namespace_urllib3_client.models.json_arrow_field import JsonArrowField
from lance_namespace_urllib3_client.models.json_arrow_schema import JsonArrowSchema

from metastored.lance.ipc import check_sizes

if TYPE_CHECKING:
    import pyarrow


def read_rows(data: bytes) -> pyarrow.Table:
    """The rows of an Arrow IPC stream. Raises InvalidInputError for bytes that are none.

    Arrow reads a stream without looking at its offsets, which may lead out of it: rows are validated before they are
    used.
    """
    import pyarrow

    if not data:
        raise InvalidInputError("the request has no data: it needs an Arrow IPC stream")
    try:
        check_sizes(data)
        rows = pyarrow.ipc.open_stream(pyarrow.py_buffer(data)).read_all()
        rows.validate(full=True)
    except (ValueError, pyarrow.ArrowException, OSError) as error:
        raise InvalidInputError(f"the data of the request is not a valid Arrow IPC stream: {error}") from None
    except MemoryError:
        raise InvalidInputError("the rows of the request need more memory than there is: send fewer at once") from None
    return rows


def write_rows(rows: pyarrow.Table) -> bytes:
    """Rows as an Arrow IPC file."""
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def schema_of(schema: pyarrow.Schema) -> JsonArrowSchema:
    """A schema in Lance's JSON form."""
    return JsonArrowSchema(fields=[_field(each) for each in schema], metadata=texts_of(schema.metadata) or None)


def _field(field: Any) -> JsonArrowField:
    return JsonArrowField(
        name=field.name, type=_type(field.type), nullable=field.nullable, metadata=texts_of(field.metadata) or None
    )


def _type(type: Any) -> JsonArrowDataType:
    """A type by the name that Lance gives it; nested types have fields, and fixed sizes a length."""
    import pyarrow

    t = pyarrow.types
    if t.is_struct(type):
        return JsonArrowDataType(type="struct", fields=[_field(type.field(at)) for at in range(type.num_fields)])
    if t.is_map(type):
        entries = pyarrow.struct([type.key_field, type.item_field])
        return JsonArrowDataType(type="map", fields=[_field(pyarrow.field("entries", entries, nullable=False))])
    if t.is_fixed_size_list(type):
        return JsonArrowDataType(type="fixed_size_list", fields=[_field(type.value_field)], length=type.list_size)
    if t.is_list(type) or t.is_large_list(type):
        name = "list" if t.is_list(type) else "large_list"
        return JsonArrowDataType(type=name, fields=[_field(type.value_field)])
    if t.is_fixed_size_binary(type):
        return JsonArrowDataType(type="fixed_size_binary", length=type.byte_width)
    if t.is_dictionary(type):
        return _type(type.value_type)
    if isinstance(type, pyarrow.BaseExtensionType):
        return _type(type.storage_type)
    return JsonArrowDataType(type=_NAMES.get(str(type), str(type)))


_NAMES: Final = {
    "string": "utf8",
    "large_string": "large_utf8",
    "halffloat": "float16",
    "float": "float32",
    "double": "float64",
    "date32[day]": "date32",
    "date64[ms]": "date64",
}
"""Arrow's names in Lance's schemas, where pyarrow prints another."""
_PYARROW: Final = {name: text for text, name in _NAMES.items()}
_DECIMAL: Final = re.compile(r"decimal(128|256)\((\d+), ?(-?\d+)\)")


def type_of(data: Mapping[str, Any]) -> pyarrow.DataType:
    """A type in Lance's JSON form, as `schema_of` writes it. Raises InvalidInputError for another one.

    Structs and maps are not read: no column can be cast to them.
    """
    import pyarrow

    name = str(data.get("type") or "").lower()
    fields: Any = data.get("fields") or []
    length: Any = data.get("length")
    try:
        if name in ("list", "large_list", "fixed_size_list"):
            item = pyarrow.field(fields[0]["name"], type_of(fields[0]["type"]), fields[0].get("nullable", True))
            if name == "large_list":
                return pyarrow.large_list(item)
            return pyarrow.list_(item, int(length)) if name == "fixed_size_list" else pyarrow.list_(item)
        if name == "fixed_size_binary":
            return pyarrow.binary(int(length))
        if (match := _DECIMAL.fullmatch(name)) is not None:
            make = pyarrow.decimal128 if match[1] == "128" else pyarrow.decimal256
            return make(int(match[2]), int(match[3]))
        return pyarrow.type_for_alias(_PYARROW.get(name, name))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise InvalidInputError(f"{dict(data)!r} is not a type of a column, such as {{'type': 'int64'}}") from None


def texts_of(metadata: Any) -> dict[str, str]:
    """The metadata of a schema or a field, as texts."""
    return {key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, value in (metadata or {}).items()}
