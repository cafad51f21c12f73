"""The site of the documentation: every page is in the navigation, every link leads somewhere, nothing is loaded from
another server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.browser import look_at, missing
from tools.docs_site import PAGES, ROOT, navigation, pages_of, relinked


def test_the_navigation_has_every_page() -> None:
    listed = pages_of(navigation((ROOT / "docs/README.md").read_text("utf-8")))
    written = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert set(listed) == (written - {"README.md"}) | set(PAGES.values())
    assert len(listed) == len(set(listed)), "a page is listed twice"


def test_the_guides_are_in_groups() -> None:
    sections = {
        title: entries
        for section in navigation((ROOT / "docs/README.md").read_text("utf-8"))
        for title, entries in section.items()
    }
    assert [*sections] == ["Start", "Guides", "Concepts", "Reference", "Development"]
    groups = [title for group in sections["Guides"] if isinstance(group, dict) for title in group]
    assert groups == ["Run it", "Use it", "Move to it", "Rows on Spark", "Secure it"]


def test_headings_of_the_third_level_are_sections_within_a_section() -> None:
    text = "# A\n## Why\ntext\n## B\n- [x](x.md): x\n### C\n- [y](y.md)\n- [z](../SECURITY.md)\n"
    assert navigation(text) == [{"B": [{"x": "x.md"}, {"C": [{"y": "y.md"}, {"z": "development/security.md"}]}]}]


def test_links_out_of_the_documentation_lead_to_pages_of_the_site_or_to_the_repository() -> None:
    assert relinked("../../SECURITY.md#x", Path("guide"), from_root=False) == "../development/security.md#x"
    assert relinked("docs/guide/acid.md", Path("development"), from_root=True) == "../guide/acid.md"
    assert relinked("../client.md", Path("guide/x"), from_root=False) == "../../guide/client.md"
    assert relinked("../../Makefile", Path("guide"), from_root=False).endswith("/blob/main/Makefile")
    assert relinked("https://example.org/a", Path("guide"), from_root=False) == "https://example.org/a"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_with_its_diagrams(site: Path) -> None:
    page = (site / "concepts/calls/index.html").read_text("utf-8")
    assert '<div class="diagram"><svg' in page
    assert "flowchart" not in page
    start = (site / "index.html").read_text("utf-8")
    assert 'src="images/overview.svg"' in start
    assert (site / "images/overview.svg").exists()


@pytest.mark.slow
def test_long_lines_of_code_are_wrapped_and_output_keeps_its_columns(site: Path) -> None:
    page = (site / "start/first-steps/index.html").read_text("utf-8")
    assert 'href="../../stylesheets/extra.css"' in page
    assert {"language-bash", "language-python", "language-text"} <= {
        word for found in re.findall(r'<div class="([^"]*\bhighlight\b[^"]*)"><pre>', page) for word in found.split()
    }
    style = (site / "stylesheets/extra.css").read_text("utf-8")
    assert re.search(r"\.md-typeset pre > code \{[^}]*white-space: pre-wrap;", style)
    assert re.search(r"\.language-text pre > code \{[^}]*white-space: pre;", style)


@pytest.mark.slow
def test_a_browser_shows_every_page_whole_also_on_a_telephone(site: Path) -> None:
    if reason := missing():
        pytest.skip(reason)
    pages = sorted(str(page.relative_to(site)) for page in site.rglob("index.html"))
    assert len(pages) > 50
    seen = look_at(site, pages, widths=(1280, 400))
    assert seen.findings == []
    assert seen.console == []


@pytest.mark.slow
def test_the_site_loads_nothing_from_another_server(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    assert len(pages) > 50
    loads = re.compile(
        r"<(?!a\b)\w+\b[^>]*?\b(?:src|href|srcset|action|data)=[\"']?((?:https?:)?//[^\"' >]+)", re.IGNORECASE
    )
    for page in pages:
        text = page.read_text("utf-8")
        assert not loads.findall(text), page
        assert 'data-md-component="source"' not in text, "the theme would request the stars of the repository"
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )[\"']?(?:https?:)?//", style.read_text("utf-8")), style
    (bundle,) = site.glob("assets/javascripts/bundle.*.js")
    text = bundle.read_text("utf-8")
    assert "unpkg" not in text
    # What is left: links of comments, and the counters of repositories, for the attribute that no page has.
    found = set(re.findall(r"https?://([\w.-]+)", text))
    assert found <= KNOWN, found - KNOWN


KNOWN = {"www.w3.org", "api.github.com", "clipboardjs.com", "github.com", "squidfunk.github.io"}
"""Servers whose names are in the theme's program: namespaces, comments, and requests that no page starts."""
