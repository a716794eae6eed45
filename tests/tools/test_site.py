"""The site's navigation (mkdocs.yml) names every page once, and no page that does not exist."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import SimpleNamespace

import pytest
from support.pages import ROOT

CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
HOOKS = (ROOT / "docs" / "_hooks.py").read_text(encoding="utf-8")
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PAGES = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "src").rglob("checkpoints/*/README.md")]
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)")
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


complete = pytest.mark.skipif(not (DOCS / "results").is_dir(), reason="a source distribution has no docs/results")


def _from_hooks():
    """Return the pages that the hooks add: those of the root, the generated ones and the notebooks."""
    pages = re.findall(r'"[A-Z]+\.md": "([\w-]+\.md)"', HOOKS) + re.findall(r'"(reference/\w+\.md)":', HOOKS)
    return pages + [f"notebooks/{path.stem}.md" for path in NOTEBOOKS]


@complete
def test_the_navigation_has_every_page_once():
    named = re.findall(r": ([\w/-]+\.md)$", CONFIG, re.MULTILINE)
    files = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert len(_from_hooks()) == 10
    assert sorted(named) == sorted([*files, *_from_hooks()])


@complete
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_link_names_a_file(page):
    """Also links that leave the site, which `make docs` does not follow. Generated pages are those of the hooks."""
    targets = {(page.parent / link).resolve() for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))}
    generated = {DOCS / name for name in _from_hooks()}
    assert not [target for target in targets - generated if not target.exists()]


@complete
def test_the_list_of_papers_counts_the_rows_of_their_pages():
    overview = (DOCS / "reproduce.md").read_text(encoding="utf-8")
    papers = re.findall(r"^\| .* \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| \[rows\]\((.*)\) \|$", overview, re.MULTILINE)
    assert len(papers) == 5
    for *counts, page in papers:
        text = (DOCS / page).read_text(encoding="utf-8")
        statuses = re.findall(r"^\| [^|]+ \| (faithful|deviates|built, not measured|missing)\b", text, re.MULTILINE)
        words = ("faithful", "deviates", "built, not measured", "missing")
        assert [int(count) for count in counts] == [statuses.count(word) for word in words], page


def test_a_page_fetches_nothing():
    assert re.search(r"^  font: false", CONFIG, re.MULTILINE)
    source = (DOCS / "_theme" / "partials" / "source.html").read_text(encoding="utf-8")
    assert "data-md-component" not in source, "the component fetches from the repository's host"


@pytest.fixture(scope="module")
def hooks():
    """The hooks as a module, with the tools that they import. Links need nothing of MkDocs."""
    spec = importlib.util.spec_from_file_location("site_hooks", DOCS / "_hooks.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        patch.setitem(sys.modules, "mkdocs.structure.files", SimpleNamespace(File=None))
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("training.md", "[n](../notebooks/a.ipynb)", "[n](notebooks/a.md)"),
        ("notebooks/a.md", "[p](../docs/training.md#x)", "[p](../training.md#x)"),
        ("overview.md", "[p](docs/training.md)", "[p](training.md)"),
        ("games/hearts.md", "[r](../../README.md)", "[r](../overview.md)"),
        ("training.md", "[code](../src/trickformer/api.py)", "code"),
        ("training.md", "[gone](gone.md)", "[gone](gone.md)"),
        ("notebooks/a.md", "```python\nnames[card](seat)\n```", "```python\nnames[card](seat)\n```"),
        ("notebooks/a.md", "![o](data:image/png;base64,AA==)", "![o](data:image/png;base64,AA==)"),
    ],
)
def test_links_between_pages(hooks, page, text, expected):
    pages = {"training.md", "overview.md", "games/hearts.md", "notebooks/a.md"}
    files = SimpleNamespace(get_file_from_path=lambda path: path in pages)
    here = SimpleNamespace(file=SimpleNamespace(src_uri=page))
    assert hooks.on_page_markdown(text, here, None, files) == expected
