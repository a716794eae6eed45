"""Arrays by name in a file: read back, and refused where the file is damaged."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from trickformer.base import TrickformerError
from trickformer.plumbing import arrays
from trickformer.plumbing.snapshot import Snapshots


def test_arrays_that_could_not_be_read_again_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "MOST_BYTES", 1000)
    arrays.save(tmp_path / "a.npz", x=np.zeros(50))
    with pytest.raises(TrickformerError, match="would hold more than"):
        arrays.save(tmp_path / "b.npz", x=np.zeros(100), y=np.zeros(100))
    assert not (tmp_path / "b.npz").exists()


def test_a_damaged_file_of_arrays_is_one_line(tmp_path):
    """Cut off, not there, of other names, spoilt where it is packed, and marked as encrypted."""
    file = tmp_path / "a.npz"
    arrays.save(file, odds=np.arange(500.0), won=np.ones(3, dtype=bool))
    good = file.read_bytes()
    found = arrays.load(file, "odds", "won")
    assert np.array_equal(found["odds"], np.arange(500.0)) and found["won"].all()
    encrypted = bytearray(good)
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = good.find(sign)
        while at >= 0:
            encrypted[at + flags] |= 1
            at = good.find(sign, at + 1)
    spoilt = bytearray(good)
    spoilt[60:120] = bytes(60)
    for data in (good[:-30], b"", b"nothing", bytes(encrypted), bytes(spoilt)):
        file.write_bytes(data)
        with pytest.raises(TrickformerError, match=r"a\.npz is broken; restore"):
            arrays.load(file, "odds", "won")
    file.write_bytes(good)
    for path, name in ((file, "other"), (tmp_path / "b.npz", "odds")):
        with pytest.raises(TrickformerError, match="is broken"):
            arrays.load(path, name)


def test_a_small_file_that_decompresses_to_much_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "a.npz"
    arrays.save(file, odds=np.zeros(100_000))
    assert file.stat().st_size < 2_000
    monkeypatch.setattr(arrays, "MOST_BYTES", 700_000)
    with pytest.raises(TrickformerError, match="holds more than"):
        arrays.load(file, "odds")


@pytest.mark.parametrize(
    "shape", ["(3, 4", "(3 4), }", f"({10**30},), }}", "(10000000000000,), }", "(-5,), }", "(2, 'x'), }"]
)
def test_a_header_of_any_shape_is_one_line(tmp_path, shape):
    """The header of an array inside a whole archive: brackets that do not close, and 40 TB."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}".ljust(117).encode() + b"\n"
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as packed:
        for name in ("odds", "tree"):
            packed.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    (tmp_path / "a.npz").write_bytes(held.getvalue())
    with pytest.raises(TrickformerError, match=r"a\.npz is broken"):
        arrays.load(tmp_path / "a.npz", "odds")
    with pytest.raises(ValueError):
        Snapshots((), {}).load(tmp_path / "a.npz", {})
