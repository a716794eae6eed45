"""Hooks of the site: pages of the repository's root, notebooks, generated reference pages, and links between them."""

import posixpath
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import notebook_pages
import reference_pages

PAGES = {
    "README.md": "overview.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "report-a-vulnerability.md",
}
GENERATED = {"reference/cli.md": reference_pages.cli_page, "reference/players.md": reference_pages.players_page}
NOTEBOOKS = "notebooks"  # folder of the repository, and of the site
# A fenced block comes first, so that code such as `names[card](seat)` is no link.
LINK = re.compile(r"^ *```.*?^ *```|(!?)\[([^\]\[]+)\]\(([^)#\s:]+)(#[^)\s]*)?\)", re.MULTILINE | re.DOTALL)


def on_files(files, config):
    """Add the pages of the root, the notebooks and the generated pages."""
    root = Path(config.config_file_path).parent
    for source, page in PAGES.items():
        file = File.generated(config, page, abs_src_path=str(root / source))
        file.edit_uri = f"../{source}"
        files.append(file)
    for notebook in sorted((root / NOTEBOOKS).glob("*.ipynb")):
        content = notebook_pages.convert(notebook.read_text(encoding="utf-8"))
        file = File.generated(config, f"{NOTEBOOKS}/{notebook.stem}.md", content=content)
        file.edit_uri = f"../{NOTEBOOKS}/{notebook.name}"
        files.append(file)
    for page, write in GENERATED.items():
        files.append(File.generated(config, page, content=write()))
    return files


def source_folder(page):
    """Return the folder of the repository that holds the source of a page, against which its links are resolved."""
    if page in PAGES.values():
        return ""
    folder = posixpath.dirname(page)
    return folder if folder == NOTEBOOKS else posixpath.join("docs", folder)


def page_of(source):
    """Return the page of the site that shows a file of the repository."""
    if source.startswith(f"{NOTEBOOKS}/"):
        return source.removesuffix(".ipynb") + ".md"
    return PAGES.get(source, source.removeprefix("docs/"))


def on_page_markdown(markdown, page, config, files):
    """Rewrite links to pages of the site. A link to a file outside the site becomes plain text."""
    here = page.file.src_uri
    folder, base = posixpath.dirname(here), source_folder(here)

    def site_link(match):
        image, text, target, anchor = match.groups()
        if target is None:
            return match[0]
        path = posixpath.normpath(posixpath.join(base, target))
        at = page_of(path)
        if files.get_file_from_path(at):
            return f"{image}[{text}]({posixpath.relpath(at, folder or '.')}{anchor or ''})"
        # In docs/ it is a broken link, which the build is to report.
        return match[0] if path.startswith("docs/") else text

    return LINK.sub(site_link, markdown)
