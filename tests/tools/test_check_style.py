"""Tests of tools/check_style.py: each kind of finding, exemptions, ceilings, and the tree itself."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "tools" / "check_style.py"


def _load_checker():
    """Import the checker from its file; tools/ is not a package."""
    spec = importlib.util.spec_from_file_location("check_style", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # `dataclass` looks the module up
    spec.loader.exec_module(module)
    return module


checker = _load_checker()
Kind = checker.Kind


def _find(source, kind, path="src/trickformer/room/file.py"):
    """Return (line, text) of the findings of one kind."""
    return [(finding.line, finding.text) for finding in checker.check_source(source, path) if finding.kind == kind]


def _count(source, kind):
    return len(_find(source, kind))


@pytest.mark.parametrize(
    "text",
    [
        "What a player sees.",
        "Whether the seat is void.",
        "How many cards are left.",
        "Of one seat.",
        "Those that can be played.",
        "That of the position before.",
        "Where the file is.",
        "Who plays.",
        "The same for both seats.",
        "\n    What a player sees, after a line break.",
    ],
)
def test_docstring_openers_are_found(text):
    assert _count(f'"""{text}"""\n', Kind.OPENERS) == 1
    assert _count(f'def deal():\n    """{text}"""\n', Kind.OPENERS) == 1
    assert _count(f'class Deal:\n    size: int\n    """{text}"""\n', Kind.OPENERS) == 1


@pytest.mark.parametrize("text", ["Return what a player sees.", "Whatever is left.", "Offers of a seat.", "The seat."])
def test_other_docstrings_pass(text):
    assert _count(f'async def deal():\n    """{text}"""\n', Kind.OPENERS) == 0


def test_only_docstrings_are_searched_for_openers():
    assert _count('def deal():\n    x = "What a player sees."\n    return x\n', Kind.OPENERS) == 0


def test_a_docstring_finding_names_its_place():
    source = 'class Deal:\n    def size(self):\n        """How many cards\n        it has."""\n'
    assert _find(source, Kind.OPENERS) == [(3, "How many cards it has.")]


@pytest.mark.parametrize("name", ["told", "_said", "parsed", "come", "explains", "listening", "hidden", "_Found"])
def test_verb_forms_are_no_names(name):
    assert _find(f"def {name}():\n    pass\n", Kind.PARTICIPLE_NAMES) == [(1, name)]
    assert _count(f"class A:\n    async def {name}(self):\n        pass\n", Kind.PARTICIPLE_NAMES) == 1


@pytest.mark.parametrize("name", ["Ended", "_Raced", "Said", "Searching", "Agree", "_Ask"])
def test_verb_forms_are_no_class_names(name):
    assert _find(f"class {name}:\n    pass\n", Kind.PARTICIPLE_NAMES) == [(1, name)]


@pytest.mark.parametrize(
    "name",
    ["tell", "ask", "parse", "seed", "speed", "embed", "sorted", "is_told", "told_values", "training", "__init__"],
)
def test_other_function_names_pass(name):
    assert _count(f"def {name}():\n    pass\n", Kind.PARTICIPLE_NAMES) == 0


@pytest.mark.parametrize("name", ["Deal", "Training", "Quit", "EndedGame", "_MixedDeal", "TOLD"])
def test_other_class_names_pass(name):
    assert _count(f"class {name}:\n    pass\n", Kind.PARTICIPLE_NAMES) == 0


def test_exceptions_and_words_have_a_purpose():
    """Every exception would be a finding without its entry, or is a name of Python, and has a reason."""
    assert isinstance(checker.VERB_FORMS, frozenset)
    assert all(checker.NAME_EXCEPTIONS.values()) and all(checker.CLASS_EXCEPTIONS.values())
    assert all(word in checker.VERB_FORMS or word.endswith("ed") for word in checker.NAME_EXCEPTIONS)
    assert not checker.VERB_FORMS & set(checker.NAME_EXCEPTIONS)


@pytest.mark.parametrize(
    "source",
    [
        "def told():  # style: name in OpenSpiel\n    pass\n",
        "@cache\ndef told():  # style: name in OpenSpiel\n    pass\n",
        "def told(\n    seat,\n    card,\n):  # style: name in OpenSpiel\n    pass\n",
        "class Told: ...  # style: name in OpenSpiel\n",
    ],
)
def test_a_comment_exempts_a_name(source):
    assert checker.check_source(source, "a.py") == []


def test_a_comment_elsewhere_exempts_nothing():
    source = "# style: too early\ndef told():\n    # style: too late\n    pass\n"
    assert _find(source, Kind.PARTICIPLE_NAMES) == [(2, "told")]


@pytest.mark.parametrize("comment", ["# style:", "#style: ", "# style:   "])
def test_an_exemption_needs_a_reason(comment):
    source = f"def told():  {comment}\n    pass\n"
    assert _find(source, Kind.PARTICIPLE_NAMES) == [(1, "told")]
    assert [line for line, _ in _find(source, Kind.BARE_EXEMPTIONS)] == [1]


def test_a_string_is_no_exemption():
    assert _count('TEXT = "# style:"\n', Kind.BARE_EXEMPTIONS) == 0


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("src/trickformer/search/skat/pimc.py", "search"),
        ("src/trickformer/studies/obl/hanabi/actors.py", "studies/obl"),
        ("src/trickformer/studies/plan.py", "studies"),
        ("src/trickformer/cli.py", "cli.py"),
    ],
)
def test_rooms(path, room):
    assert checker.find_room(path) == room


def _shared(sources):
    """Return (path, line, text) of the class names that rooms share."""
    package = "src/trickformer/"
    findings = checker.check_sources({package + path: text for path, text in sources.items()})
    return [
        (finding.path.removeprefix(package), finding.line, finding.text.replace(package, ""))
        for finding in findings
        if finding.kind == Kind.SHARED_CLASSES
    ]


def test_a_class_name_belongs_to_one_room():
    tables = {"web/b.py": "class Table: ...\n", "engines/a.py": "\nclass Table: ...\n", "web/c.py": "class Row: ...\n"}
    assert _shared(tables) == [("engines/a.py", 2, "Table, also in web/b.py:1")]
    assert _shared({"web/a.py": "class _Run: ...\n", "search/a.py": "class _Run: ...\n"})
    assert _shared({"studies/a/x.py": "class Plan: ...\n", "studies/b/x.py": "class Plan: ...\n"})


def test_class_names_that_may_repeat():
    assert not _shared({"web/a.py": "class Table: ...\n", "web/scenes/b.py": "class Table: ...\n"})
    assert not _shared({"players/a.py": "class Options: ...\n", "games/b.py": "class Options: ...\n"})
    assert not _shared({"web/a.py": "class _Run: ...\n", "search/a.py": "class Run: ...\n"})
    assert not _shared({"web/a.py": "class Run: ...\n", "search/a.py": "class Run: ...  # style: name in Ray\n"})
    outside = {"benchmarks/a.py": "class Run: ...\n", "runs/a.py": "class Run: ...\n"}
    assert not checker.check_sources(outside | {"src/trickformer/web/a.py": "class Run: ...\n"})


@pytest.mark.parametrize(
    "call", ["Field(0, description={})", "typer.Option('--seed', help={})", "typer.Typer(help={})"]
)
def test_help_texts_are_short_and_have_no_semicolon(call):
    def count(text):
        return _count(f"x = {call.format(text)}\n", Kind.HELP_TEXTS)

    assert count(repr("a" * 91)) == 1
    assert count(repr("a" * 90)) == 0
    assert count("'Seed; 0 for none.'") == 1
    assert count(repr("a" * 50) + " " + repr("b" * 41)) == 1
    assert count("f'{x} hands; one a seat'") == 1
    assert count("NAME + '; more'") == 1
    assert count("'Seed (default: 0).'") == 0
    assert count("NAME") == 0


def test_other_texts_may_be_long():
    assert _count(f"raise ValueError(message={'a; ' * 50!r})\n", Kind.HELP_TEXTS) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "a, b, c = x",
        "(a, b), c = x",
        "self.a, self.b, self.c = 1, 2, 3",
        "a, *b, c = x",
        "[a, b, c] = x",
        "d = a, b, c = x",
    ],
)
def test_assignments_to_more_than_two_names(statement):
    assert _count(f"{statement}\n", Kind.WIDE_ASSIGNMENTS) == 1


@pytest.mark.parametrize(
    "statement", ["a, b = x", "a = b = c = x", "a, *b = x", "a = 1, 2, 3", "for a, b, c in x: pass", "x[a, b, c] = 1"]
)
def test_other_assignments_pass(statement):
    assert _count(f"{statement}\n", Kind.WIDE_ASSIGNMENTS) == 0


@pytest.mark.parametrize(
    "text",
    [
        "Where a suit is void, any card may be played.",
        "The belief. Where the deal\nis known, it is exact.",
        "The root, where it is kept.",
        "None; where nobody bids.",
        "The score where there is one.",
    ],
)
def test_where_for_if_is_found(text):
    comment = "\n".join(f"# {line}" for line in text.splitlines())
    assert _count(f'"""{text}"""\n', Kind.WHERE_FOR_IF) == 1
    assert _count(f"x = 1\n{comment}\n", Kind.WHERE_FOR_IF) == 1
    assert _count(f"Field(0, description={text!r})\n", Kind.WHERE_FOR_IF) == 1


@pytest.mark.parametrize(
    "text",
    [
        "The folder where records are kept.",
        "Return where the file is, as a path.",
        "If a suit is void, any card may be played.",
        "Mark the slots where the card is known.",
    ],
)
def test_where_for_places_passes(text):
    assert _count(f'"""{text}"""\n# {text}\n', Kind.WHERE_FOR_IF) == 0


def test_where_in_code_and_messages_passes():
    assert _count('x = np.where(a, b)\nraise ValueError("Where it is, nobody knows")\n', Kind.WHERE_FOR_IF) == 0


def test_a_where_finding_names_its_line():
    source = '"""Deals.\n\nWhere a deal is known, it is exact.\n"""\n\nx = 1\n# A reason.\n# Where it fails, stop.\n'
    assert [line for line, _ in _find(source, Kind.WHERE_FOR_IF)] == [3, 8]


def test_files_of_the_package_have_a_limit():
    assert _find("x = 1\n" * 500, Kind.LONG_FILES) == []
    assert _find("x = 1\n" * 501, Kind.LONG_FILES) == [(501, "501 lines, at most 500")]
    assert _find("\n" * 1_000, Kind.LONG_FILES) == [(501, "1000 lines, at most 500")]
    assert _find("x = 1\n" * 501, Kind.LONG_FILES, path="benchmarks/selfplay.py") == []


def test_pages_have_limits():
    def kinds(name, text):
        return [finding.kind for finding in checker.check_page(name, text)]

    assert kinds("README.md", "line\n" * 150) == []
    assert kinds("README.md", "line\n" * 151) == [Kind.LONG_PAGES]
    assert kinds("README.md", "a" * 9_001) == [Kind.LONG_PAGES]
    assert kinds("README.md", "é" * 4_501) == [Kind.LONG_PAGES]
    assert kinds("ARCHITECTURE.md", "\n" * 12_000) == []
    assert kinds("ARCHITECTURE.md", "\n" * 12_001) == [Kind.LONG_PAGES]
    assert kinds("CHANGELOG.md", "a" * 100_000) == []


def test_a_file_that_does_not_parse_is_an_error():
    with pytest.raises(checker.StyleError, match=r"^bad\.py: not valid Python"):
        checker.check_source("def :\n", "bad.py")


def _ceilings(**changes):
    """Return a table of ceilings; each is 0 unless given, with underscores for the spaces of a kind."""
    counts = dict.fromkeys(map(str, Kind), 0) | {name.replace("_", " "): count for name, count in changes.items()}
    return "[ceilings]\n" + "".join(f'"{kind}" = {count}\n' for kind, count in counts.items())


def test_ceilings_are_complete_counts():
    assert checker.read_ceilings(_ceilings(help_texts=3))["help texts"] == 3
    for text in ("", "[ceilings", _ceilings() + "more = 1\n", _ceilings(help_texts=-1), _ceilings(help_texts="true")):
        with pytest.raises(checker.StyleError, match="style_ceilings"):
            checker.read_ceilings(text)


@pytest.fixture
def tree(tmp_path, capsys):
    """Return a function that runs the checker on a small repository with two participle names."""
    package = tmp_path / "src" / "trickformer" / "web"
    package.mkdir(parents=True)
    (package / "a.py").write_text("def told(): ...\n\n\nclass Ended: ...\n")
    (tmp_path / "README.md").write_text("# Short\n")
    (tmp_path / "tools").mkdir()

    def run(ceiling, *arguments):
        (tmp_path / checker.CEILINGS).write_text(_ceilings(participle_names=ceiling))
        code = checker.main(arguments, tmp_path)
        return code, capsys.readouterr().out.splitlines()

    return run


def test_counts_that_equal_their_ceilings_pass(tree):
    code, lines = tree(2)
    assert code == 0
    counts = {kind: 2 if kind == Kind.PARTICIPLE_NAMES else 0 for kind in Kind}
    assert lines == [f"{kind}: {count} (ceiling {count})" for kind, count in counts.items()]


def test_a_count_above_its_ceiling_fails(tree):
    code, lines = tree(1)
    assert code == 1
    assert "participle names: 2 (ceiling 1): too many, see --list 'participle names'" in lines


def test_a_ceiling_above_its_count_fails_until_it_is_lowered(tree):
    code, lines = tree(3)
    assert code == 1
    assert "participle names: 2 (ceiling 3): lower the ceiling to 2 in tools/style_ceilings.toml" in lines


def test_findings_are_listed(tree):
    places = ["src/trickformer/web/a.py:1: told", "src/trickformer/web/a.py:4: Ended"]
    code, lines = tree(2, "--list", "participle names")
    assert (code, lines) == (0, ["participle names: 2 (ceiling 2)", *places])
    assert tree(2, "--list", "help texts") == (0, ["help texts: 0 (ceiling 0)"])
    code, lines = tree(2, "--list")
    assert code == 0 and [line for line in lines if line.startswith("src/")] == places
    assert tree(1, "--list", "help texts")[0] == 1


def test_an_unknown_kind_is_refused(tree):
    with pytest.raises(SystemExit):
        tree(2, "--list", "spelling")


def test_a_missing_table_is_one_line(tmp_path, capsys):
    assert checker.main([], tmp_path) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.slow
def test_the_tree_keeps_to_its_ceilings(capsys):
    code = checker.main([])
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    "source",
    [
        "found = 1\n",
        "for said in range(3):\n    pass\n",
        "def f(told):\n    pass\n",
        "values = [given for given in range(3)]\n",
        "with open('x') as found:\n    pass\n",
    ],
)
def test_vague_names_of_variables_are_found(source):
    assert _count(source, Kind.VAGUE_LOCALS) == 1


@pytest.mark.parametrize("source", ["result = found\n", "x.found = 1\n", "f(found=1)\n", "foundation = 1\n"])
def test_uses_and_attributes_are_no_variables(source):
    assert _count(source, Kind.VAGUE_LOCALS) == 0


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('def f(x):\n    """Deal."""\n', 1),
        ('def f(*x):\n    """Deal."""\n', 1),
        ('class C:\n    def f(self, x):\n        """Deal."""\n', 1),
        ('def f(x):\n    """Deal.\n\n    Args:\n        x: Number.\n    """\n', 0),
        ('def f():\n    """Deal."""\n', 0),
        ("def f(x):\n    pass\n", 0),
        ('def _f(x):\n    """Deal."""\n', 0),
        ('class _C:\n    def f(self, x):\n        """Deal."""\n', 0),
        ('class C:\n    def f(self):\n        """Deal."""\n', 0),
        ('def f():\n    def g(x):\n        """Deal."""\n', 0),
        ('@configs.command(app)\ndef f(x):\n    """Deal."""\n', 0),
    ],
)
def test_public_functions_explain_their_parameters(source, count):
    assert _count(source, Kind.MISSING_ARGS) == count


@pytest.mark.parametrize(("folder", "count"), [("benchmarks", 0), ("runs", 0), ("examples", 1), ("tools", 1)])
def test_programs_need_no_args(folder, count):
    source = 'def f(x):\n    """Deal."""\n'
    assert len(_find(source, Kind.MISSING_ARGS, path=f"{folder}/a.py")) == count


@pytest.mark.parametrize("folder", ["src/trickformer/web", "benchmarks", "examples/engines", "runs", "tools"])
def test_all_folders_are_searched(folder, tmp_path):
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "a.py").write_text("def told(): ...\n")
    assert [(finding.path, finding.kind) for finding in checker.check_tree(tmp_path)] == [
        (f"{folder}/a.py", Kind.PARTICIPLE_NAMES)
    ]
