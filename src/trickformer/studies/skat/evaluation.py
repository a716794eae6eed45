"""Learning of the evaluation of Skat hands that `kermit` bids by: `trickformer skat learn`.

The evaluation (cpp/skat/evaluation.hpp) estimates the chance that a hand wins a contract. It is Buro's generalized
linear model (GLEM, 1998): the log odds are a sum of weights, one entry of each of some tables. The entries that a hand
selects are its features. There are nine models, one for each stage of a hand and each family of contracts. L-BFGS fits
the weights with the greatest posterior probability under a Gaussian prior. The data are hands that the core draws and
solves with open cards (cpp/skat/samples.hpp).

An evaluation also draws the hands: the trump suit, the discards, and whether the hand is worth playing. In the first of
three rounds its weights are a rough guess, later those learned so far, and each round learns from all hands so far. The
rounds are needed because a model that chooses among 66 discards prefers those that it overrates. The prior of the
models of hand games has its mean at the models of games with the skat, which have more data. The solver's results are
not results of play, so trickformer.studies.skat.calibration follows; it also fits the models before the skat.

The run folder keeps the hands in pieces. A stopped run continues with the first missing piece.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.plumbing import arrays
from trickformer.plumbing import config as configs
from trickformer.plumbing.files import replace
from trickformer.plumbing.folder import CONFIG, RunFolder, resumable
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import REPORT, Report
from trickformer.studies.skat.config import Learning

# Stages of a hand, which differ in the known cards. The model of a stage and a family is row 3 * stage + family.
LAID = 0  # two cards are laid away
HAND = 1  # a hand game, without the skat
BEFORE = 2  # the skat may still be picked up
FAMILIES = ("suit", "grand", "null")
STAGES = ("laid", "hand", "before")  # in names of files
_STAGE_NAMES = ("skat laid away", "hand game", "before the skat")  # in reports
ENTRIES = _core.skat_search.ENTRIES  # number of table entries of a model
IDENTITY = np.tile(np.array([0, 1], dtype=np.float32), (8, 1))  # calibration that changes nothing: shift 0, scale 1
WEIGHTS = "weights.npz"  # file in the run folder; the weights are not calibrated
_PIECE = 2_500  # hands in a file of the run folder
HEAD = ("model", "held-out hands", "won", "log loss of a constant", "log loss", "calibration")
_KEY = (
    "won: share of the held-out hands that are won with open cards. Log losses are in nats a hand. calibration: "
    "predicted and true percentage won, by tenths of the prediction, and in brackets the number of hands."
)
BEFORE_KEY = (
    "won: mean chance to win the held-out hands after the skat is picked up, by the calibrated models of the later "
    "stages; the models before the skat learn this chance. Log losses are in nats a hand. calibration: chance by the "
    "model before the skat and that mean chance, by tenths of the first, and in brackets the number of hands."
)
_ROUNDS_KEY = " weights of the second round: the model after round 2, measured on the same held-out hands."


Row: TypeAlias = tuple[str, ...]  # cells of a table


def guess() -> np.ndarray:
    """Return rough weights, float32 [9, ENTRIES], which only draw the hands of the first round."""
    weights = np.zeros((9, ENTRIES), dtype=np.float32)
    # Indices of tables, as cpp/skat/evaluation.cpp lays them out; a loser is a card that may lose a trick.
    trumps, suit_losers = np.divmod(np.arange(12 * 16), 16)
    jacks, grand_losers = np.divmod(np.arange(5 * 16), 16)
    aces = np.arange(25) // 5
    danger = np.arange(48) % 16  # height of the cards above those that are safe in null
    for stage in (LAID, HAND):
        suit, grand = weights[3 * stage], weights[3 * stage + 1]
        null = weights[3 * stage + 2]
        suit[412 : 412 + 192] = 0.9 * (trumps - 6) - 0.4 * suit_losers  # kTrumpsLosers
        suit[604 : 604 + 48] = 0.8 * (np.arange(48) % 4)  # kTrumpsAces
        grand[200 : 200 + 80] = 1.2 + 1.0 * (jacks - 2) - 0.6 * grand_losers  # kJacksLosers
        grand[280 : 280 + 25] = 0.8 * (aces - 2)  # kAcesTens
        null[259 : 259 + 48] = 1.5 - 0.8 * danger  # kDanger
    return weights


def log_loss(weights: np.ndarray, entries: np.ndarray, target: np.ndarray) -> float:
    """Compute the mean negative log likelihood, in nats.

    Args:
        weights: float32 [ENTRIES].
        entries: Integers [n, F], table entries of the hands.
        target: Float [n], result or chance of winning, 0 to 1.
    """
    logit = weights[entries].sum(axis=1)
    return float(np.mean(np.logaddexp(0, logit) - target * logit))


def fit(entries: np.ndarray, target: np.ndarray, prior: float, prior_mean: np.ndarray | None = None) -> np.ndarray:
    """Fit the weights of greatest posterior probability, by L-BFGS (scipy).

    Args:
        entries: Integers [n, F], table entries of the hands.
        target: Float [n], result or chance of winning, 0 to 1.
        prior: Standard deviation of an entry's normal prior.
        prior_mean: float32 [ENTRIES], mean of the prior; by default 0.

    Returns:
        float32 [ENTRIES].
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    n, f = entries.shape
    used = (entries != ENTRIES - 1).ravel().astype(np.float64)  # the last entry fills the places of missing features
    # 0/1 matrix of hands and entries, in compressed rows.
    features = csr_array((used, entries.ravel().astype(np.int32), np.arange(0, n * f + 1, f)), shape=(n, ENTRIES))
    transposed = features.T.tocsr()
    center = np.zeros(ENTRIES) if prior_mean is None else prior_mean.astype(np.float64)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the negative log posterior and its gradient."""
        logit, prior_gradient = features @ w, (w - center) / prior**2
        p = 1 / (1 + np.exp(-logit))
        value = np.sum(np.logaddexp(0, logit) - target * logit) + 0.5 * np.sum(prior_gradient * (w - center))
        return float(value), transposed @ (p - target) + prior_gradient

    optimum = minimize(loss, center, jac=True, method="L-BFGS-B", options={"maxiter": 400, "ftol": 1e-9})
    weights = optimum.x.astype(np.float32)
    weights[-1] = 0
    return weights


def _draw_samples(
    out: Path, label: str, weights: np.ndarray, calibration: np.ndarray, stage: int, family: int, n: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the hands of one model, as entries and targets, from files of the folder `out` or from the core.

    The evaluation of these weights draws the hands. A file's name has a checksum of the evaluation and the seed,
    so that files of another run are not read.
    """
    evaluation = _core.skat_search.Evaluation(weights, calibration)
    checksum = zlib.crc32(weights.tobytes() + calibration.tobytes() + str(seed).encode())
    entries, targets = [], []
    pieces = [(first, min(_PIECE, n - first)) for first in range(0, n, _PIECE)]
    files = [out / f"{label}-{STAGES[stage]}-{FAMILIES[family]}-{checksum:08x}-{first}-{m}.npz" for first, m in pieces]
    done = sum(m for (_, m), file in zip(pieces, files) if file.exists())
    in_round = "" if stage == BEFORE else f", {label} round"
    with progress(f"{FAMILIES[family]}, {_STAGE_NAMES[stage]}{in_round}", "hands", done, n) as advance:
        for (first, m), file in zip(pieces, files):
            if not file.exists():
                new_entries, new_targets = _core.skat_search.samples(evaluation, stage, family, seed, first, m)
                arrays.save(file, entries=new_entries, target=new_targets)
                advance(m)
            piece = arrays.load(file, "entries", "target")
            entries.append(piece["entries"])
            targets.append(piece["target"])
    return np.concatenate(entries), np.concatenate(targets)


def _calibration_bins(p: np.ndarray, target: np.ndarray) -> Iterator[tuple[float, float, int]]:
    """Yield the mean prediction, the mean target and the number of hands for each tenth of the predicted chance.

    Empty tenths are left out.
    """
    tenth = np.minimum((p * 10).astype(int), 9)
    for k in range(10):
        is_in = tenth == k
        if is_in.any():
            yield float(p[is_in].mean()), float(target[is_in].mean()), int(is_in.sum())


def _report(name: str, weights: np.ndarray, entries: np.ndarray, target: np.ndarray) -> Row:
    """Return the losses and the calibration of one model on held-out hands, as a row of a table."""
    base = float(np.clip(target.mean(), 1e-6, 1 - 1e-6))
    constant = -(base * np.log(base) + (1 - base) * np.log(1 - base))  # loss of the mean target as the prediction
    p = 1 / (1 + np.exp(-weights[entries].sum(axis=1)))
    bins = ", ".join(f"{100 * a:.0f}% → {100 * b:.0f}% ({n})" for a, b, n in _calibration_bins(p, target))
    loss = log_loss(weights, entries, target)
    return name, f"{len(target):,}", f"{base:.3f}", f"{constant:.4f}", f"{loss:.4f}", bins


def learn(config: Learning) -> tuple[np.ndarray, list[Row]]:
    """Draw hands, fit the six models with the skat and by hand, and measure them.

    Args:
        config: Options of the learning.

    Returns:
        Weights float32 [9, ENTRIES] and the rows of a table. The models before the skat are not fitted yet.
    """
    weights = guess()
    rows: list[Row] = []
    data: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {family: [] for family in range(3)}
    rounds = (("first", config.first), ("second", config.second), ("third", config.third))
    for number, (label, n) in enumerate(rounds):
        old_weights = weights.copy()  # all families of a round draw by the same weights
        for family, name in enumerate(FAMILIES):
            entries, target = _draw_samples(
                config.out, label, old_weights, IDENTITY, LAID, family, n, config.seed + number
            )
            split = config.learned_of(n) if label == "third" else n  # hands from here on are held out
            data[family].append((entries[:split], target[:split]))
            all_entries, all_targets = zip(*data[family])
            fitted = fit(np.concatenate(all_entries), np.concatenate(all_targets), config.prior)
            if label == "third":
                model = f"{name}, {_STAGE_NAMES[LAID]}"
                held_out = {"entries": entries[split:], "target": target[split:]}
                rows.append(_report(f"{model}, weights of the second round", weights[family], **held_out))
                rows.append(_report(model, fitted, **held_out))
            weights[3 * HAND + family] = weights[family] = fitted
    old_weights = weights.copy()
    for family, name in enumerate(FAMILIES):
        entries, target = _draw_samples(
            config.out, "third", old_weights, IDENTITY, HAND, family, config.hand, config.seed + 3
        )
        split = config.learned_of(len(target))
        fitted = fit(entries[:split], target[:split], config.prior, prior_mean=weights[family])
        rows.append(_report(f"{name}, {_STAGE_NAMES[HAND]}", fitted, entries[split:], target[split:]))
        weights[3 * HAND + family] = fitted
    return weights, rows


def learn_before(config: Learning, out: Path, n: int, weights: np.ndarray, calibration: np.ndarray) -> list[Row]:
    """Fit the three models before the skat to the chances by the calibrated other models, and add them to `weights`.

    Args:
        config: Options of the learning.
        out: Folder that keeps the hands.
        n: Hands of each model.
        weights: float32 [9, ENTRIES]; the last three rows are changed.
        calibration: float32 [8, 2], shift and scale of each contract.

    Returns:
        Rows of a table.
    """
    old_weights = weights.copy()
    rows: list[Row] = []
    for family, name in enumerate(FAMILIES):
        entries, target = _draw_samples(out, "before", old_weights, calibration, BEFORE, family, n, config.seed + 4)
        split = config.learned_of(len(target))
        fitted = fit(entries[:split], target[:split], config.prior)
        rows.append(_report(f"{name}, {_STAGE_NAMES[BEFORE]}", fitted, entries[split:], target[split:]))
        weights[3 * BEFORE + family] = fitted
    return rows


def command(config: Learning, resume: bool) -> Report:
    """Learn with progress in the folder config.out.

    Args:
        config: Options of the learning.
        resume: Whether to continue the run in the folder.

    Returns:
        The report, which is also written as report.md.

    Raises:
        TrickformerError: If the input is bad; nothing is written then.
        Interruption: On Ctrl-C.
    """
    with resumable("skat learn", config), RunFolder(config.out).open(config, resume=resume, free=("out",)):
        weights, rows = learn(config)
        heading = f"Evaluation of hands of Skat, as learned from deals solved with open cards, seed {config.seed}"
        models = [dict(zip(HEAD, row)) for row in rows]
        keys = [_KEY + _ROUNDS_KEY]
        report = Report({"models": models}, heading, [("", (HEAD, rows))], keys=keys, title="Evaluation of Skat hands")
        arrays.save(config.out / WEIGHTS, weights=weights)
        replace(config.out / REPORT, report.markdown())
    return report


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
