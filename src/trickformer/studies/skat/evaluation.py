"""Learns the evaluation of Skat hands that `kermit` bids by: `trickformer skat learn`.

The model (cpp/skat/evaluation.hpp) adds up entries of tables, after Buro's GLEM (1998). Its weights are those of
greatest likelihood under a Gaussian prior, found by L-BFGS on hands that the core draws and solves with open cards
(cpp/skat/samples.hpp). A first round draws hands by a guess, a second and a third by what has been learned by then, and
all are learned from: a model that chooses among 66 ways to lay cards away finds those that it is wrong about, so it
must see what it chooses. The models of hand games lean on those of games with the skat, which see more. What the solver
says is no result of play: trickformer.studies.skat.calibration comes next, and fits the models before the skat.

What was drawn stands in pieces in the run folder: a run that was stopped goes on with the first piece that is
missing."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.plumbing import arrays
from trickformer.plumbing import config as configs
from trickformer.plumbing.files import replace
from trickformer.plumbing.folder import CONFIG, RunFolder, resumable
from trickformer.plumbing.progress import progress
from trickformer.studies.skat.config import Learning

LAID, HAND, BEFORE = range(3)  # what is known: two cards laid away; the skat untouched, played so; before the skat
FAMILIES = ("suit", "grand", "null")
KNOWN = ("laid", "hand", "before")
ENTRIES = _core.skat_search.ENTRIES
IDENTITY = np.tile(np.array([0, 1], dtype=np.float32), (8, 1))
WEIGHTS = "weights.npz"  # in the run folder, not calibrated
_PIECE = 2_500


def guess() -> np.ndarray:
    """Weights that only steer which hands are drawn first: float32 [9, ENTRIES]."""
    weights = np.zeros((9, ENTRIES), dtype=np.float32)
    trumps, losers = np.divmod(np.arange(12 * 16), 16)
    jacks, others = np.divmod(np.arange(5 * 16), 16)
    aces = np.arange(25) // 5
    danger = np.arange(48) % 16
    for known in (LAID, HAND):
        suit, grand, null = weights[3 * known : 3 * known + 3]
        suit[412 : 412 + 192] = 0.9 * (trumps - 6) - 0.4 * losers
        suit[604 : 604 + 48] = 0.8 * (np.arange(48) % 4)
        grand[200 : 200 + 80] = 1.2 + 1.0 * (jacks - 2) - 0.6 * others
        grand[280 : 280 + 25] = 0.8 * (aces - 2)
        null[259 : 259 + 48] = 1.5 - 0.8 * danger
    return weights


def log_loss(weights: np.ndarray, entries: np.ndarray, target: np.ndarray) -> float:
    """Mean negative log likelihood in nats: entries integers [n, F], target float [n] in 0..1."""
    logit = weights[entries].sum(axis=1)
    return float(np.mean(np.logaddexp(0, logit) - target * logit))


def fit(entries: np.ndarray, target: np.ndarray, prior: float, lean: np.ndarray | None = None) -> np.ndarray:
    """Weights float32 [ENTRIES] of greatest posterior probability: each entry is normal around 0, or around `lean`,
    with standard deviation `prior`. L-BFGS (scipy)."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    n, f = entries.shape
    used = (entries != ENTRIES - 1).ravel().astype(np.float64)  # the last entry stands for none
    rows = csr_array((used, entries.ravel().astype(np.int32), np.arange(0, n * f + 1, f)), shape=(n, ENTRIES))
    columns = rows.T.tocsr()
    center = np.zeros(ENTRIES) if lean is None else lean.astype(np.float64)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        logit, off = rows @ w, (w - center) / prior**2
        p = 1 / (1 + np.exp(-logit))
        value = np.sum(np.logaddexp(0, logit) - target * logit) + 0.5 * np.sum(off * (w - center))
        return float(value), columns @ (p - target) + off

    found = minimize(loss, center, jac=True, method="L-BFGS-B", options={"maxiter": 400, "ftol": 1e-9})
    weights = found.x.astype(np.float32)
    weights[-1] = 0
    return weights


def draw_samples(
    out: Path, label: str, weights: np.ndarray, calibration: np.ndarray, known: int, family: int, n: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Samples of one model, drawn by an evaluation, piece by piece from the folder `out` or from the core: (entries,
    target). A piece's name has a sum of what it was drawn by, so that pieces of another run are not taken for it."""
    evaluation = _core.skat_search.Evaluation(weights, calibration)
    drawn_by = zlib.crc32(weights.tobytes() + calibration.tobytes() + str(seed).encode())
    entries, targets = [], []
    pieces = [(first, min(_PIECE, n - first)) for first in range(0, n, _PIECE)]
    files = [out / f"{label}-{KNOWN[known]}-{FAMILIES[family]}-{drawn_by:08x}-{first}-{m}.npz" for first, m in pieces]
    done = sum(m for (_, m), file in zip(pieces, files) if file.exists())
    with progress(f"{label} {KNOWN[known]} {FAMILIES[family]}", "hands", done, n) as advance:
        for (first, m), file in zip(pieces, files):
            if not file.exists():
                e, t = _core.skat_search.samples(evaluation, known, family, seed, first, m)
                arrays.save(file, entries=e, target=t)
                advance(m)
            kept = arrays.load(file, "entries", "target")
            entries.append(kept["entries"])
            targets.append(kept["target"])
    return np.concatenate(entries), np.concatenate(targets)


def calibration_bins(p: np.ndarray, target: np.ndarray) -> Iterator[tuple[float, float, int]]:
    """Tenths of the predicted chance: (mean prediction, mean target, hands), those without hands left out."""
    tenth = np.minimum((p * 10).astype(int), 9)
    for k in range(10):
        at = tenth == k
        if at.any():
            yield float(p[at].mean()), float(target[at].mean()), int(at.sum())


def report(name: str, weights: np.ndarray, entries: np.ndarray, target: np.ndarray) -> list[str]:
    """Held-out figures of one model, as lines of Markdown."""
    base = float(np.clip(target.mean(), 1e-6, 1 - 1e-6))
    constant = -(base * np.log(base) + (1 - base) * np.log(1 - base))
    p = 1 / (1 + np.exp(-weights[entries].sum(axis=1)))
    bins = ", ".join(f"{100 * a:.0f} {100 * b:.0f} ({n})" for a, b, n in calibration_bins(p, target))
    loss = log_loss(weights, entries, target)
    return [f"| {name} | {len(target):,} | {base:.3f} | {constant:.4f} | {loss:.4f} | {bins} |"]


def learn(config: Learning) -> tuple[np.ndarray, list[str]]:
    """Draws, fits and measures all nine models. Returns weights float32 [9, ENTRIES] and the lines of a table."""
    weights, lines = guess(), []
    seen: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {family: [] for family in range(3)}
    rounds = (("first", config.first), ("second", config.second), ("third", config.third))
    for number, (label, n) in enumerate(rounds):
        steering = weights.copy()
        for family in range(3):
            entries, target = draw_samples(config.out, label, steering, IDENTITY, LAID, family, n, config.seed + number)
            kept = config.learned_of(n) if label == "third" else n
            seen[family].append((entries[:kept], target[:kept]))
            seen_entries, seen_targets = zip(*seen[family])
            found = fit(np.concatenate(seen_entries), np.concatenate(seen_targets), config.prior)
            if label == "third":
                lines += report(
                    f"{FAMILIES[family]}, {KNOWN[LAID]}, drawn", weights[family], entries[kept:], target[kept:]
                )
                lines += report(f"{FAMILIES[family]}, {KNOWN[LAID]}", found, entries[kept:], target[kept:])
            weights[3 * HAND + family] = weights[family] = found
    steering = weights.copy()
    for family in range(3):
        entries, target = draw_samples(
            config.out, "third", steering, IDENTITY, HAND, family, config.hand, config.seed + 3
        )
        kept = config.learned_of(len(target))
        found = fit(entries[:kept], target[:kept], config.prior, lean=weights[family])
        lines += report(f"{FAMILIES[family]}, {KNOWN[HAND]}", found, entries[kept:], target[kept:])
        weights[3 * HAND + family] = found
    return weights, lines


def learn_before(config: Learning, out: Path, n: int, weights: np.ndarray, calibration: np.ndarray) -> list[str]:
    """Fits the three models before the skat to the others, calibrated, by `n` hands each, which stand in the folder
    `out`; writes them into `weights`."""
    steering, lines = weights.copy(), []
    for family in range(3):
        entries, target = draw_samples(out, "before", steering, calibration, BEFORE, family, n, config.seed + 4)
        kept = config.learned_of(len(target))
        found = fit(entries[:kept], target[:kept], config.prior)
        lines += report(f"{FAMILIES[family]}, {KNOWN[BEFORE]}", found, entries[kept:], target[kept:])
        weights[3 * BEFORE + family] = found
    return lines


def command(config: Learning, resume: bool) -> list[str]:
    """Learns with progress in the folder config.out; returns the lines of its report.

    Raises TrickformerError on bad input, before anything is written, and Interruption on Ctrl-C."""
    with resumable("skat learn", config), RunFolder(config.out).open(config, resume=resume, free=("out",)):
        weights, lines = learn(config)
        arrays.save(config.out / WEIGHTS, weights=weights)
        replace(config.out / "report.md", "\n".join(lines) + "\n")
    return lines


def load_weights(run: Path) -> tuple[Learning, np.ndarray]:
    """Config and weights float32 [9, ENTRIES] of a run. Raises TrickformerError where they are not there."""
    file = run / WEIGHTS
    if not file.exists():
        raise TrickformerError(f"{run} holds no {WEIGHTS}; make it by `trickformer skat learn`")
    weights = arrays.load(file, "weights")["weights"]
    if weights.shape != (9, ENTRIES) or weights.dtype != np.float32:
        raise TrickformerError(f"{file} is broken")
    return configs.read(Learning, run / CONFIG, {"out": run}), weights
