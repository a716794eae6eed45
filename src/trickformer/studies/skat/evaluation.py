"""Learning of the evaluation of Skat hands that `kermit` bids by: `trickformer skat learn`.

The model (cpp/skat/evaluation.hpp) adds up entries of tables, after Buro's GLEM (1998). Its weights have the greatest
likelihood under a Gaussian prior. L-BFGS fits them to hands that the core draws and solves with open cards
(cpp/skat/samples.hpp).

The first round draws hands by a guess, the second and third by the weights learned so far, and all rounds are learned
from. A model that chooses among 66 ways to lay away cards prefers those it overrates, so it must train on its own
choices. The prior of the models of hand games is centred on the models of games with the skat, which have more data.
The solver's results are not results of play, so trickformer.studies.skat.calibration follows; it also fits the models
before the skat.

The run folder keeps the hands in pieces. A stopped run continues with the first missing piece.
"""

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

# Stages of a hand, which differ in the known cards.
LAID = 0  # two cards are laid away
HAND = 1  # a hand game, without the skat
BEFORE = 2  # the skat may still be picked up
FAMILIES = ("suit", "grand", "null")
KNOWN = ("laid", "hand", "before")
_STAGES = ("skat laid away", "hand game", "before the skat")  # the same in reports
ENTRIES = _core.skat_search.ENTRIES
IDENTITY = np.tile(np.array([0, 1], dtype=np.float32), (8, 1))
WEIGHTS = "weights.npz"  # file of a run, not calibrated
_PIECE = 2_500  # hands in a file of the run folder
HEAD = (
    "| model | held-out hands | won | log loss of a constant | log loss | calibration |",
    "|---|---|---|---|---|---|",
)
KEY = (
    "",
    "won: mean of the results that the model learns, in hands that it was not trained on. Log losses are in nats a "
    "hand. calibration: predicted and true percentage won, by tenths of the prediction, and in brackets the number "
    "of hands.",
)


def guess() -> np.ndarray:
    """Return float32 [9, ENTRIES], rough weights that only steer the first round's draws."""
    weights = np.zeros((9, ENTRIES), dtype=np.float32)
    trumps, losers = np.divmod(np.arange(12 * 16), 16)
    jacks, others = np.divmod(np.arange(5 * 16), 16)
    aces = np.arange(25) // 5
    danger = np.arange(48) % 16
    for known in (LAID, HAND):
        suit, grand = weights[3 * known], weights[3 * known + 1]
        null = weights[3 * known + 2]
        suit[412 : 412 + 192] = 0.9 * (trumps - 6) - 0.4 * losers
        suit[604 : 604 + 48] = 0.8 * (np.arange(48) % 4)
        grand[200 : 200 + 80] = 1.2 + 1.0 * (jacks - 2) - 0.6 * others
        grand[280 : 280 + 25] = 0.8 * (aces - 2)
        null[259 : 259 + 48] = 1.5 - 0.8 * danger
    return weights


def log_loss(weights: np.ndarray, entries: np.ndarray, target: np.ndarray) -> float:
    """Compute the mean negative log likelihood, in nats.

    Args:
        weights: float32 [ENTRIES].
        entries: Integers [n, F], table entries of the hands.
        target: Float [n], 0 to 1.
    """
    logit = weights[entries].sum(axis=1)
    return float(np.mean(np.logaddexp(0, logit) - target * logit))


def fit(entries: np.ndarray, target: np.ndarray, prior: float, lean: np.ndarray | None = None) -> np.ndarray:
    """Fit the weights of greatest posterior probability, by L-BFGS (scipy).

    Args:
        entries: Integers [n, F], table entries of the hands.
        target: Float [n], 0 to 1.
        prior: Standard deviation of an entry's normal prior.
        lean: float32 [ENTRIES], mean of the prior; by default 0.

    Returns:
        float32 [ENTRIES].
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    n, f = entries.shape
    used = (entries != ENTRIES - 1).ravel().astype(np.float64)  # the last entry means that a hand has none
    rows = csr_array((used, entries.ravel().astype(np.int32), np.arange(0, n * f + 1, f)), shape=(n, ENTRIES))
    columns = rows.T.tocsr()
    center = np.zeros(ENTRIES) if lean is None else lean.astype(np.float64)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        logit, off = rows @ w, (w - center) / prior**2
        p = 1 / (1 + np.exp(-logit))
        value = np.sum(np.logaddexp(0, logit) - target * logit) + 0.5 * np.sum(off * (w - center))
        return float(value), columns @ (p - target) + off

    optimum = minimize(loss, center, jac=True, method="L-BFGS-B", options={"maxiter": 400, "ftol": 1e-9})
    weights = optimum.x.astype(np.float32)
    weights[-1] = 0
    return weights


def _draw_samples(
    out: Path, label: str, weights: np.ndarray, calibration: np.ndarray, known: int, family: int, n: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return samples of one model, from files of the folder `out` or from the core: entries and targets.

    A file's name has a checksum of the evaluation and the seed, so that files of another run are not read.
    """
    evaluation = _core.skat_search.Evaluation(weights, calibration)
    drawn_by = zlib.crc32(weights.tobytes() + calibration.tobytes() + str(seed).encode())
    entries, targets = [], []
    pieces = [(first, min(_PIECE, n - first)) for first in range(0, n, _PIECE)]
    files = [out / f"{label}-{KNOWN[known]}-{FAMILIES[family]}-{drawn_by:08x}-{first}-{m}.npz" for first, m in pieces]
    done = sum(m for (_, m), file in zip(pieces, files) if file.exists())
    in_round = "" if known == BEFORE else f", {label} round"
    with progress(f"{FAMILIES[family]}, {_STAGES[known]}{in_round}", "hands", done, n) as advance:
        for (first, m), file in zip(pieces, files):
            if not file.exists():
                e, t = _core.skat_search.samples(evaluation, known, family, seed, first, m)
                arrays.save(file, entries=e, target=t)
                advance(m)
            kept = arrays.load(file, "entries", "target")
            entries.append(kept["entries"])
            targets.append(kept["target"])
    return np.concatenate(entries), np.concatenate(targets)


def _calibration_bins(p: np.ndarray, target: np.ndarray) -> Iterator[tuple[float, float, int]]:
    """Yield by tenths of the predicted chance: mean prediction, mean target, hands. Empty tenths are left out."""
    tenth = np.minimum((p * 10).astype(int), 9)
    for k in range(10):
        at = tenth == k
        if at.any():
            yield float(p[at].mean()), float(target[at].mean()), int(at.sum())


def _report(name: str, weights: np.ndarray, entries: np.ndarray, target: np.ndarray) -> list[str]:
    """Return the held-out figures of one model, as lines of a Markdown table."""
    base = float(np.clip(target.mean(), 1e-6, 1 - 1e-6))
    constant = -(base * np.log(base) + (1 - base) * np.log(1 - base))
    p = 1 / (1 + np.exp(-weights[entries].sum(axis=1)))
    bins = ", ".join(f"{100 * a:.0f} {100 * b:.0f} ({n})" for a, b, n in _calibration_bins(p, target))
    loss = log_loss(weights, entries, target)
    return [f"| {name} | {len(target):,} | {base:.3f} | {constant:.4f} | {loss:.4f} | {bins} |"]


def learn(config: Learning) -> tuple[np.ndarray, list[str]]:
    """Draw hands, fit the six models with the skat and by hand, and measure them.

    Args:
        config: Options of the learning.

    Returns:
        Weights float32 [9, ENTRIES] and the lines of a table. The models before the skat are not fitted yet.
    """
    weights, lines = guess(), []
    seen: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {family: [] for family in range(3)}
    rounds = (("first", config.first), ("second", config.second), ("third", config.third))
    for number, (label, n) in enumerate(rounds):
        steering = weights.copy()
        for family in range(3):
            entries, target = _draw_samples(
                config.out, label, steering, IDENTITY, LAID, family, n, config.seed + number
            )
            kept = config.learned_of(n) if label == "third" else n
            seen[family].append((entries[:kept], target[:kept]))
            seen_entries, seen_targets = zip(*seen[family])
            fitted = fit(np.concatenate(seen_entries), np.concatenate(seen_targets), config.prior)
            if label == "third":
                lines += _report(
                    f"{FAMILIES[family]}, {_STAGES[LAID]}, weights of the second round",
                    weights[family],
                    entries[kept:],
                    target[kept:],
                )
                lines += _report(f"{FAMILIES[family]}, {_STAGES[LAID]}", fitted, entries[kept:], target[kept:])
            weights[3 * HAND + family] = weights[family] = fitted
    steering = weights.copy()
    for family in range(3):
        entries, target = _draw_samples(
            config.out, "third", steering, IDENTITY, HAND, family, config.hand, config.seed + 3
        )
        kept = config.learned_of(len(target))
        fitted = fit(entries[:kept], target[:kept], config.prior, lean=weights[family])
        lines += _report(f"{FAMILIES[family]}, {_STAGES[HAND]}", fitted, entries[kept:], target[kept:])
        weights[3 * HAND + family] = fitted
    return weights, lines


def learn_before(config: Learning, out: Path, n: int, weights: np.ndarray, calibration: np.ndarray) -> list[str]:
    """Fit the three models before the skat to the calibrated others, and write them into `weights`.

    Args:
        config: Options of the learning.
        out: Folder that keeps the hands.
        n: Hands of each model.
        weights: float32 [9, ENTRIES]; the last three rows are changed.
        calibration: float32 [8, 2], shift and scale of each contract.

    Returns:
        Lines of a table.
    """
    steering, lines = weights.copy(), []
    for family in range(3):
        entries, target = _draw_samples(out, "before", steering, calibration, BEFORE, family, n, config.seed + 4)
        kept = config.learned_of(len(target))
        fitted = fit(entries[:kept], target[:kept], config.prior)
        lines += _report(f"{FAMILIES[family]}, {_STAGES[BEFORE]}", fitted, entries[kept:], target[kept:])
        weights[3 * BEFORE + family] = fitted
    return lines


def command(config: Learning, resume: bool) -> list[str]:
    """Learn with progress in the folder config.out.

    Args:
        config: Options of the learning.
        resume: Whether to continue the run in the folder.

    Returns:
        Lines of the report.

    Raises:
        TrickformerError: If the input is bad; nothing is written then.
        Interruption: On Ctrl-C.
    """
    with resumable("skat learn", config), RunFolder(config.out).open(config, resume=resume, free=("out",)):
        weights, rows = learn(config)
        lines = [*HEAD, *rows, *KEY]
        arrays.save(config.out / WEIGHTS, weights=weights)
        replace(config.out / "report.md", "\n".join(lines) + "\n")
    return lines


def load_weights(run: Path) -> tuple[Learning, np.ndarray]:
    """Load the config and the weights, float32 [9, ENTRIES], of a run.

    Args:
        run: Folder of the run.

    Raises:
        TrickformerError: If the folder has no weights, or they are broken.
    """
    file = run / WEIGHTS
    if not file.exists():
        raise TrickformerError(f"{run} holds no {WEIGHTS}; run `trickformer skat learn` first")
    weights = arrays.load(file, "weights")["weights"]
    if weights.shape != (9, ENTRIES) or weights.dtype != np.float32:
        raise TrickformerError(f"{file} is broken; run `trickformer skat learn` again")
    return configs.read(Learning, run / CONFIG, {"out": run}), weights
