"""Files of JSON lines after a power cut."""

from __future__ import annotations

import pytest

from trickformer.base import TrickformerError
from trickformer.plumbing import digests
from trickformer.plumbing.lines import JsonLines, LineFollower, read_lines


@pytest.mark.parametrize("lost", [1, 9, digests.LINE_DIGEST_SIZE])
def test_zeros_in_place_of_the_last_checksum_are_replaced(tmp_path, lost):
    path = tmp_path / "log.jsonl"
    with JsonLines(path) as lines:
        lines.append({"step": 1})
        lines.append({"step": 2})
    sums = digests.sums_file(path)
    sums.write_bytes(sums.read_bytes()[:-lost] + bytes(lost))
    with JsonLines(path) as lines:
        assert [line["step"] for line in lines.stored] == [1, 2]
        lines.append({"step": 3})
    records, length = read_lines(path)
    assert [record["step"] for record in records] == [1, 2, 3]
    assert length == path.stat().st_size
    assert sums.stat().st_size == 3 * digests.LINE_DIGEST_SIZE


def test_the_old_checksums_are_gone_from_the_disk_before_new_lines_are_there(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    with JsonLines(path) as lines:
        lines.append({"step": 1})
        lines.append({"step": 2})
        flushed = []
        flush = "trickformer.plumbing.lines.flush"
        monkeypatch.setattr(
            flush, lambda folder: flushed.append((sorted(p.name for p in folder.iterdir()), path.read_bytes()))
        )
        lines.replace_all([{"step": 5}])
    [(names, content)] = flushed
    assert "log.jsonl.sums" not in names
    assert b"5" not in content
    assert read_lines(path)[0] == [{"step": 5}]


def test_lines_that_are_written_while_others_are_read_are_not_missing(tmp_path, capfd):
    path = tmp_path / "log.jsonl"
    with JsonLines(path) as lines:
        lines.append({"step": 0})

        def parse(number, line):
            if number == 1:  # the reader has filled its buffer by now, and does not see these lines
                for step in range(1, 400):
                    lines.append({"step": step})
            return line

        seen, _ = read_lines(path, parse)
    assert 1 <= len(seen) <= 400 and capfd.readouterr().err == ""


def test_lines_are_followed_while_they_are_written(tmp_path):
    path, seen = tmp_path / "log.jsonl", []
    follower = LineFollower(path, lambda number, line: seen.append((number, line)))
    assert (follower.read(), follower.was_replaced) == (0, False)  # there is no file yet
    with JsonLines(path) as lines:
        lines.append({"step": 1})
        assert follower.read() == 1
        lines.append({"step": 2})
        with path.open("ab") as file:
            file.write(b'{"step"')
            file.flush()
            assert (follower.read(), follower.read()) == (1, 0)
            file.write(b": 3}\n")
        assert (follower.read(), follower.count, follower.length) == (1, 3, path.stat().st_size)
        assert seen == [(1, b'{"step": 1}'), (2, b'{"step": 2}'), (3, b'{"step": 3}')]
        assert not follower.was_replaced
        lines.replace_all([{"step": 1}])
        assert follower.was_replaced
    follower = LineFollower(path, lambda *_: None)
    follower.read()
    path.write_bytes(b"")
    assert follower.was_replaced


def test_a_followed_line_must_have_its_checksum(tmp_path):
    path = tmp_path / "log.jsonl"
    follower = LineFollower(path, lambda *_: None)
    with JsonLines(path) as lines:
        lines.append({"step": 1})
        follower.read()
        lines.append({"step": 2})
    path.write_bytes(path.read_bytes().replace(b"2", b"3"))
    with pytest.raises(TrickformerError, match="line 2: its checksum differs"):
        follower.read()
