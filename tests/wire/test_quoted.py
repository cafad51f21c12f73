"""TJSON inside other JSON: the string contains the complete text of the struct."""

from __future__ import annotations

import orjson
import pytest

from metastored.wire.codec import tjson
from metastored.wire.generated.common import FieldSchema, StorageDescriptor

ODD = 'a "quoted" \\ text, é, \u2028'


@pytest.mark.parametrize("comment", ["", "plain", ODD, "no text: \udcff"])
@pytest.mark.parametrize("columns", [0, 1, 50, 5000], ids=lambda number: f"{number} columns")
def test_the_string_holds_the_text(columns: int, comment: str) -> None:
    cols = tuple(FieldSchema(f"c{number}", "int", comment) for number in range(columns))
    sd = StorageDescriptor(cols=cols, location=ODD, parameters={"long": ODD * 500})
    assert orjson.loads(b'"' + tjson.quoted(tjson.text(sd)) + b'"') == tjson.text(sd)


@pytest.mark.parametrize("sd", [StorageDescriptor(), StorageDescriptor(compressed=True)], ids=["empty", "one field"])
def test_a_text_that_is_open_takes_one_more_field(sd: StorageDescriptor) -> None:
    text = tjson.opened(sd) + tjson.text(StorageDescriptor(location="there"))[1:]
    assert tjson.CODEC.named("StorageDescriptor")[0](orjson.loads(text)) == StorageDescriptor(
        location="there", compressed=sd.compressed
    )
