"""Skat by the rules of the International Skat Players' Association (ISkO), three at the table, forehand in seat 0.

OpenSpiel's own `skat` has no real auction, hand games, announcements, overbidding or scores. This game is
`trickformer_skat`, with the rules of the core (cpp/skat/rules.hpp).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
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

NUM_CARDS = 32
PLAYERS = 3
HAND = 10
TRICKS = 10
PLAYS = 30
SUITS, RANKS = "DHSC", "789QKTAJ"
CARDS = tuple(suit + rank for suit in SUITS for rank in RANKS)  # card = suit * 8 + rank
PLAYING = 5  # index of "play" in PHASES
PHASES = ("auction", "pick-up", "discard", "declare", "announce", "play", "over")  # by the core's number
POINTS = {"7": 0, "8": 0, "9": 0, "Q": 3, "K": 4, "T": 10, "A": 11, "J": 2}  # card points by rank
CALLS: tuple[int, ...] = tuple(_core.skat.CALLS)  # values that can be bid, ascending from 18
DECLARATIONS = ("diamonds", "hearts", "spades", "clubs", "grand", "null", "null-ouvert")
CONTRACTS = (*DECLARATIONS[:6], "hand")  # names in a summary; a hand game counts both by its kind and as "hand"
LEVELS = ("plain", "schneider", "schwarz", "ouvert")  # announced in a hand game; each includes the ones before it
GRAND = 4
NULL = 5
NULL_OUVERT = 6
OUVERT = 3

# Actions: the cards, then the announcements. CALL, DECLARE and ANNOUNCE are the first of their kind.
CALL = NUM_CARDS
PASS = CALL + len(CALLS)
HOLD = PASS + 1
PICK_UP = PASS + 2
PLAY_HAND = PASS + 3
DECLARE = PASS + 4
ANNOUNCE = DECLARE + len(DECLARATIONS)
NUM_ACTIONS = ANNOUNCE + len(LEVELS)
ACTIONS = (*CARDS, *map(str, CALLS), "pass", "hold", "pick-up", "hand", *DECLARATIONS, *LEVELS)

BASES = (9, 10, 11, 12, 24)  # base values of the suits and of grand
NULL_VALUES = (23, 35, 46, 59)  # null, null hand, null ouvert, null ouvert hand
MOST_MATADORS = (11, 11, 11, 11, 4)  # largest number of matadors in each suit and in grand
SCORES = ("seeger", "value")

# Settings of the presets of self-play (selfplay/config.py). As in section 6.2 of the GO-MCTS paper, random and scripted
# players play the bootstrap hands, there are twenty iterations, and the pool has at most ten models.
_ALL: dict[str, Any] = {"bucket": 32}
_SMALL = _ALL | {"seats_kept": 3, "noise": 0.1, "label_playouts": 2}
# Solving worlds takes longer than learning from them, so six iterations learn from each label.
_WORLDS = {"label_worlds": True, "label_share": 0.33, "label_playouts": 8, "window": 6}
TRAINING = {
    "paper": _ALL | {"bootstrap": ["random", "rules"], "pool": 10, "iterations": 20},
    "paper-small": _ALL | {"bootstrap": ["random", "rules"], "pool": 10, "iterations": 20, "sequences": 30_000},
    "small": _SMALL | _WORLDS | {"noise": 0.05, "bootstrap_hands": 20_000, "sequences": 45_000, "match_deals": 100},
    "tiny": _SMALL,
}

_PARAMETERS = {"scores": "seeger"}
_TYPE = openspiel.game_type("trickformer_skat", "Skat (ISkO)", PLAYERS, _PARAMETERS)


class SkatGame(pyspiel.Game):
    """OpenSpiel's game `trickformer_skat`.

    Its parameter `scores` is `seeger` (tournament points: extended Seeger-Fabian, three at the table) or `value` (the
    value of the game, for the soloist).
    """

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
        return openspiel.Observer(_text, iig_obs_type, params)


class Contract(NamedTuple):
    """The soloist's game."""

    game: str  # diamonds, hearts, spades, clubs, grand or null
    hand: bool  # whether the soloist plays without picking up the skat
    level: str  # announced level, one of LEVELS; a null game is plain or ouvert


class SkatState(openspiel.CardState):
    """State of a game of Skat, with the core's rules. Chance deals ten cards each to seats 0, 1, 2, then the skat.

    Cards are numbers, suit * 8 + rank, and `CARDS[card]` is the name. The properties are for authors of bots
    (docs/add-a-player.md). They show the true state, hidden cards included.
    """

    def __init__(self, game: SkatGame):
        super().__init__(game)
        self.seeger = game.seeger

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the cards not yet dealt, each equally likely."""
        undealt = sorted(set(range(NUM_CARDS)) - set(self.deck))
        return [(card, 1 / len(undealt)) for card in undealt]

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
        """Return the scores by seat; zero before the end."""
        if not self.is_terminal():
            return [0.0] * PLAYERS
        return [float(x) for x in self.result.scores(self.seeger)]

    @property
    def phase(self) -> str:
        """Name of the phase to which the next action belongs: "deal" or one of PHASES; "over" at the end.

        In "pick-up" the soloist may also decide to play hand. "announce" occurs in hand games only.
        """
        return "deal" if self.core is None else PHASES[self.core.phase]

    def hand(self, seat: int) -> list[int]:
        """Return the cards that a seat holds now, ascending. During the deal they are the cards dealt so far.

        Args:
            seat: 0, 1 or 2.

        Raises:
            ValueError: There is no such seat.
        """
        if not 0 <= seat < PLAYERS:
            raise ValueError(f"seats of Skat are 0, 1 and 2, not {seat}")
        return sorted(self.deck[HAND * seat : HAND * (seat + 1)]) if self.core is None else self.core.hand(seat)

    @property
    def skat(self) -> list[int]:
        """Cards in the skat now, ascending: the two dealt or discarded cards, and fewer after the soloist's pick-up."""
        return sorted(self.deck[PLAYERS * HAND :]) if self.core is None else self.core.skat

    @property
    def auction(self) -> list[tuple[int, int]]:
        """Actions of the auction in order, as seat and action. An action is HOLD, PASS, or CALL + i for `CALLS[i]`."""
        steps = [(step.player, step.action) for step in self.full_history()[NUM_CARDS:]]
        return list(takewhile(lambda step: CALL <= step[1] <= HOLD, steps))

    @property
    def bid(self) -> int:
        """Highest call so far, from 18 to 264; 0 if nobody has called."""
        return 0 if self.core is None else self.core.bid

    @property
    def soloist(self) -> int | None:
        """Seat that plays against the others; None before the end of the auction, and if all seats pass."""
        return None if self.core is None or self.core.soloist < 0 else self.core.soloist

    @property
    def contract(self) -> Contract | None:
        """Declaration of the soloist; None before it. The level is plain until the soloist has announced a level."""
        if self.soloist is None or self.phase in ("pick-up", "discard", "declare"):
            return None
        return Contract(DECLARATIONS[self.core.kind], self.core.is_hand, LEVELS[self.core.level])

    @property
    def plays(self) -> list[tuple[int, int]]:
        """Played cards in order, as seat and card."""
        steps = [(step.player, step.action) for step in self.full_history()[NUM_CARDS:]]
        declared = max((i + 1 for i, (_, action) in enumerate(steps) if action >= DECLARE), default=len(steps))
        return steps[declared:]

    @property
    def trick(self) -> list[tuple[int, int]]:
        """Cards of the current trick in order, as seat and card; empty before the lead."""
        plays = self.plays
        return plays[len(plays) - len(plays) % PLAYERS :]

    @property
    def leader(self) -> int | None:
        """Seat that leads the current trick or the next one; None before cards are played."""
        return self.core.leader if self.phase in ("play", "over") and self.soloist is not None else None

    @property
    def soloists_tricks(self) -> int:
        """Number of tricks that the soloist has taken."""
        return 0 if self.core is None else self.core.soloists_tricks

    @property
    def soloists_points(self) -> int:
        """Card points in the soloist's tricks, without the skat."""
        return 0 if self.core is None else self.core.soloists_points

    @property
    def result(self) -> _core.skat.Result:
        """Result of the game. Raises ValueError before the end."""
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
        steps = history[: len(history) - len(plays)]
        lines.append(" ".join(["said", *(f"{step.player}:{ACTIONS[step.action]}" for step in steps)]))
        if core.soloist >= 0:
            lines.append(f"soloist seat {core.soloist}, bid {core.bid}")
        points = [card_points(c for _, c in plays[i : i + PLAYERS]) for i in range(0, len(plays), PLAYERS)]
        named = [(seat, CARDS[card]) for seat, card in plays]
        lines += openspiel.trick_lines(named, PLAYERS, core.leader, [f"{p} points" for p in points])
        if plays:
            skat = card_points(core.skat)
            lines.append(f"soloist {core.soloists_tricks} tricks, {core.soloists_points + skat} points with the skat")
        if self.is_terminal():
            result = self.result
            if result.soloist >= 0:
                overbid = ", overbid" if result.overbid else ""
                lines.append(
                    f"{'won' if result.won else 'lost'}, value {result.value}, matadors {result.matadors}{overbid}"
                )
            lines.append(openspiel.score_line(result.scores(self.seeger)))
        return "\n".join(lines)


def _text(state: Any, viewer: int) -> str:
    """Return the information state string of a viewer: its events in order."""
    if state.core is None:
        return f"dealing {len(state.deck)}"
    view = _view(state, viewer)
    parts = []
    for event in view.events:
        actor = "" if event.actor == CHANCE else f"{event.actor}:"
        words = [ACTIONS[event.action]] if event.action is not None else [CARDS[c] for c in event.seen]
        parts.append(actor + " ".join(words))
    return f"{view.viewer} | " + " | ".join(parts)


pyspiel.register_game(_TYPE, SkatGame)


class Skat(Game):
    """The game `trickformer_skat`. Scores are tournament points a deal, or the value of the game; higher is better.

    In a view, another seat's discards are no events. An ouvert hand is an event before the first lead.
    """

    name = "skat"
    players = PLAYERS
    higher_is_better = True
    worth = 100.0, "points, own score minus the others' mean"
    rotates = True  # forehand bids and leads first, so everybody is forehand in turn
    by_seats = True  # Table 3 of the GO-MCTS paper gives means over seats
    baseline = "rules"
    labels_are_results = False  # some labels come from a solver with open cards
    # Values of section 9.3 of the GO-MCTS paper, except the threshold, which is 0.05 there. With a lower threshold
    # there are too many actions for so few simulations (docs/results/skat.md).
    search = SearchSettings(runs=100, steps=5, c=0.3, threshold=0.3)
    paper_search = SearchSettings(runs=100, steps=5, c=0.3, threshold=0.05)
    training = TRAINING

    def __init__(self, spiel: pyspiel.Game):
        self.spiel = spiel
        self.seeger = spiel.get_parameters()["scores"] == "seeger"
        self.outcomes = _outcomes(self.seeger)

    def view(self, state: State, viewer: int) -> View:
        self.check_viewer(viewer)
        return _view(state, viewer)

    def chance(self, state: State, seed: int, index: int) -> int:
        return self.chance_actions(seed, index)[state.move_number()]

    def chance_actions(self, seed: int, index: int) -> tuple[int, ...]:
        """Return the chance actions of a deal: the deck.

        Args:
            seed: The series.
            index: Number of the deal in the series.
        """
        return _shuffle(deal_seed(seed, index))

    def trick(self, state: State) -> int | None:
        game: Any = state
        return len(game.plays) // PLAYERS + 1 if game.phase == "play" else None

    def summary(self, histories: Sequence[Sequence[int]], seats: Sequence[Sequence[int]]) -> Summary:
        """Summarize a player's games beyond its mean score.

        `points in 36 games`, a round of a tournament, are 36 mean scores. The shares of games that all pass and of the
        player's games as soloist are relative to all its games. The share of a contract is relative to the games as
        soloist, and the share of its wins to the games with this contract.

        Args:
            histories: Games as OpenSpiel actions, chance included.
            seats: Seats that the player held in each game.

        Returns:
            Numbers by name; None for a share of no games.
        """
        games = points = soloist_games = won = passed = 0
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
            soloist_games, won = soloist_games + 1, won + result.won
            for name in (CONTRACTS[state.kind], "hand" if state.is_hand else ""):
                if name:
                    contracts[name][0] += 1
                    contracts[name][1] += result.won
        summary: Summary = {
            "points in 36 games": 36 * points / games,
            "all passed": passed / games,
            "soloist": soloist_games / games,
            "won as soloist": won / soloist_games if soloist_games else None,
        }
        for name, (played, contract_wins) in contracts.items():
            summary[name] = played / soloist_games if soloist_games else None
            summary[f"{name} won"] = contract_wins / played if played else None
        return summary


def _view(state: Any, viewer: int) -> View:
    """Return the view of a seat, or the public view."""
    history = state.full_history()
    if len(history) < NUM_CARDS:
        raise ValueError("a view begins when all cards are dealt")
    deck = [step.action for step in history[:NUM_CARDS]]
    events: list[Event] = []
    if viewer != PUBLIC:
        events.append(Event(CHANCE, None, tuple(sorted(deck[HAND * viewer : HAND * (viewer + 1)]))))
    soloists_hand: set[int] = set()  # cards of the soloist after it has picked up the skat; empty in a hand game
    discards_left = 0
    for step in history[NUM_CARDS:]:
        seat, action = step.player, step.action
        if discards_left:
            discards_left -= 1
            soloists_hand.remove(action)
            if seat == viewer:
                events.append(action_event(seat, action))
            continue
        events.append(action_event(seat, action))
        if action == PICK_UP:
            skat = deck[PLAYERS * HAND :]
            soloists_hand = {*deck[HAND * seat : HAND * (seat + 1)], *skat}
            discards_left = len(skat)
            if seat == viewer:
                events.append(Event(CHANCE, None, tuple(sorted(skat))))
        elif action in (DECLARE + NULL_OUVERT, ANNOUNCE + OUVERT) and seat != viewer:
            events.append(Event(seat, None, tuple(sorted(soloists_hand or deck[HAND * seat : HAND * (seat + 1)]))))
    on_turn = viewer != PUBLIC and state.current_player() == viewer
    return View(viewer, tuple(events), tuple(state.legal_actions()) if on_turn else ())


def card_points(cards: Iterable[int]) -> int:
    """Return the card points of some cards.

    Args:
        cards: Cards by number.
    """
    return sum(POINTS[CARDS[card][1]] for card in cards)


@lru_cache(maxsize=1024)
def _shuffle(seed: int) -> tuple[int, ...]:
    return tuple(np.random.default_rng(seed).permutation(NUM_CARDS).tolist())


def _values() -> tuple[set[int], set[int]]:
    """Return the values that a soloist can win, and those that it can lose (negative).

    A value is the base value times a number of levels, or the value of a null game. An overbid game loses the smallest
    multiple of the base value that covers the bid. All numbers of levels, from one matador up to all matadors with
    hand, schneider, schwarz and ouvert, can be both won and lost. For example, a soloist that has all matadors, but one
    of them in the skat, can still lose an announced schwarz.
    """
    wins: set[int] = set(NULL_VALUES)
    losses = {-2 * value for value in NULL_VALUES}
    for base, matadors in zip(BASES, MOST_MATADORS):
        values = {base * levels for levels in range(2, matadors + 8)}
        wins |= values
        overbid = {-(-bid // base) * base for bid in CALLS if bid > base}
        losses |= {-2 * value for value in values | overbid}
    return wins, losses


@lru_cache(maxsize=2)
def _outcomes(seeger: bool) -> Outcomes:
    """Enumerate every result of a game, seen from any seat.

    Either all seats pass and score 0, or a seat is the soloist and wins or loses a value. Table 5 of the GO-MCTS paper
    counts 397 results; docs/games/skat.md explains the difference.
    """
    wins, losses = _values()
    labels: set[tuple[int, ...]] = {(0, 0, 0)}
    for soloist in range(PLAYERS):
        for value in wins | losses:
            # Tournament points: the soloist gets 50 more or 50 less, and each defender 40 for a lost game.
            others = 40 if seeger and value < 0 else 0
            own = value + (50 if value > 0 else -50) * seeger
            labels.add(tuple(own if p == soloist else others for p in range(PLAYERS)))
    ordered = tuple(sorted(labels))
    points = np.array(ordered, dtype=np.float64)
    opponents = (points.sum(axis=1, keepdims=True) - points) / (PLAYERS - 1)
    return Outcomes(ordered, ((points - opponents) / 100).astype(np.float32))  # equation 5 of the GO-MCTS paper


def evaluation() -> _core.skat_search.Evaluation:
    """Return the evaluation of hands that is shipped with the package; trickformer.studies.skat.evaluation makes it."""
    return _core.skat_search.Evaluation(*_load_evaluation())


@lru_cache(maxsize=1)
def _load_evaluation() -> tuple[np.ndarray, np.ndarray]:
    """Load the weights and the calibration of the evaluation.

    The cache holds arrays and no object of the core: OpenSpiel keeps this module alive, so such an object would outlive
    the core at the end of the process.
    """
    data = resources.files("trickformer.games").joinpath("skat_evaluation.npz").read_bytes()
    with np.load(io.BytesIO(data)) as arrays:
        return arrays["weights"], arrays["calibration"]


def load(spec: str = "skat") -> Skat:
    """Load the game.

    Args:
        spec: `skat`, or `skat(scores=value)`.

    Raises:
        TrickformerError: An option or its value does not exist.
    """
    parameters = openspiel.options(spec, "skat", tuple(_PARAMETERS))
    if (scores := parameters.get("scores", "seeger")) not in SCORES:
        raise TrickformerError(f"option scores of skat is one of {', '.join(SCORES)}, not {scores!r}")
    return Skat(pyspiel.load_game("trickformer_skat", parameters))
