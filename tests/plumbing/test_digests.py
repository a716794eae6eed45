"""Checksums of files: names that lead nowhere, or out of the folder."""

from __future__ import annotations

import pytest

from trickformer.base import TrickformerError
from trickformer.plumbing import digests


@pytest.mark.parametrize("name", ["we\0ights", "missing", "../weights", "/etc/hostname"])
def test_a_name_that_is_no_file_of_the_folder_is_refused(tmp_path, name):
    (tmp_path / "weights").write_bytes(b"1234")
    digests.write(tmp_path)
    digests.check(tmp_path)
    note = tmp_path / digests.SUMS_FILE
    note.write_text(note.read_text().replace("weights", name))
    with pytest.raises(TrickformerError, match="its checksum is not the one in B2SUMS"):
        digests.check(tmp_path)
