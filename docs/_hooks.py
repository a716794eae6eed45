"""Hooks of the site: pages of the repository's root, generated reference pages, and links between them and docs/."""

import posixpath
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import reference_pages

PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "report-a-vulnerability.md",
}
GENERATED = {"reference/cli.md": reference_pages.cli_page, "reference/players.md": reference_pages.players_page}
LINK = re.compile(r"(!?)\[([^\]\[]+)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_files(files, config):
    """Add the pages of the root and the generated pages."""
    root = Path(config.config_file_path).parent
    for source, page in PAGES.items():
        file = File.generated(config, page, abs_src_path=str(root / source))
        file.edit_uri = f"../{source}"
        files.append(file)
    for page, write in GENERATED.items():
        files.append(File.generated(config, page, content=write()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Rewrite links to pages of the site. A link to a file outside the site becomes plain text."""
    here = page.file.src_uri
    folder = posixpath.dirname(here)
    base = "" if here in PAGES.values() else posixpath.join("docs", folder)

    def turned(match):
        image, text, target, anchor = match.groups()
        path = posixpath.normpath(posixpath.join(base, target))
        at = PAGES.get(path, path.removeprefix("docs/"))
        if files.get_file_from_path(at):
            return f"{image}[{text}]({posixpath.relpath(at, folder or '.')}{anchor or ''})"
        # In docs/ it is a broken link, which the build is to report.
        return match[0] if path.startswith("docs/") else text

    return LINK.sub(turned, markdown)
