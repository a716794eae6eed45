"""Hearts: OpenSpiel's game with its eight rule options, and the scores and outcomes of the GO-MCTS paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspiel

from trickformer import openspiel
from trickformer.base import (
    CHANCE,
    PUBLIC,
    Event,
    Game,
    Outcomes,
    SearchSettings,
    TrickformerError,
    View,
    action_event,
    deal_seed,
)

if TYPE_CHECKING:
    from trickformer.base import State

NUM_CARDS = 52
PLAYERS = 4
PASSED = 3
CARDS = tuple(rank + suit for rank in "23456789TJQKA" for suit in "CDHS")
HEARTS = 2  # index of the suit
QUEEN_OF_SPADES, JACK_OF_DIAMONDS = 43, 37
TWO_OF_CLUBS = 0  # OpenSpiel numbers cards rank * 4 + suit, suits C D H S, ranks from the two up
DIRECTIONS = ("none", "left", "across", "right")  # by the number of seats from the giver to the receiver
MOON = 26  # points of all hearts and the queen of spades
JD_BONUS = -10  # points of the jack of diamonds under the rule jd_bonus
NO_TRICK_BONUS = -5  # points for taking no trick under the rule avoid_all_tricks_bonus
_DEAL_LENGTH = 1 + NUM_CARDS  # number of chance actions: the direction, then the cards to seats 0, 1, 2, 3, 0, ...
# Settings of the presets of self-play (selfplay/config.py).
_SMALL: dict[str, Any] = {"label_worlds": True, "rollout_network": True, "label_playouts": 3}
TRAINING = {
    # After iteration 1 labels by playouts of the rollout network bring no further gain. Labels by GO-MCTS do, though
    # they take longer. Guests keep the model from learning to beat its own copies only (docs/results/recipe.md).
    "small": _SMALL
    | {
        "bootstrap_hands": 50_000,
        "seats_kept": 2,
        "guests": ["rules", "pimc:eval=uct,runs=20,worlds=20"],
        "guest_share": 0.8,
        "threshold": 0.2,
        "search_share": 0.25,
        "search_from": 2,
        "window": 6,
    },
    "tiny": _SMALL,
}


class Hearts(Game):
    """The game `hearts` of OpenSpiel, under any of its rule options.

    Scores are points a hand, and lower is better. Shooting the moon scores -26 for the shooter and 0 for the others. In
    OpenSpiel it scores 0 and 26, with the same differences between players.

    In a view, the others' passes are no events: a seat sees only the three cards that it receives. After the passes, an
    event shows the seat with the two of clubs, because it leads.
    """

    name = "hearts"
    players = PLAYERS
    higher_is_better = False
    plays_to = 100
    worth = float(MOON), "points, the others' mean minus the own score"
    baseline = "rules"
    # Values of section 9.3 of the GO-MCTS paper, except the threshold of ArgmaxVal*, which is 0.05 there, because the
    # models here overrate rare actions (docs/results/recipe.md).
    search = SearchSettings(argmax_threshold=0.2)
    # For models with action values. 400 simulations take 30 ms a move on one core in float32 (docs/results/recipe.md).
    valued_search = replace(search, runs=400, steps=1, c=0.8, wave=8)
    paper_search = SearchSettings(runs=100, steps=2, c=0.4, threshold=0.05)
    training = TRAINING

    def __init__(self, spiel: pyspiel.Game):
        self.spiel = spiel
        self.rules: dict[str, bool] = dict(spiel.get_parameters())
        self.outcomes = _outcomes(self.rules["jd_bonus"], self.rules["avoid_all_tricks_bonus"])

    def view(self, state: State, viewer: int) -> View:
        self.check_viewer(viewer)
        history = state.full_history()
        if len(history) < _DEAL_LENGTH:
            raise ValueError("a view begins when all cards are dealt")
        direction = history[0].action
        events = [Event(CHANCE, direction)]
        seats = range(PLAYERS) if viewer == PUBLIC else (viewer,)
        deck = [step.action for step in history[1:_DEAL_LENGTH]]
        if viewer != PUBLIC:
            events.append(Event(CHANCE, None, tuple(sorted(deck[viewer::PLAYERS]))))
        first_play = _DEAL_LENGTH + (PLAYERS * PASSED if direction else 0)
        passes = history[_DEAL_LENGTH:first_play]
        events += [action_event(p.player, p.action) for p in passes if p.player == viewer]
        if len(history) >= first_play:
            leader = deck.index(TWO_OF_CLUBS) % PLAYERS
            leader = next(((p.player + direction) % PLAYERS for p in passes if p.action == TWO_OF_CLUBS), leader)
            if direction and viewer != PUBLIC:
                giver = (viewer - direction) % PLAYERS
                received = sorted(p.action for p in passes if p.player == giver)
                events.append(Event(giver, None, tuple(received)))
            events.append(Event(leader, None, (TWO_OF_CLUBS,)))
            events += [action_event(p.player, p.action) for p in history[first_play:]]
        legal = tuple(state.legal_actions()) if state.current_player() in seats and viewer != PUBLIC else ()
        return View(viewer, tuple(events), legal)

    def chance(self, state: State, seed: int, index: int) -> int:
        return self.chance_actions(seed, index)[state.move_number()]

    def chance_actions(self, seed: int, index: int) -> tuple[int, ...]:
        """Return the chance actions of a deal: the pass direction, `index` mod 4, and the deck.

        Args:
            seed: The series.
            index: Number of the deal in the series.
        """
        return index % PLAYERS if self.rules["pass_cards"] else 0, *_shuffle(deal_seed(seed, index))

    def trick(self, state: State) -> int | None:
        history = state.full_history()
        first_play = _DEAL_LENGTH + (PLAYERS * PASSED if history and history[0].action else 0)
        return (len(history) - first_play) // PLAYERS + 1 if len(history) >= first_play else None

    def words(self, action: int) -> str:
        return CARDS[action]

    def describe(self, state: State) -> str:
        history = state.full_history()
        if len(history) < _DEAL_LENGTH:
            return "dealing " + " ".join(CARDS[step.action] for step in history[1:])
        direction = history[0].action
        hands: list[set[int]] = [
            {step.action for step in history[1 + p : _DEAL_LENGTH : PLAYERS]} for p in range(PLAYERS)
        ]
        first_play = _DEAL_LENGTH + (PLAYERS * PASSED if direction else 0)
        passes = history[_DEAL_LENGTH:first_play]
        plays = [(step.player, step.action) for step in history[first_play:]]
        for step in passes:
            hands[step.player].remove(step.action)
        for step in passes if len(history) >= first_play else ():
            hands[(step.player + direction) % PLAYERS].add(step.action)
        for seat, card in plays:
            hands[seat].remove(card)
        lines = [f"pass {DIRECTIONS[direction]}"]
        for seat in range(PLAYERS):
            lines.append(" ".join([f"seat {seat} holds", *(CARDS[c] for c in sorted(hands[seat], key=_by_suit))]))
        for seat in range(PLAYERS):
            cards = [CARDS[step.action] for step in passes if step.player == seat]
            lines += [f"seat {seat} passes {' '.join(cards)}"] if cards else []
        points, leader = [0] * PLAYERS, -1
        notes: list[str] = []
        for start in range(0, len(plays) - PLAYERS + 1, PLAYERS):
            leader, trick_points = self.trick_result(plays[start : start + PLAYERS])
            points[leader] += trick_points
            notes.append(f"{trick_points} points")
        lines += openspiel.trick_lines([(seat, CARDS[card]) for seat, card in plays], PLAYERS, leader, notes)
        over = state.is_terminal()
        return "\n".join(
            [*lines, openspiel.score_line(self.scores(state)) if over else f"points {' '.join(map(str, points))}"]
        )

    def trick_result(self, trick: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Return the winner of a whole trick and the points in it.

        Args:
            trick: Seat and card of each play, in order.
        """
        winner = max((card // 4, seat) for seat, card in trick if card % 4 == trick[0][1] % 4)[1]
        return winner, sum(self._points(card) for _, card in trick)

    def _points(self, card: int) -> int:
        """Return the points of a card."""
        jack = JD_BONUS if self.rules["jd_bonus"] and card == JACK_OF_DIAMONDS else 0
        return jack + (MOON // 2 if card == QUEEN_OF_SPADES else int(card % 4 == HEARTS))

    def scores(self, state: State) -> tuple[int, ...]:
        if not state.is_terminal():
            raise ValueError("a hand has scores only at its end")
        points = [MOON - round(r) for r in state.returns()]
        is_moon = sum(points) > MOON  # otherwise the sum is 26 minus the bonuses
        return tuple(p - MOON if is_moon else p for p in points)


def _by_suit(card: int) -> tuple[int, int]:
    """Return the key that sorts cards by suit, then by rank."""
    return card % 4, card


@lru_cache(maxsize=1024)
def _shuffle(seed: int) -> tuple[int, ...]:
    rng = np.random.default_rng(seed)
    rng.integers(PLAYERS)  # unused; it keeps the decks of a series as in versions that drew the pass direction here
    return tuple(rng.permutation(NUM_CARDS).tolist())


@lru_cache(maxsize=4)
def _outcomes(jd_bonus: bool, no_trick_bonus: bool) -> Outcomes:
    """Enumerate every result of a hand, seen from any seat.

    A result depends on who takes the hearts and the queen of spades. If the rules count them, it also depends on who
    takes the jack of diamonds and who takes no trick. For the rules without bonuses there are 2234 results, as in the
    text of the GO-MCTS paper; its Table 5 has 2237.
    """
    labels = set()
    hearts = [h for h in product(range(14), repeat=PLAYERS) if sum(h) == 13]
    for h, queen in product(hearts, range(PLAYERS)):
        points = [h[p] + 13 * (p == queen) for p in range(PLAYERS)]
        is_moon = MOON in points
        base = tuple(-MOON * (x == MOON) for x in points) if is_moon else tuple(points)
        for jack in range(PLAYERS) if jd_bonus else (None,):
            with_jack = tuple(b + JD_BONUS * (p == jack) for p, b in enumerate(base))
            # A seat without a scoring card may have taken no trick; a moon cancels that bonus.
            idle = [p for p in range(PLAYERS) if points[p] == 0 and p != jack]
            options = [(0, 1) if no_trick_bonus and not is_moon and p in idle else (0,) for p in range(PLAYERS)]
            for has_bonus in product(*options):
                labels.add(tuple(b + NO_TRICK_BONUS * n for b, n in zip(with_jack, has_bonus)))
    ordered = tuple(sorted(labels))
    points = np.array(ordered, dtype=np.float64)
    opponents = (points.sum(axis=1, keepdims=True) - points) / (PLAYERS - 1)
    return Outcomes(ordered, ((opponents - points) / 26).astype(np.float32))  # equation 4 of the GO-MCTS paper


def load(spec: str = "hearts") -> Hearts:
    """Load the game.

    Args:
        spec: OpenSpiel game string of Hearts.

    Raises:
        TrickformerError: An option or its value does not exist.
    """
    parameters = openspiel.options(spec, "hearts", tuple(pyspiel.load_game("hearts").get_parameters()))
    for option, value in parameters.items():
        if not isinstance(value, bool):
            raise TrickformerError(f"option {option} of hearts is True or False, not {value!r}")
    return Hearts(pyspiel.load_game("hearts", parameters))
