"""Skat by the rules of the International Skat Players' Association (ISkO), three at the table, forehand in seat 0.

OpenSpiel's own `skat` has no real auction, hand games, announcements, overbidding or scores; this is a game of its
own, `trickformer_skat`, on the rules of the core (cpp/skat/rules.hpp)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyspiel

from trickformer import _core, openspiel
from trickformer.base import (
    CHANCE,
    PUBLIC,
    Event,
    Game,
    Outcomes,
    SearchSettings,
    Summary,
    TrickformerError,
    View,
    action_event,
    deal_seed,
)

if TYPE_CHECKING:
    from trickformer.base import State

NUM_CARDS, PLAYERS, HAND, TRICKS, PLAYS = 32, 3, 10, 10, 30
SUITS, RANKS = "DHSC", "789QKTAJ"
CARDS = tuple(suit + rank for suit in SUITS for rank in RANKS)  # card = suit * 8 + rank
PLAYING = 5  # phase of the core: cards are played
PHASES = ("auction", "pick-up", "discard", "declare", "announce", "play", "over")  # by the core's number
POINTS = {"7": 0, "8": 0, "9": 0, "Q": 3, "K": 4, "T": 10, "A": 11, "J": 2}  # card points by rank
CALLS: tuple[int, ...] = tuple(_core.skat.CALLS)
DECLARATIONS = ("diamonds", "hearts", "spades", "clubs", "grand", "null", "null-ouvert")
CONTRACTS = (*DECLARATIONS[:6], "hand")  # by kind; a hand game counts among both
LEVELS = ("plain", "schneider", "schwarz", "ouvert")  # announced in a hand game; each includes those before it
GRAND, NULL, NULL_OUVERT = 4, 5, 6
OUVERT = 3

# Actions: the cards, then what is said.
CALL = NUM_CARDS
PASS = CALL + len(CALLS)
HOLD, PICK_UP, PLAY_HAND = PASS + 1, PASS + 2, PASS + 3
DECLARE = PASS + 4
ANNOUNCE = DECLARE + len(DECLARATIONS)
NUM_ACTIONS = ANNOUNCE + len(LEVELS)
ACTIONS = (*CARDS, *map(str, CALLS), "pass", "hold", "pick-up", "hand", *DECLARATIONS, *LEVELS)

BASES = (9, 10, 11, 12, 24)
NULL_VALUES = (23, 35, 46, 59)  # null, hand, ouvert, ouvert hand
MOST_MATADORS = (11, 11, 11, 11, 4)
SCORES = ("seeger", "value")

# Section 6.2 of the GO-MCTS paper: random and scripted players to begin with, twenty iterations, a pool of at most ten.
_USUAL: dict[str, Any] = {"bucket": 32}
_LITTLE = _USUAL | {"seats_kept": 3, "noise": 0.1, "label_playouts": 2}
# Solving worlds takes longer than learning from them: each is learned from six times.
_WORLDS = {"label_worlds": True, "label_share": 0.33, "label_playouts": 8, "window": 6}
TRAINING = {
    "paper": _USUAL | {"bootstrap": ["random", "rules"], "pool": 10, "iterations": 20},
    "paper-small": _USUAL | {"bootstrap": ["random", "rules"], "pool": 10, "iterations": 20, "sequences": 30_000},
    "small": _LITTLE | _WORLDS | {"noise": 0.05, "bootstrap_hands": 20_000, "sequences": 45_000, "match_deals": 100},
    "tiny": _LITTLE,
}

_PARAMETERS = {"scores": "seeger"}
_TYPE = openspiel.game_type("trickformer_skat", "Skat (ISkO)", PLAYERS, _PARAMETERS)


class SkatGame(pyspiel.Game):
    """`trickformer_skat`. Its parameter `scores` is `seeger` (tournament points: extended Seeger-Fabian, three at
    the table) or `value` (that of the game, to the soloist)."""

    def __init__(self, params: dict[str, Any] | None = None):
        parameters = _PARAMETERS | (params or {})
        if parameters["scores"] not in SCORES:
            raise ValueError(f"scores of trickformer_skat is one of {', '.join(SCORES)}, not {parameters['scores']!r}")
        self.seeger = parameters["scores"] == "seeger"
        wins, losses = _values()
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=NUM_CARDS,
            num_players=PLAYERS,
            min_utility=float(min(losses) - 50 * self.seeger),
            max_utility=float(max(wins) + 50 * self.seeger),
            max_game_length=_core.skat.MAX_ACTIONS,
        )
        super().__init__(_TYPE, info, parameters)

    def new_initial_state(self) -> SkatState:
        return SkatState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> openspiel.Observer:
        """An observer that has strings only."""
        return openspiel.Observer(_text, iig_obs_type, params)


class Contract(NamedTuple):
    """What a soloist plays."""

    game: str  # diamonds, hearts, spades, clubs, grand or null
    hand: bool  # played without picking up the skat
    level: str  # what was announced, of LEVELS; each includes those before it. A null is plain or ouvert


class SkatState(openspiel.CardState):
    """A game of Skat; the rules are the core's. Chance deals ten cards each to seats 0, 1, 2, then the skat.

    Cards are numbers, `CARDS[card]` names them: suit * 8 + rank. Its properties are for bots and their authors
    (docs/add-a-player.md); they tell all that is so, hidden cards included."""

    def __init__(self, game: SkatGame):
        super().__init__(game)
        self.seeger = game.seeger

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The cards not yet dealt, each as likely as the others."""
        left = sorted(set(range(NUM_CARDS)) - set(self.deck))
        return [(card, 1 / len(left)) for card in left]

    def _apply_action(self, action: int) -> None:
        if self.core is not None:
            self.core.apply_action(action)
            return
        self.deck.append(action)
        if len(self.deck) == NUM_CARDS:
            self.core = _core.skat.State(np.array(self.deck, dtype=np.uint8))

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {CARDS[action]}" if player == pyspiel.PlayerId.CHANCE else ACTIONS[action]

    def returns(self) -> list[float]:
        """Scores by seat; zero before the end."""
        if not self.is_terminal():
            return [0.0] * PLAYERS
        return [float(x) for x in self.result.scores(self.seeger)]

    @property
    def phase(self) -> str:
        """What is to be done: "deal", "auction", "pick-up" (or play hand), "discard", "declare", "announce" (in a hand
        game), "play"; "over" at the end."""
        return "deal" if self.core is None else PHASES[self.core.phase]

    def hand(self, seat: int) -> list[int]:
        """The cards that a seat holds now, ascending; those dealt so far while cards are dealt. Raises ValueError for a
        seat that is none."""
        if not 0 <= seat < PLAYERS:
            raise ValueError(f"seats of Skat are 0, 1 and 2, not {seat}")
        return sorted(self.deck[HAND * seat : HAND * (seat + 1)]) if self.core is None else self.core.hand(seat)

    @property
    def skat(self) -> list[int]:
        """The cards that lie in the skat now, ascending: two as they were dealt or laid away, fewer in between."""
        return sorted(self.deck[PLAYERS * HAND :]) if self.core is None else self.core.skat

    @property
    def auction(self) -> list[tuple[int, int]]:
        """What was said in the auction, in order: seat and action, which is CALL + i for `CALLS[i]`, HOLD or PASS."""
        said = [(step.player, step.action) for step in self.full_history()[NUM_CARDS:]]
        return list(takewhile(lambda step: CALL <= step[1] <= HOLD, said))

    @property
    def bid(self) -> int:
        """The highest call so far, from 18 to 264; 0 where nobody has called."""
        return 0 if self.core is None else self.core.bid

    @property
    def soloist(self) -> int | None:
        """The seat that plays against the others; None as long as it is not settled, and where all passed."""
        return None if self.core is None or self.core.soloist < 0 else self.core.soloist

    @property
    def contract(self) -> Contract | None:
        """What the soloist has declared; None before it has. While it has something to announce, the level is plain."""
        if self.soloist is None or self.phase in ("pick-up", "discard", "declare"):
            return None
        return Contract(DECLARATIONS[self.core.kind], self.core.is_hand, LEVELS[self.core.level])

    @property
    def plays(self) -> list[tuple[int, int]]:
        """The cards played, in order: seat and card."""
        steps = [(step.player, step.action) for step in self.full_history()[NUM_CARDS:]]
        declared = max((i + 1 for i, (_, action) in enumerate(steps) if action >= DECLARE), default=len(steps))
        return steps[declared:]

    @property
    def trick(self) -> list[tuple[int, int]]:
        """The cards of the trick under way, seat and card, the leader's first; empty where it is to be led."""
        plays = self.plays
        return plays[len(plays) - len(plays) % PLAYERS :]

    @property
    def leader(self) -> int | None:
        """The seat that leads the trick under way, or the next one; None before cards are played."""
        return self.core.leader if self.phase in ("play", "over") and self.soloist is not None else None

    @property
    def soloists_tricks(self) -> int:
        """How many tricks the soloist has taken."""
        return 0 if self.core is None else self.core.soloists_tricks

    @property
    def soloists_points(self) -> int:
        """The card points in the soloist's tricks, without those in the skat."""
        return 0 if self.core is None else self.core.soloists_points

    @property
    def result(self) -> _core.skat.Result:
        """How the game ended. Raises ValueError before the end."""
        if self.core is None:
            raise ValueError("a game has a result only at its end")
        return self.core.result()

    def __str__(self) -> str:
        if self.core is None:
            return "dealing " + " ".join(CARDS[card] for card in self.deck)
        core, history = self.core, self.full_history()[NUM_CARDS:]
        lines = [" ".join([f"seat {p} holds", *(CARDS[c] for c in core.hand(p))]) for p in range(PLAYERS)]
        lines.append(" ".join(["skat", *(CARDS[c] for c in core.skat)]))
        plays = self.plays
        said = history[: len(history) - len(plays)]
        lines.append(" ".join(["said", *(f"{step.player}:{ACTIONS[step.action]}" for step in said)]))
        if core.soloist >= 0:
            lines.append(f"soloist seat {core.soloist}, bid {core.bid}")
        points = [sum(POINTS[CARDS[c][1]] for _, c in plays[i : i + PLAYERS]) for i in range(0, len(plays), PLAYERS)]
        named = [(seat, CARDS[card]) for seat, card in plays]
        lines += openspiel.trick_lines(named, PLAYERS, core.leader, [f"{p} points" for p in points])
        if plays:
            skat = sum(POINTS[CARDS[c][1]] for c in core.skat)
            lines.append(f"soloist {core.soloists_tricks} tricks, {core.soloists_points + skat} points with the skat")
        if self.is_terminal():
            result = self.result
            if result.soloist >= 0:
                over = ", overbid" if result.overbid else ""
                lines.append(
                    f"{'won' if result.won else 'lost'}, value {result.value}, matadors {result.matadors}{over}"
                )
            lines.append(openspiel.score_line(result.scores(self.seeger)))
        return "\n".join(lines)


def _text(state: Any, viewer: int) -> str:
    if state.core is None:
        return f"dealing {len(state.deck)}"
    view = _view(state, viewer)
    words = []
    for event in view.events:
        who = "" if event.actor == CHANCE else f"{event.actor}:"
        what = [ACTIONS[event.action]] if event.action is not None else [CARDS[c] for c in event.seen]
        words.append(who + " ".join(what))
    return f"{view.viewer} | " + " | ".join(words)


pyspiel.register_game(_TYPE, SkatGame)


class Skat(Game):
    """The game `trickformer_skat`. Scores are tournament points a deal, or the plain value; higher is better."""

    name = "skat"
    players = PLAYERS
    higher_is_better = True
    worth = 100.0, "points, own less the others' mean"
    by_seats = True  # Table 3 of the GO-MCTS paper gives means over seats
    baseline = "rules"
    labels_are_results = False  # a solver has part in them
    # Section 9.3, but for the threshold, 0.05 there: simulations are too few for many actions (docs/results/skat.md).
    # In worlds that a script plays on there are many, and results, which lie a hundred points apart, want them.
    search = SearchSettings(runs=100, steps=5, c=0.3, threshold=0.3)
    training = TRAINING

    def __init__(self, spiel: pyspiel.Game):
        self.spiel = spiel
        self.seeger = spiel.get_parameters()["scores"] == "seeger"
        self.outcomes = _outcomes(self.seeger)

    def view(self, state: State, viewer: int) -> View:
        """What `viewer` knows of a state at or past its first decision.

        Discards are no event to others. A hand that is played ouvert is seen before the first lead."""
        return _view(state, viewer)

    def chance(self, state: State, seed: int, index: int) -> int:
        """The next card of a shuffled deck."""
        return self.chance_actions(seed, index)[state.move_number()]

    def chance_actions(self, seed: int, index: int) -> tuple[int, ...]:
        """All that chance does in a deal: the deck."""
        return _shuffle(deal_seed(seed, index))

    def trick(self, state: State) -> int | None:
        """None before cards are played."""
        game: Any = state
        return len(game.plays) // PLAYERS + 1 if game.phase == "play" else None

    def summary(self, histories: Sequence[Sequence[int]], seats: Sequence[Sequence[int]]) -> Summary:
        """What a player did, beyond its score, in games given as histories, in which it held `seats`.

        Points are this game's; 36 games are a tournament's round. Shares are of the games at its seats; a contract's
        share is of its games as soloist, and so is what it won. None where there is no such game."""
        games = points = soloist = won = passed = 0
        contracts = {name: [0, 0] for name in CONTRACTS}  # played, won
        for history, own in zip(histories, seats):
            state = _core.skat.State(np.array(history[:NUM_CARDS], dtype=np.uint8))
            for action in history[NUM_CARDS:]:
                state.apply_action(action)
            result = state.result()
            games += len(own)
            points += sum(result.scores(self.seeger)[p] for p in own)
            passed += len(own) if result.soloist < 0 else 0
            if result.soloist not in own:
                continue
            soloist, won = soloist + 1, won + result.won
            for name in (CONTRACTS[state.kind], "hand" if state.is_hand else ""):
                if name:
                    contracts[name][0] += 1
                    contracts[name][1] += result.won
        found: Summary = {
            "points in 36 games": 36 * points / games,
            "all passed": passed / games,
            "soloist": soloist / games,
            "won as soloist": won / soloist if soloist else None,
        }
        for name, (played, made) in contracts.items():
            found[name] = played / soloist if soloist else None
            found[f"{name} won"] = made / played if played else None
        return found


def _view(state: Any, viewer: int) -> View:
    history = state.full_history()
    if len(history) < NUM_CARDS:
        raise ValueError("a view begins when all cards are dealt")
    deck = [step.action for step in history[:NUM_CARDS]]
    events: list[Event] = []
    if viewer != PUBLIC:
        events.append(Event(CHANCE, None, tuple(sorted(deck[HAND * viewer : HAND * (viewer + 1)]))))
    kept: set[int] = set()  # the cards of who picked up
    discards = 0  # still to be laid away
    for step in history[NUM_CARDS:]:
        seat, action = step.player, step.action
        if discards:
            discards -= 1
            kept.remove(action)
            if seat == viewer:
                events.append(action_event(seat, action))
            continue
        events.append(action_event(seat, action))
        if action == PICK_UP:
            skat = deck[PLAYERS * HAND :]
            kept = {*deck[HAND * seat : HAND * (seat + 1)], *skat}
            discards = len(skat)
            if seat == viewer:
                events.append(Event(CHANCE, None, tuple(sorted(skat))))
        elif action in (DECLARE + NULL_OUVERT, ANNOUNCE + OUVERT) and seat != viewer:
            events.append(Event(seat, None, tuple(sorted(kept or deck[HAND * seat : HAND * (seat + 1)]))))
    on_turn = viewer != PUBLIC and state.current_player() == viewer
    return View(viewer, tuple(events), tuple(state.legal_actions()) if on_turn else ())


def deal_order(holders: np.ndarray) -> list[int]:
    """The 32 cards as chance deals them, ascending within a hand; integers [32]: the seat of each card, 3 the skat."""
    return np.argsort(holders, kind="stable").tolist()


@lru_cache(maxsize=1024)
def _shuffle(seed: int) -> tuple[int, ...]:
    return tuple(np.random.default_rng(seed).permutation(NUM_CARDS).tolist())


def _values() -> tuple[set[int], set[int]]:
    """What a soloist can win, and lose (negative): base times any number of levels, a null's value; or, overbid,
    the least multiple of the base that covers the bid.

    Every number of levels from one matador to all with hand, schneider, schwarz and ouvert is reached both ways: a
    soloist with all matadors but one in the skat can still lose an announced schwarz."""
    wins: set[int] = set(NULL_VALUES)
    losses = {-2 * value for value in NULL_VALUES}
    for base, matadors in zip(BASES, MOST_MATADORS):
        plain = {base * levels for levels in range(2, matadors + 8)}
        wins |= plain
        losses |= {-2 * value for value in plain} | {-2 * (-(-bid // base) * base) for bid in CALLS if bid > base}
    return wins, losses


@lru_cache(maxsize=2)
def _outcomes(seeger: bool) -> Outcomes:
    """Every result of a game, from any seat: who was soloist and what it brought, or nobody.

    The paper's Table 5 counts 397; how this count differs is said in docs/skat.md."""
    wins, losses = _values()
    labels: set[tuple[int, ...]] = {(0, 0, 0)}
    for soloist in range(PLAYERS):
        for value in wins | losses:
            others = 40 if seeger and value < 0 else 0
            own = value + (50 if value > 0 else -50) * seeger
            labels.add(tuple(own if p == soloist else others for p in range(PLAYERS)))
    ordered = tuple(sorted(labels))
    points = np.array(ordered, dtype=np.float64)
    opponents = (points.sum(axis=1, keepdims=True) - points) / (PLAYERS - 1)
    return Outcomes(ordered, ((points - opponents) / 100).astype(np.float32))  # equation 5


def evaluation() -> _core.skat_search.Evaluation:
    """The evaluation of hands that is shipped with the package; trickformer.studies.skat.evaluation makes it."""
    return _core.skat_search.Evaluation(*_load_evaluation())


@lru_cache(maxsize=1)
def _load_evaluation() -> tuple[np.ndarray, np.ndarray]:
    """Its weights and calibration. An object of the core would outlive the core here: OpenSpiel keeps this module."""
    data = resources.files("trickformer.games").joinpath("skat_evaluation.npz").read_bytes()
    with np.load(io.BytesIO(data)) as kept:
        return kept["weights"], kept["calibration"]


def load(spec: str = "skat") -> Skat:
    """`skat`, or `skat(scores=value)`. Raises TrickformerError on an option that does not exist."""
    given = openspiel.options(spec, "skat", tuple(_PARAMETERS))
    if (scores := given.get("scores", "seeger")) not in SCORES:
        raise TrickformerError(f"option scores of skat is one of {', '.join(SCORES)}, not {scores!r}")
    return Skat(pyspiel.load_game("trickformer_skat", given))
