"""The package as a whole."""

from __future__ import annotations

from importlib.resources import files

import metastored


def test_the_package_tells_type_checkers_that_it_is_typed() -> None:
    assert files(metastored).joinpath("py.typed").is_file()
