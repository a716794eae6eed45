"""Calibration of the evaluation to results of play: `trickformer skat calibrate`.

The evaluation is learned from a solver with open cards, which overrates the defenders. A null game, for example, is won
far more often at the table. Therefore hands of every kind of contract are dealt, declared and played out. Perfect
information Monte Carlo (PIMC) plays the soloist's cards. The defenders are PIMC in every other game and the player
`rules` in the games between. For each kind of contract a shift and a scale of the log odds are fitted to the results,
with a Gaussian prior around the identity. Then the models before the skat are fitted to the calibrated chances. The run
folder keeps the games in pieces, and a stopped run continues with the first missing piece.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trickformer import _core, games
from trickformer.base import TrickformerError, decision_rng
from trickformer.belief.samplers.skat import SkatBelief
from trickformer.games.skat import ANNOUNCE, CALL, DECLARE, NULL_OUVERT, PASS, PICK_UP, PLAY_HAND
from trickformer.players.rules import Options as RulesOptions
from trickformer.players.rules import make as make_rules
from trickformer.plumbing import arrays
from trickformer.plumbing.files import replace
from trickformer.plumbing.folder import RunFolder, resumable
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import REPORT, Report
from trickformer.search.skat.pimc import SkatSearch
from trickformer.studies.skat import evaluation
from trickformer.studies.skat.config import Calibration

CONTRACTS = ("suit", "grand", "null", "null ouvert")
EVALUATION = "skat_evaluation.npz"  # file in the run folder, in the format that kermit reads
_PIECE = 100  # games in a file of the run folder
_HEAD = ("contract", "games", "won, predicted", "won, played", "shift", "scale", "log loss before", "log loss after")
_KEY = (
    "won, predicted: mean chance to win with open cards. won, played: share of games won. The calibrated log odds "
    "are shift + scale x predicted log odds. Log losses, in nats a game, are before and after that; after: by "
    "cross-validation, on games that shift and scale were not fitted to."
)
_LOW, _HIGH = 0.1, 0.97  # only hands whose chance of winning by the solver's model lies between these are played


class _DeclaredHand(NamedTuple):
    """A deal with a contract that somebody might declare."""

    deck: np.ndarray  # int64 [32]: cards in the order of dealing
    soloist: int  # seat
    declaration: int  # index in games.skat.DECLARATIONS
    discards: Sequence[int]  # cards laid away; none in a hand game
    logit: float  # log odds of winning, by the solver's model


def _auction(soloist: int) -> list[int]:
    """Return the shortest auction that makes a seat the soloist at 18."""
    return {0: [PASS, PASS, CALL], 1: [CALL, PASS, PASS], 2: [PASS, CALL, PASS]}[soloist]


def _draw_hand(
    model: _core.skat_search.Evaluation, contract: int, by_hand: bool, rng: np.random.Generator
) -> _DeclaredHand:
    """Draw deals until one has a hand whose chance in a kind of contract lies between _LOW and _HIGH."""
    while True:
        deck, soloist = rng.permutation(32), int(rng.integers(3))
        hand, skat = deck[10 * soloist : 10 * soloist + 10].tolist(), deck[30:].tolist()
        declarations = range(4) if contract == 0 else (3 + contract,)  # a suit game has four
        if by_hand:
            offers = {d: ((), model.logit(evaluation.HAND, d, hand, 0, soloist)) for d in declarations}
        else:
            best_discards = _core.skat_search.best_laying(model, hand + skat, soloist)
            offers = {d: best_discards[d] for d in declarations}
        declaration = max(offers, key=lambda d: offers[d][1])
        discards, logit = offers[declaration]
        if _LOW < 1 / (1 + np.exp(-logit)) < _HIGH:
            return _DeclaredHand(deck, soloist, declaration, discards, logit)


def _play_game(
    config: Calibration, model: _core.skat_search.Evaluation, contract: int, by_hand: bool, number: int
) -> tuple[float, bool]:
    """Play game `number` of a contract; return the log odds of the solver's model, and whether the soloist won."""
    game = games.load("skat")
    rng = np.random.default_rng([config.seed, contract + 4 * by_hand, number])
    hand = _draw_hand(model, contract, by_hand, rng)
    search = SkatSearch(game, SkatBelief(game), worlds=config.worlds, weighted=True, bidding="rules", passing=0)
    defenders = make_rules(RulesOptions(), game) if number % 2 else search
    state = game.spiel.new_initial_state()
    for card in hand.deck.tolist():
        state.apply_action(card)
    actions = _auction(hand.soloist) + ([PLAY_HAND] if by_hand else [PICK_UP, *hand.discards])
    actions.append(DECLARE + hand.declaration)
    if by_hand and hand.declaration < NULL_OUVERT - 1:  # not null: a hand game may announce levels, here none
        actions.append(ANNOUNCE)
    for action in actions:
        state.apply_action(action)
    decisions = 0
    while not state.is_terminal():
        seat = state.current_player()
        player = search if seat == hand.soloist else defenders
        rng = decision_rng(config.seed, number, seat, decisions)
        state.apply_action(player.act([game.view(state, seat)], [rng], [{}])[0].action)
        decisions += 1
    return hand.logit, state.result.won


def results(config: Calibration, weights: np.ndarray, contract: int, by_hand: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the games of a contract; play those that the run folder does not have.

    Args:
        config: Options of the calibration.
        weights: float32 [9, ENTRIES], weights of the evaluation.
        contract: Index in CONTRACTS.
        by_hand: Whether the soloist plays without the skat.

    Returns:
        Log odds and results, float64 [n] both; a result is 1 if the soloist won.
    """
    n = config.hand_games if by_hand else config.games
    name = CONTRACTS[contract].replace(" ", "-") + ("-hand" if by_hand else "")
    # File names have a checksum of everything that the games depend on, so that no files of another run are read.
    checksum = zlib.crc32(weights.tobytes() + f"{config.seed} {config.worlds}".encode())
    model = _core.skat_search.Evaluation(weights, evaluation.IDENTITY)
    odds, won = [], []

    def play(number: int) -> tuple[float, bool]:
        game_result = _play_game(config, model, contract, by_hand, number)
        advance()
        return game_result

    with progress(f"play {name}", "games", 0, n) as advance:
        for first in range(0, n, _PIECE):
            m = min(_PIECE, n - first)
            file = config.out / f"played-{name}-{checksum:08x}-{first}-{m}.npz"
            if not file.exists():
                played = [play(first + i) for i in range(m)]
                arrays.save(file, odds=np.array([x for x, _ in played]), won=np.array([x for _, x in played]))
            else:
                advance(m)
            piece = arrays.load(file, "odds", "won")
            odds.append(piece["odds"])
            won.append(piece["won"].astype(np.float64))
    return np.concatenate(odds), np.concatenate(won)


def fit_calibration(odds: np.ndarray, won: np.ndarray) -> tuple[float, float]:
    """Fit the shift and the scale of log odds with the greatest posterior probability.

    The priors are normal: the shift has mean 0 and standard deviation 2, the scale mean 1 and standard deviation 0.5.

    Args:
        odds: float64 [n], log odds.
        won: float64 [n], results, 0 or 1.

    Returns:
        Shift and scale.
    """
    from scipy.optimize import minimize

    def loss(x: np.ndarray) -> float:
        logit = x[0] + x[1] * odds
        # Negative log likelihood, and (x - mean)^2 / (2 deviation^2) for each prior.
        return float(np.sum(np.logaddexp(0, logit) - won * logit) + x[0] ** 2 / 8 + (x[1] - 1) ** 2 / 0.5)

    optimum = minimize(loss, np.array([0.0, 1.0]), method="L-BFGS-B", bounds=[(None, None), (0.05, None)])
    return float(optimum.x[0]), float(optimum.x[1])


def loss_of(odds: np.ndarray, won: np.ndarray) -> float:
    """Compute the mean negative log likelihood, in nats.

    Args:
        odds: float64 [n], log odds.
        won: float64 [n], results, 0 or 1.
    """
    return float(np.mean(np.logaddexp(0, odds) - won * odds))


def cross_validate(odds: np.ndarray, won: np.ndarray) -> float:
    """Compute the mean log loss of calibrations on games that they were not fitted to, by four-fold cross-validation.

    Args:
        odds: float64 [n], log odds.
        won: float64 [n], results, 0 or 1.

    Returns:
        Loss in nats.
    """
    fold = np.arange(len(odds)) // 2 % 4  # by pairs: two games in a row have different defenders
    losses = []
    for k in range(4):
        shift, scale = fit_calibration(odds[fold != k], won[fold != k])
        losses.append(loss_of(shift + scale * odds[fold == k], won[fold == k]))
    return float(np.mean(losses))


def command(config: Calibration, resume: bool) -> Report:
    """Play and fit with progress in the folder config.out.

    Args:
        config: Options of the calibration.
        resume: Whether to continue the run in the folder.

    Returns:
        The report, which is also written as report.md.

    Raises:
        TrickformerError: If the input is bad; nothing is written then.
        Interruption: On Ctrl-C.
    """
    settings, weights = evaluation.load_weights(config.learned)
    try:
        settings.learned_of(config.before)
    except ValueError:
        raise TrickformerError(
            f"--before {config.before} leaves no hands to learn from or none to measure on; give more"
        ) from None
    with resumable("skat calibrate", config), RunFolder(config.out).open(config, resume=resume, free=("out",)):
        calibration, rows = _calibrate(config, weights)
        models = evaluation.learn_before(settings, config.out, config.before, weights, calibration)
        tables = [("Contracts", (_HEAD, rows)), ("Models before the skat", (evaluation.HEAD, models))]
        report = Report(
            {title: [dict(zip(head, row)) for row in table_rows] for title, (head, table_rows) in tables},
            f"Evaluation of hands of Skat, calibrated to games that were played, seed {config.seed}",
            tables,
            keys=[_KEY, evaluation.BEFORE_KEY],
            title="Calibrated evaluation of Skat hands",
        )
        arrays.save(config.out / EVALUATION, weights=weights, calibration=calibration)
        replace(config.out / REPORT, report.markdown())
    return report


def _calibrate(config: Calibration, weights: np.ndarray) -> tuple[np.ndarray, list[evaluation.Row]]:
    """Fit the shift and the scale of every contract, float32 [8, 2]. Return them and the rows of the report."""
    calibration = evaluation.IDENTITY.copy()
    rows: list[evaluation.Row] = []
    for by_hand in (False, True):
        for contract, name in enumerate(CONTRACTS):
            odds, won = results(config, weights, contract, by_hand)
            shift, scale = fit_calibration(odds, won)
            calibration[contract + 4 * by_hand] = shift, scale
            open_cards = float(np.mean(1 / (1 + np.exp(-odds))))
            row = (
                f"{name}{', hand game' if by_hand else ''}",
                f"{len(odds):,}",
                f"{open_cards:.3f}",
                f"{won.mean():.3f}",
                f"{shift:+.2f}",
                f"{scale:.2f}",
                f"{loss_of(odds, won):.4f}",
                f"{cross_validate(odds, won):.4f}",
            )
            rows.append(row)
    return calibration, rows
