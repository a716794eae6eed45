"""The evaluation of Skat hands: its features, the fit, what is kept of a run, the calibration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.skat_games import cards

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.games.skat import evaluation
from trickformer.plumbing import config as configs
from trickformer.studies.skat import calibration as calibrating
from trickformer.studies.skat import evaluation as learning
from trickformer.studies.skat.config import Calibration, Learning

S = _core.skat_search
NULL = 5


def test_fit_ends_where_the_posterior_is_highest():
    rng = np.random.default_rng(2)
    entries = rng.integers(0, 12, (400, 9)).astype(np.uint16)
    entries[:, -1] = learning.ENTRIES - 1  # stands for no entry
    target = (rng.random(400) < 1 / (1 + np.exp(-(entries[:, 0] - 5.5)))).astype(np.float32)
    lean = rng.normal(0, 0.3, learning.ENTRIES).astype(np.float32)
    found = learning.fit(entries, target, 0.8, lean).astype(float)

    def loss(w):
        return 400 * learning.log_loss(w, entries, target) + 0.5 * np.sum((w - lean)[:12] ** 2) / 0.8**2

    assert found[-1] == 0
    assert np.allclose(found[12:-1], lean[12:-1])
    for k, step in itertools.product(range(12), (-0.05, 0.05)):
        moved = found.copy()
        moved[k] += step
        assert loss(moved) > loss(found)


@pytest.mark.slow
def test_what_was_drawn_is_kept_and_learning_goes_on(tmp_path, capsys):
    config = Learning(out=tmp_path, seed=3, first=60, second=60, third=60, hand=40)
    weights, lines = learning.learn(config)
    pieces = sorted(tmp_path.glob("*.npz"))
    assert len(pieces) == 12
    before = {p.name: p.stat().st_mtime_ns for p in pieces}
    pieces[3].unlink()
    again, repeated = learning.learn(config)
    assert np.array_equal(weights, again)
    assert lines == repeated
    after = {p.name: p.stat().st_mtime_ns for p in tmp_path.glob("*.npz")}
    assert [name for name in after if after[name] != before[name]] == [pieces[3].name]
    assert "hands" in capsys.readouterr().err


@pytest.mark.slow
def test_learning_and_calibrating_by_command(tmp_path, capsys):
    """A run that is stopped goes on, bad input is one line, and the core takes what was made."""
    few = {"first": 20, "second": 20, "third": 40, "hand": 20, "held_out": 0.2}
    config = Learning(out=tmp_path / "learned", seed=3, **few)
    report = learning.command(config, resume=False)
    ((_, (head, rows)),) = report.tables
    assert len(rows) == 9 and all(len(row) == len(head) for row in rows)
    assert all(" → " in row[-1] and "% (" in row[-1] for row in rows)
    assert "the model after round 2, measured" in report.text() and "|" not in report.text()
    assert (config.out / "report.md").read_text() == report.markdown()
    assert learning.command(config, resume=True) == report
    with pytest.raises(TrickformerError, match="already holds a run"):
        learning.command(config, resume=False)
    with pytest.raises(TrickformerError, match=r"--prior 1\.0, not --prior 2\.0"):
        learning.command(config.model_copy(update={"prior": 2.0}), resume=True)
    settings = Calibration(learned=config.out, out=tmp_path / "out", games=8, hand_games=8, worlds=1, before=20)
    with pytest.raises(TrickformerError, match="--before 1 leaves no hands to learn from"):
        calibrating.command(settings.model_copy(update={"before": 1}), resume=False)
    calibrated = calibrating.command(settings, resume=False)
    assert [len(rows) for _, (_, rows) in calibrated.tables] == [8, 3]
    with np.load(settings.out / calibrating.EVALUATION) as made:
        S.Evaluation(made["weights"], made["calibration"])
        assert not np.array_equal(made["weights"][6:], learning.load_weights(config.out)[1][6:]), (
            "nothing before the skat"
        )
    with pytest.raises(TrickformerError, match=r"holds no weights\.npz"):
        calibrating.command(settings.model_copy(update={"learned": tmp_path}), resume=True)
    for broken in (b"no archive", b""):
        (config.out / "weights.npz").write_bytes(broken)
        with pytest.raises(TrickformerError, match=r"weights\.npz is broken"):
            calibrating.command(settings, resume=True)
    np.savez(config.out / "weights.npz", weights=np.zeros((2, 2), dtype=np.float32))
    with pytest.raises(TrickformerError, match=r"weights\.npz is broken"):
        calibrating.command(settings, resume=True)
    next(config.out.glob("third-hand-*.npz")).write_bytes(b"no archive")
    with pytest.raises(TrickformerError, match=r"third-hand-.* is broken"):
        learning.command(config, resume=True)
    with pytest.raises(TrickformerError, match="leaves none to learn from"):
        configs.validate(Learning, few | {"held_out": 0.001})


def test_calibration_finds_shift_and_scale():
    rng = np.random.default_rng(5)
    odds = rng.normal(0, 2, 40_000)
    won = (rng.random(40_000) < 1 / (1 + np.exp(-(0.7 + 0.6 * odds)))).astype(float)
    shift, scale = calibrating.fit_calibration(odds, won)
    assert (shift, scale) == (pytest.approx(0.7, abs=0.05), pytest.approx(0.6, abs=0.03))
    assert calibrating.cross_validate(odds, won) < calibrating.loss_of(odds, won) - 0.02
    assert calibrating.fit_calibration(odds[:0], won[:0]) == (pytest.approx(0), pytest.approx(1))


def test_games_for_the_calibration_are_those_asked_for(tmp_path):
    """A game of each contract: legal from the auction on, won as its cards say, kept, and the same again."""
    weights = learning.guess()
    config = Calibration(out=tmp_path, games=8, hand_games=9, worlds=1)
    for by_hand, contract in itertools.product((False, True), range(4)):
        odds, won = calibrating.results(config, weights, contract, by_hand)
        assert odds.shape == won.shape == (9 if by_hand else 8,)
        assert np.all(np.abs(odds) < 3.6)
        assert set(won) <= {0.0, 1.0}
        again = calibrating.results(config, weights, contract, by_hand)
        assert np.array_equal(odds, again[0])
        assert np.array_equal(won, again[1])
    assert len(list(tmp_path.glob("played-*.npz"))) == 8


def test_features_of_a_known_hand():
    """Clubs with the jacks of clubs and diamonds, A T 7 of trumps: every entry by hand."""
    ten = cards("C7 CT CA DJ CJ H8 HA SK SA D9")
    found = S.features(0, 3, ten, 14, 1)
    jacks, trumps = 0b1001, 0b1100001
    diamonds, hearts, spades = 0b100, 0b1000010, 0b1010000
    losers = 1 + 1 + 1  # nine; eight (the ace stands); king (the ace stands)
    assert found == [
        jacks * 8 + 3,
        128 + trumps,
        256 + diamonds,
        256 + hearts,
        256 + spades,
        384 + 14,
        408 + 1,
        412 + 5 * 16 + losers,
        604 + 5 * 4 + 2,
    ]
    null = S.features(0, NULL, cards("D7 D9 DJ DK H8 H9 S7 S8 CA C7"), 0, 2)
    # Danger: diamonds stand; hearts' 8 is one too high, as 9 is not; the ace of clubs is five above what is safe.
    assert null == [0b10010101, 0b110, 0b11, 0b1000001, 256 + 2, 259 + 2 * 16 + 1 + 5, *[learning.ENTRIES - 1] * 3]


def test_what_is_shipped_knows_good_hands_from_bad_ones():
    e = evaluation()
    good, bad = cards("CJ SJ HJ CA CT CK C9 SA ST H7"), cards("C7 C8 SQ S9 H7 H8 HQ D7 D8 DQ")
    assert e.chance(0, 3, good, 10, 0) > 0.9
    assert e.chance(0, 3, bad, 10, 0) < 0.1
    assert e.chance(0, NULL, cards("C7 C8 C9 S7 S8 S9 H7 H9 D7 D8"), 10, 0) > 0.8
    assert e.chance(0, NULL, cards("CA CK CT SA SK ST HA HK HT DA"), 10, 0) < 0.05
