"""The browser that looks at pages finds what is wrong with one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import Finding, look_at, missing

pytestmark = pytest.mark.slow

CODE = "display: block; overflow: auto; width: 100px; white-space: pre"
BROKEN = f"""<!doctype html><html><body>
<img src="nothing.png"><pre><code style="{CODE}">{"x " * 200}</code></pre><div style="width: 3000px">wide</div>
<script src="http://example.invalid/x.js"></script><script>undefined.call()</script></body></html>"""


@pytest.fixture(autouse=True)
def _browser() -> None:
    if reason := missing():
        pytest.skip(reason)


def test_what_is_wrong_with_a_page_is_found(tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(BROKEN, "utf-8")
    seen = look_at(tmp_path, ["bad.html"], widths=(400,))
    assert {each[:2] for each in seen.findings} == {("bad.html", 400)}
    problems = " | ".join(each.problem for each in seen.findings)
    for expected in (
        "no heading",
        "in a window of 400",
        "code is cut",
        "an image is not shown",
        "loaded from elsewhere",
    ):
        assert expected in problems, seen.findings
    assert any("Uncaught TypeError" in line for line in seen.console), seen.console


def test_a_good_page_has_no_findings(tmp_path: Path) -> None:
    (tmp_path / "good.html").write_text("<!doctype html><html><body><h1>Good</h1></body></html>", "utf-8")
    assert look_at(tmp_path, ["good.html"], widths=(400, 1280)).findings == list[Finding]()
