"""Takes pages of the repository's root into the site and turns links between them and docs/ to the site's pages."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "report-a-vulnerability.md",
}
LINK = re.compile(r"(!?)\[([^\]\[]+)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_files(files, config):
    """Adds the pages of the root."""
    root = Path(config.config_file_path).parent
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(root / source)))
    return files


def on_page_markdown(markdown, page, config, files):
    """The page with links that hold in the site; what a link outside it names stays as plain text."""
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
