"""The site of the documentation: every page is in the navigation, and every link leads somewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.docs_site import PAGES, ROOT, navigation, relinked


def test_the_navigation_has_every_page() -> None:
    sections = navigation((ROOT / "docs/README.md").read_text("utf-8"))
    listed = {page for section in sections for pages in section.values() for each in pages for page in each.values()}
    written = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert listed == (written - {"README.md"}) | set(PAGES.values())


def test_links_out_of_the_documentation_lead_to_pages_of_the_site_or_to_the_repository() -> None:
    assert relinked("../../SECURITY.md#x", Path("guide"), from_root=False) == "../development/security.md#x"
    assert relinked("docs/guide/acid.md", Path("development"), from_root=True) == "../guide/acid.md"
    assert relinked("../client.md", Path("guide/x"), from_root=False) == "../../guide/client.md"
    assert relinked("../../Makefile", Path("guide"), from_root=False).endswith("/blob/main/Makefile")
    assert relinked("https://example.org/a", Path("guide"), from_root=False) == "https://example.org/a"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "site/concepts/calls/index.html").read_text("utf-8")
    assert 'class="mermaid"' in page
