"""A hook of mkdocs: the navigation is that of docs/README.md, and pages of the repository's root are pages of the site.

On GitHub the latter are above `docs/`, where mkdocs does not look. Diagrams are drawn here, and addresses of other
servers from which the theme would load programs and figures are removed. Nothing is written to the repository.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # mkdocs loads this file by its path.
    sys.path.append(str(ROOT))

from tools.diagrams import svg  # noqa: E402

PAGES: Final = {
    "SECURITY.md": "development/security.md",
    "CONTRIBUTING.md": "development/contributing.md",
    "CHANGELOG.md": "development/changelog.md",
}
"""Pages of the root, and where they are on the site."""
HOMEPAGE: Final = "https://github.com/metastored/metastored/blob/main/"
DIAGRAM: Final = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COUNTERS: Final = ' data-md-component="source"'
"""With this attribute the theme shows the stars of the repository, which it requests from GitHub."""
CDN: Final = "https://unpkg.com/"
"""From here the theme would load Mermaid, which no page needs, and a part that old browsers lack."""

Entry = dict[str, "str | list[Entry]"]
"""A title, and a page or the entries of a section."""


def on_config(config: Any) -> Any:
    """The navigation: a section for each heading of docs/README.md, with the pages that are listed below it."""
    config.nav = [{"metastored": "README.md"}, *navigation((ROOT / "docs/README.md").read_text("utf-8"))]
    return config


def navigation(contents: str) -> list[Entry]:
    """The sections of the table of contents; a heading of the third level is a section within a section.

    A section without pages is none: the start page has headings for other purposes, too.
    """
    top: list[Entry] = []
    section: list[Entry] = []
    entries: list[Entry] = []
    lines = re.findall(r"^(##|###) (.+)$|^- \[(.+?)\]\((.+?)\)", contents, re.MULTILINE)
    for level, heading, title, target in lines:
        if level == "##":
            section = entries = []
            top.append({heading: section})
        elif level == "###":
            entries = []
            section.append({heading: entries})
        elif top:
            entries.append({title: PAGES.get(target.removeprefix("../"), target)})
    return [each for each in top if next(iter(each.values()))]


def pages_of(entries: list[Entry]) -> list[str]:
    """The pages of a navigation, in its order."""
    found: list[str] = []
    for entry in entries:
        for value in entry.values():
            found += [value] if isinstance(value, str) else pages_of(value)
    return found


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages of the root."""
    from mkdocs.structure.files import File

    for name, target in PAGES.items():
        files.append(File.generated(config, target, content=(ROOT / name).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Draws the diagrams, and replaces links to files outside of `docs/`: by pages of the site, else by GitHub's."""
    folder = Path(page.file.src_uri).parent
    inside = next((name for name, target in PAGES.items() if target == page.file.src_uri), None)

    def link(found: re.Match[str]) -> str:
        return f"]({relinked(found[1], folder, from_root=inside is not None)})"

    linked = re.sub(r"\]\(([^)\s]+)\)", link, markdown)
    return DIAGRAM.sub(lambda found: f'<div class="diagram">{svg(found[1])}</div>', linked)


def on_post_page(output: str, **_: Any) -> str:
    """Removes what lets a browser call GitHub."""
    return output.replace(COUNTERS, "")


def on_post_template(output_content: str, **_: Any) -> str:
    """The same for pages that are not written in Markdown, such as that of the error 404."""
    return output_content.replace(COUNTERS, "")


def on_post_build(config: Any) -> None:
    """Removes the server from which the theme's program would load other programs."""
    for file in Path(config.site_dir).glob("assets/javascripts/bundle.*"):
        if file.suffix == ".map":
            file.unlink()  # For people who debug the theme.
        else:
            file.write_text(file.read_text("utf-8").replace(CDN, "/"), encoding="utf-8")


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
