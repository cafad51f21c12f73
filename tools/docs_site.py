"""A hook of mkdocs: the navigation is that of docs/README.md, and pages of the repository's root are pages of the site.

On GitHub the latter are above `docs/`, where mkdocs does not look. Nothing is written to the repository.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = {
    "SECURITY.md": "development/security.md",
    "CONTRIBUTING.md": "development/contributing.md",
    "CHANGELOG.md": "development/changelog.md",
}
"""Pages of the root, and where they are on the site."""
HOMEPAGE: Final = "https://github.com/metastored/metastored/blob/main/"


def on_config(config: Any) -> Any:
    """The navigation: a section for each heading of docs/README.md, with the pages that are listed below it."""
    config.nav = [{"Documentation": "README.md"}, *navigation((ROOT / "docs/README.md").read_text("utf-8"))]
    return config


def navigation(contents: str) -> list[dict[str, list[dict[str, str]]]]:
    """The sections of the table of contents."""
    sections: list[dict[str, list[dict[str, str]]]] = []
    for heading, title, target in re.findall(r"^## (.+)$|^- \[(.+?)\]\((.+?)\)", contents, re.MULTILINE):
        if heading:
            sections.append({heading: []})
        elif sections:
            page = PAGES.get(target.removeprefix("../"), target)
            next(iter(sections[-1].values())).append({title: page})
    return sections


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages of the root."""
    from mkdocs.structure.files import File

    for name, target in PAGES.items():
        files.append(File.generated(config, target, content=(ROOT / name).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replaces links to files outside of `docs/`: to pages of the site where they are some, else to GitHub."""
    folder = Path(page.file.src_uri).parent
    inside = next((name for name, target in PAGES.items() if target == page.file.src_uri), None)

    def link(found: re.Match[str]) -> str:
        return f"]({relinked(found[1], folder, from_root=inside is not None)})"

    return re.sub(r"\]\(([^)\s]+)\)", link, markdown)


def relinked(target: str, folder: Path, *, from_root: bool) -> str:
    """A link of a page in `folder` of the site. `from_root`: the page is written for the repository's root."""
    path, hash, anchor = target.partition("#")
    if "://" in path or not path:
        return target
    written = ROOT if from_root else ROOT / "docs" / folder
    name = (written / path).resolve().relative_to(ROOT).as_posix()
    if name in PAGES:
        name = PAGES[name]
    elif name.startswith("docs/"):
        name = name.removeprefix("docs/")
    else:
        return f"{HOMEPAGE}{name}{hash}{anchor}"
    up = "../" * len(folder.parts)
    return f"{up}{name}{hash}{anchor}"
