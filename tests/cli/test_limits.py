"""Files of strangers that are too large, too deep, or hold numbers that are none: one line each, and exit code 2."""

from __future__ import annotations

import gzip
import json
import math
import re
import shutil
import struct

import numpy as np
import pytest
from safetensors.numpy import save_file

from trickformer.base import TrickformerError
from trickformer.games import missions
from trickformer.models.weights import read_safetensors
from trickformer.plumbing import config as configs
from trickformer.plumbing.lines import MAX_LINE, JsonLines, read_lines
from trickformer.plumbing.text import MAX_TEXT, from_json, from_toml, limited_lines, read_text, to_json
from trickformer.tournaments import run
from trickformer.tournaments.deals import read_deals
from trickformer.tournaments.plan import Tournament

DIGITS = "9" * 400
DEEP = "[" * 100_000


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A run folder with records."""
    out = tmp_path_factory.mktemp("played") / "run"
    run.tournament(Tournament(game="hearts", a="random", b="rules", deals=2, seed=1, out=out))
    return out


@pytest.fixture
def stranger(played, tmp_path):
    """A copy of it without checksums, to be tampered with."""
    folder = shutil.copytree(played, tmp_path / "stranger")
    (folder / "records.jsonl.sums").unlink()
    return folder


def sparse(path, size):
    """Make a file of zeros that takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_a_text_that_is_read_whole_is_bounded(tmp_path, stranger, command):
    huge = sparse(tmp_path / "huge", MAX_TEXT + 1)
    with pytest.raises(ValueError, match="more than 256 MiB"):
        read_text(huge)
    with pytest.raises(TrickformerError, match=r"cannot read the config .* more than 256 MiB"):
        configs.load(Tournament, huge, {})
    with pytest.raises(TrickformerError, match="more than 256 MiB"):
        missions.read(str(huge))
    sparse(stranger / "run.json", MAX_TEXT + 1)
    code, _, err = command("report", stranger)
    assert code == 2 and err.count("\n") == 1 and "run.json" in err


def test_lines_are_bounded(tmp_path):
    huge = sparse(tmp_path / "lines.jsonl", 2 * MAX_LINE)
    with pytest.raises(TrickformerError, match="line 1: longer than 64 MiB"):
        read_lines(huge)
    with pytest.raises(TrickformerError, match="a line has more than 1 MiB"):
        read_deals(sparse(tmp_path / "deals", 2 << 20), 0)


def test_a_long_line_in_a_small_compressed_file_is_never_held(tmp_path):
    path = tmp_path / "games.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(32):
            file.write(bytes(1 << 20))
        file.write(b"\nlast\n")
    with gzip.open(path) as file:
        assert [len(line) for line in limited_lines(file, 1000)] == [1001, 5]


def crafted(path, header, body):
    """Write a safetensors file with a header of JSON or of bytes."""
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + body)
    return path


def entry(start, end, dtype="F32"):
    return {"dtype": dtype, "shape": [(end - start) // 4], "data_offsets": [start, end]}


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ({"a": entry(0, 64), "b": entry(0, 64)}, "tensor b overlaps the one before"),
        ({f"t{i}": entry(0, 64) for i in range(1000)}, "overlaps"),
        ({"a": entry(0, 32), "b": entry(36, 64)}, "tensor b leaves a gap"),
        ({"a": entry(0, 60)}, "bytes after the last tensor"),
        ({"a": entry(0, 68)}, "truncated: tensor a ends at byte"),
        ({"a": entry(0, 64) | {"shape": [int(DIGITS)]}}, "is not a safetensors file"),
        ({"a": entry(0, 64) | {"data_offsets": [0, int(DIGITS)]}}, "is not a safetensors file"),
        (DEEP.encode(), "is not a safetensors file"),
        (b" " * (1 << 22) + b"{}", "the header has more than 4 MiB"),
    ],
)
def test_tensors_stand_one_after_another(tmp_path, header, says):
    with pytest.raises(TrickformerError, match=says):
        read_safetensors(crafted(tmp_path / "model.safetensors", header, bytes(64)))


def test_tensors_of_any_order_are_read(tmp_path):
    arrays = {"b": np.arange(3, dtype=np.float32), "a": np.ones((2, 2), np.float16), "empty": np.empty(0, np.float32)}
    save_file(arrays, tmp_path / "model.safetensors")
    found = read_safetensors(tmp_path / "model.safetensors")
    assert {name: array.tolist() for name, array in found.items()} == {n: a.tolist() for n, a in arrays.items()}


@pytest.mark.parametrize("number", [DIGITS, "-" + DIGITS, "18446744073709551616"])
def test_integers_fit_a_word(number):
    for read, text in ((from_json, f'{{"a": [{number}]}}'), (from_toml, f"a = [{number}]")):
        with pytest.raises(ValueError, match="more than 64 bits"):
            read(text)
    assert from_json("[18446744073709551615, -5]") == [2**64 - 1, -5]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_of_json_are_finite(number, tmp_path):
    with pytest.raises(ValueError, match=r"is no number of JSON|is too large"):
        from_json(f"[{number}]")
    path = tmp_path / "log.jsonl"
    with JsonLines(path) as lines:
        lines.append({"loss": math.nan, "each": [math.inf, 1.5, (2, -math.inf)]})
    assert path.read_text() == '{"loss": null, "each": [null, 1.5, [2, null]]}\n'
    assert to_json({"a": math.inf, "b": 1}) == '{"a": null, "b": 1}'


def tampered(folder, field, value):
    """Change a field of the first record."""
    path = folder / "records.jsonl"
    first, *rest = path.read_text().splitlines(keepends=True)
    pattern = rf'("{field}":\[?)[^,\]]+'
    assert re.search(pattern, first)
    path.write_text(re.sub(pattern, lambda found: found[1] + value, first, count=1) + "".join(rest))


@pytest.mark.parametrize(
    "value", [DIGITS, "NaN", "Infinity", "1e999", DEEP, "9223372036854775808"], ids=lambda v: v[:5]
)
@pytest.mark.parametrize("field", ["deal", "seating", "scores", "decisions", "seconds", "calls", "history"])
def test_a_record_holds_numbers_alone(stranger, command, field, value):
    if field in ("seconds", "calls") and value.startswith("922"):
        pytest.skip("a float may be as large")
    tampered(stranger, field, value)
    for words in (["report", stranger, "--json"], ["records", "show", stranger, "--json"]):
        code, out, err = command(*words)
        assert (code, out) == (2, "") and err.count("\n") == 1 and len(err) < 400, err


@pytest.mark.parametrize("text", [DEEP, f"a = {DEEP}", f"deals = {DIGITS}", "deals = nan", f'a = "{DIGITS}'])
def test_a_config_is_refused_in_one_line(tmp_path, command, text):
    file = tmp_path / "config.toml"
    file.write_text(text)
    code, _, err = command("tournament", "hearts", "--a", "random", "--b", "rules", "--config", file)
    assert code == 2 and err.count("\n") == 1 and len(err) < 600, err


@pytest.mark.parametrize("value", [DIGITS, "NaN", DEEP], ids=lambda v: v[:3])
def test_an_engine_says_numbers_alone(value):
    from trickformer.engines import messages

    for text in (
        f'{{"type":"action","table":0,"action":{value}}}',
        f'{{"type":"action","table":0,"action":1,"value":{value}}}' if value != DIGITS else "1",
        f'{{"type":"action","table":0,"action":1,"visits":{{"1":{value}}}}}',
    ):
        with pytest.raises(ValueError):
            messages.parse(text.encode())
