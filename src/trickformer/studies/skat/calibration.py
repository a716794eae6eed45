"""Fits the evaluation's chances to results of play: `trickformer skat calibrate`.

Open cards say too much: a null that defenders must find out about is won far more often at the table than against
open cards. So hands of every kind of contract are dealt, declared and played out, the soloist's cards by PIMC, the
defenders' by PIMC in every other game and by `rules` in those between, and a shift and a scale of the log odds are
fitted to who won, for each kind of contract, with a Gaussian prior around no change. Then the models before the skat,
which stand on calibrated chances, are fitted. Games stand in the run folder in pieces, and a run that was
stopped goes on with the first that is missing."""

from __future__ import annotations

import zlib

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
from trickformer.search.skat.pimc import SkatSearch
from trickformer.studies.skat import evaluation
from trickformer.studies.skat.config import Calibration

CONTRACTS = ("suit", "grand", "null", "null ouvert")
EVALUATION = "skat_evaluation.npz"  # what kermit reads
_PIECE = 100
_LOW, _HIGH = 0.1, 0.97  # chances, as the solver has them, of hands that are played


def auction(soloist: int) -> list[int]:
    """The shortest auction that makes a seat the soloist at 18."""
    return {0: [PASS, PASS, CALL], 1: [CALL, PASS, PASS], 2: [PASS, CALL, PASS]}[soloist]


def hand_of(learned: _core.skat_search.Evaluation, contract: int, by_hand: bool, rng: np.random.Generator):
    """A deal that somebody might declare such a contract with: (deck, soloist, declaration, cards laid, log odds)."""
    while True:
        deck, soloist = rng.permutation(32), int(rng.integers(3))
        ten, skat = deck[10 * soloist : 10 * soloist + 10].tolist(), deck[30:].tolist()
        kinds = range(4) if contract == 0 else (3 + contract,)
        if by_hand:
            odds = {d: ((), learned.logit(evaluation.HAND, d, ten, 0, soloist)) for d in kinds}
        else:
            laying = _core.skat_search.best_laying(learned, ten + skat, soloist)
            odds = {d: laying[d] for d in kinds}
        declaration = max(odds, key=lambda d: odds[d][1])
        laid, logit = odds[declaration]
        if _LOW < 1 / (1 + np.exp(-logit)) < _HIGH:
            return deck, soloist, declaration, laid, logit


def play_game(
    config: Calibration, learned: _core.skat_search.Evaluation, contract: int, by_hand: bool, number: int
) -> tuple[float, bool]:
    """Game `number` of a contract: the log odds that the solver's model gives it, and whether it was won."""
    game = games.load("skat")
    rng = np.random.default_rng([config.seed, contract + 4 * by_hand, number])
    deck, soloist, declaration, laid, logit = hand_of(learned, contract, by_hand, rng)
    search = SkatSearch(game, SkatBelief(game), worlds=config.worlds, weighted=True, bidding="rules", passing=0)
    defenders = make_rules(RulesOptions(), game) if number % 2 else search
    state = game.spiel.new_initial_state()
    for card in deck.tolist():
        state.apply_action(card)
    said = [PLAY_HAND] if by_hand else [PICK_UP, *laid]
    said.append(DECLARE + declaration)
    if by_hand and declaration < NULL_OUVERT - 1:
        said.append(ANNOUNCE)
    for action in auction(soloist) + said:
        state.apply_action(action)
    decisions = 0
    while not state.is_terminal():
        seat = state.current_player()
        player = search if seat == soloist else defenders
        rng = decision_rng(config.seed, number, seat, decisions)
        state.apply_action(player.act([game.view(state, seat)], [rng], [{}])[0].action)
        decisions += 1
    return logit, state.result.won


def results(config: Calibration, weights: np.ndarray, contract: int, by_hand: bool) -> tuple[np.ndarray, np.ndarray]:
    """Log odds float64 [n] and results float64 [n] of a contract's games, from the run folder or played."""
    n = config.hand_games if by_hand else config.games
    name = CONTRACTS[contract].replace(" ", "-") + ("-hand" if by_hand else "")
    played_by = zlib.crc32(weights.tobytes() + f"{config.seed} {config.worlds}".encode())
    learned = _core.skat_search.Evaluation(weights, evaluation.IDENTITY)
    odds, won = [], []

    def one(number: int) -> tuple[float, bool]:
        found = play_game(config, learned, contract, by_hand, number)
        advance()
        return found

    with progress(f"play {name}", "games", 0, n) as advance:
        for first in range(0, n, _PIECE):
            m = min(_PIECE, n - first)
            file = config.out / f"played-{name}-{played_by:08x}-{first}-{m}.npz"
            if not file.exists():
                found = [one(first + i) for i in range(m)]
                arrays.save(file, odds=np.array([x for x, _ in found]), won=np.array([x for _, x in found]))
            else:
                advance(m)
            kept = arrays.load(file, "odds", "won")
            odds.append(kept["odds"])
            won.append(kept["won"].astype(np.float64))
    return np.concatenate(odds), np.concatenate(won)


def fit_calibration(odds: np.ndarray, won: np.ndarray) -> tuple[float, float]:
    """Shift and scale of log odds of greatest posterior probability, normal around 0 (deviation 2) and 1 (0.5)."""
    from scipy.optimize import minimize

    def loss(x: np.ndarray) -> float:
        logit = x[0] + x[1] * odds
        return float(np.sum(np.logaddexp(0, logit) - won * logit) + x[0] ** 2 / 8 + (x[1] - 1) ** 2 / 0.5)

    found = minimize(loss, np.array([0.0, 1.0]), method="L-BFGS-B", bounds=[(None, None), (0.05, None)])
    return float(found.x[0]), float(found.x[1])


def loss_of(odds: np.ndarray, won: np.ndarray) -> float:
    """Mean negative log likelihood in nats."""
    return float(np.mean(np.logaddexp(0, odds) - won * odds))


def cross_validate(odds: np.ndarray, won: np.ndarray) -> float:
    """Log loss of a calibration on games that it was not fitted to: four folds."""
    fold = np.arange(len(odds)) // 2 % 4
    losses = []
    for k in range(4):
        shift, scale = fit_calibration(odds[fold != k], won[fold != k])
        losses.append(loss_of(shift + scale * odds[fold == k], won[fold == k]))
    return float(np.mean(losses))


def command(config: Calibration, resume: bool) -> list[str]:
    """Plays and fits with progress in the folder config.out; returns the lines of its report.

    Raises TrickformerError on bad input, before anything is written, and Interruption on Ctrl-C."""
    settings, weights = evaluation.load_weights(config.learned)
    try:
        settings.learned_of(config.before)
    except ValueError as e:
        raise TrickformerError(f"before: {e}") from None
    with resumable("skat calibrate", config), RunFolder(config.out).open(config, resume=resume, free=("out",)):
        calibration, lines = _calibrate(config, weights)
        lines += evaluation.learn_before(settings, config.out, config.before, weights, calibration)
        arrays.save(config.out / EVALUATION, weights=weights, calibration=calibration)
        replace(config.out / "report.md", "\n".join(lines) + "\n")
    return lines


def _calibrate(config: Calibration, weights: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Shift and scale of every contract: float32 [8, 2]; and the lines of a table."""
    calibration, lines = evaluation.IDENTITY.copy(), []
    for by_hand in (False, True):
        for contract, name in enumerate(CONTRACTS):
            odds, won = results(config, weights, contract, by_hand)
            shift, scale = fit_calibration(odds, won)
            calibration[contract + 4 * by_hand] = shift, scale
            open_cards = float(np.mean(1 / (1 + np.exp(-odds))))
            lines.append(
                f"| {name}{', by hand' if by_hand else ''} | {len(odds):,} | {open_cards:.3f} | {won.mean():.3f} "
                f"| {shift:+.2f} | {scale:.2f} | {loss_of(odds, won):.4f} | {cross_validate(odds, won):.4f} |"
            )
    return calibration, lines
