"""Files of JSON lines after a power cut."""

from __future__ import annotations

import pytest

from trickformer.plumbing import digests
from trickformer.plumbing.lines import JsonLines, read_lines


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
