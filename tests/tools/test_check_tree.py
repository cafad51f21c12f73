"""The check for addresses and paths that only work on one machine."""

from __future__ import annotations

import pytest

from tools.check_tree import faults


@pytest.mark.parametrize(
    "text",
    [
        "pip install --index-url X metastored",
        "[global]\nindex-url = X",
        "https://mirror.example/repository/pypi/simple",
        "https://files.pythonhosted.org/packages/x",
        '"/root/.m2"',
        "file:///work/x/warehouse",
        "the checkout at /srv/build/metastored.",
    ],
)
def test_a_stray_address_is_found(text: str) -> None:
    assert list(faults(text, ("/srv/build/metastored",)))


@pytest.mark.parametrize(
    "text",
    [
        "uv pip compile --no-emit-index-url",
        "https://pypi.org/project/metastored",
        "hdfs://nn/user/hive/warehouse",
        "s3://bucket/home/ann/t",
        "/home/ann/t",
        "docs/work/index.md",
        "${basedir}/work/x",
        "/srv/build/metastoredness",
    ],
)
def test_an_ordinary_path_is_not(text: str) -> None:
    assert list(faults(text, ("/srv/build/metastored",))) == []


def test_the_line_number_is_reported() -> None:
    assert list(faults("one\ntwo /root/x\n", ())) == [(2, "a path of one machine: /root/x")]
