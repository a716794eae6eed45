"""Hanabi: OpenSpiel's own game for two to five players. All seats are one team and share a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyspiel

from trickformer import _core, openspiel
from trickformer.base import (
    CHANCE,
    PUBLIC,
    Event,
    Game,
    Outcomes,
    RolloutSettings,
    Summary,
    TrickformerError,
    View,
    action_event,
    deal_seed,
)
from trickformer.plumbing.tables import mean_of_games

if TYPE_CHECKING:
    from trickformer.base import State

COLORS = "RYGWB"  # OpenSpiel's letters; a card's number is colour * ranks + rank, the rank counted from 0
Color = Literal["red", "yellow", "green", "white", "blue"]
NAMES: dict[str, Color] = {"R": "red", "Y": "yellow", "G": "green", "W": "white", "B": "blue"}
RULES = {  # options of OpenSpiel's game -> options of the core
    "players": "players",
    "colors": "colors",
    "ranks": "ranks",
    "hand_size": "hand",
    "max_information_tokens": "hints",
    "max_life_tokens": "lives",
}
FIXED = {"observation_type": "card_knowledge", "random_start_player": False}  # options with a single allowed value
# Settings of the presets of self-play (selfplay/config.py). The newest model plays all seats. The bootstrap player is
# `partner`, because hands of random players teach nothing about hints.
_ALL: dict[str, Any] = {"roles": "all", "bootstrap": ["partner"], "anchor": 0.5, "bucket": 32, "seats_kept": 2}
_SMALL = _ALL | {"noise": 0.02, "label_share": 0.08, "label_playouts": 4}
TRAINING = {"paper": _ALL, "small": _SMALL, "tiny": _SMALL}
# Shares of a summary: what a player knew of the cards that it played.
KNOWING = tuple(f"played knowing {fact}" for fact in ("colour and rank", "colour", "rank", "neither"))
VARIANTS = (  # variants for two players in the literature
    "hanabi",
    "hanabi(max_information_tokens=2)",
    "hanabi(hand_size=7,max_information_tokens=4)",
)


class Hanabi(Game):
    """The game `hanabi` of OpenSpiel.

    The score is the number of cards in the fireworks, and 0 once the lives are spent. It is the same for all seats. The
    value of a score is its share of the highest score. Other games value the difference from opponents, but a team has
    none.

    A view begins with the others' hands, from the left neighbour on, each with its oldest card first. The moves follow.
    `seen` is the card of a play or a discard, or the slots that a hint touches. A drawn card is an event for those who
    see it. The viewer's own draw has no event, because it follows from its move. The public view shows no hand.
    """

    name = "hanabi"
    higher_is_better = True
    baseline = "partner"
    # No threshold, because the model imitates a scripted player, so other good actions have low probabilities.
    rollouts = RolloutSettings(threshold=0.0, margin=3.0)
    training = TRAINING

    def __init__(self, spiel: pyspiel.Game, rules: _core.hanabi.Rules):
        self.spiel = spiel
        self.rules = rules
        self.players: int = rules.players
        self.worth = float(rules.kinds), "points"  # v(o) = 1 is a perfect score
        scores = np.arange(rules.kinds + 1)
        labels = tuple((int(score),) * self.players for score in scores)
        values = np.repeat((scores / rules.kinds)[:, None], self.players, axis=1)
        self.outcomes = Outcomes(labels, values.astype(np.float32))

    def view(self, state: State, viewer: int) -> View:
        self.check_viewer(viewer)
        rules, history = self.rules, state.full_history()
        dealt = self.players * rules.hand
        if len(history) < dealt:
            raise ValueError("a view begins when all hands are dealt")
        cards = [step.action for step in history[:dealt]]
        hands = [cards[rules.hand * p : rules.hand * (p + 1)] for p in range(self.players)]
        others = [] if viewer == PUBLIC else [(viewer + offset) % self.players for offset in range(1, self.players)]
        events = [Event(CHANCE, None, tuple(hands[p])) for p in others]
        actor = 0
        for step in history[dealt:]:
            action = step.action
            if step.player == CHANCE:
                hands[actor].append(action)
                if actor in others:
                    events.append(action_event(CHANCE, action))
                continue
            actor = step.player
            if action < 2 * rules.hand:
                events.append(Event(actor, action, (hands[actor].pop(action % rules.hand),)))
            else:
                clue = hint(rules, action)
                hand = hands[(actor + clue.offset) % self.players]
                if clue.rank is None:
                    touched = tuple(i for i, card in enumerate(hand) if card // rules.ranks == clue.color)
                else:
                    touched = tuple(i for i, card in enumerate(hand) if card % rules.ranks == clue.rank)
                events.append(Event(actor, action, touched))
        on_turn = viewer != PUBLIC and state.current_player() == viewer
        return View(viewer, tuple(events), tuple(state.legal_actions()) if on_turn else ())

    def describe(self, state: State) -> str:
        rules, history = self.rules, state.full_history()
        if len(history) < self.players * rules.hand:
            return "dealing " + " ".join(card_name(rules, step.action) for step in history)
        lines = []
        for seat in range(self.players):
            cards = [card_name(rules, card) for card in self.hand(state, seat)]
            lines.append(" ".join([f"seat {seat} holds", *cards]))
        piles = [0] * rules.colors
        discards: list[str] = []
        hints, lives = rules.hints, rules.lives
        for number, event in enumerate(self.view(state, PUBLIC).events, 1):
            assert event.action is not None
            line = f"move {number}: {event.actor}:{self._describe_move(event)}"
            if event.action >= 2 * rules.hand:
                hints -= 1
            else:
                color, rank = divmod(event.seen[0], rules.ranks)
                if event.action >= rules.hand and piles[color] == rank:
                    piles[color] += 1
                    hints = min(hints + (piles[color] == rules.ranks), rules.hints)
                else:
                    discards.append(card_name(rules, event.seen[0]))
                    played = event.action >= rules.hand
                    hints, lives = hints + (not played), lives - played
                    line += ", which does not fit" if played else ""
            lines.append(line)
        lines.append("fireworks " + " ".join(f"{COLORS[c]}{height}" for c, height in enumerate(piles)))
        lines.append(" ".join(["discards", *discards]))
        lines.append(f"tokens {hints} information, {lives} lives")
        if state.is_terminal():
            lines.append(openspiel.score_line(self.scores(state)))
        return "\n".join(lines)

    def words(self, action: int) -> str:
        rules = self.rules
        if action < 2 * rules.hand:
            return f"{'play' if action >= rules.hand else 'discard'} card {action % rules.hand}"
        clue = hint(rules, action)
        neighbour = "the left neighbour" if clue.offset == 1 else f"{clue.offset} to the left"
        receiver = "the partner" if rules.players == 2 else neighbour
        return f"tell {receiver}: {NAMES[COLORS[clue.color]] if clue.color is not None else (clue.rank or 0) + 1}"

    def _describe_move(self, event: Event) -> str:
        """Describe an event of the public view in words."""
        rules, action = self.rules, event.action or 0
        if action < 2 * rules.hand:
            word = "plays" if action >= rules.hand else "discards"
            return f"{word} card {action % rules.hand}, {card_name(rules, event.seen[0])}"
        clue = hint(rules, action)
        value = COLORS[clue.color] if clue.color is not None else str((clue.rank or 0) + 1)
        noun = "card" if len(event.seen) == 1 else "cards"
        touched = " ".join(map(str, event.seen))
        return f"tells seat {(event.actor + clue.offset) % self.players} of {value} on {noun} {touched}"

    def hand(self, state: State, seat: int) -> list[int]:
        """Return the cards of a seat, the oldest first.

        Args:
            state: A state whose hands are dealt.
            seat: The seat.
        """
        hand, dealt = self.rules.hand, self.players * self.rules.hand
        history, actor = state.full_history(), 0
        cards = [step.action for step in history[hand * seat : hand * (seat + 1)]]
        for step in history[dealt:]:
            if step.player != CHANCE:
                actor = step.player
            if actor == seat and step.player == CHANCE:
                cards.append(step.action)
            elif actor == seat and step.action < 2 * hand:
                cards.pop(step.action % hand)
        return cards

    def summary(self, histories: Sequence[Sequence[int]], seats: Sequence[Sequence[int]]) -> Summary:
        """Summarize scores, perfect games, games lost by strikes, and a player's knowledge of the cards that it played.

        Knowledge is measured as shares of the cards that the player played, as in Figure 4 of "Off-Belief Learning" (Hu
        et al. 2021). A seat knows the colour or the rank of a card if only one is possible by the hints and the cards
        that it sees (in other hands, fireworks and discards). `played in vain` is the share of these cards that did not
        fit.

        Args:
            histories: Games as OpenSpiel actions, chance included.
            seats: Seats that the player held in each game.
        """
        hand = self.rules.hand
        counts, misplays = [0] * len(KNOWING), 0
        scores: list[int] = []
        strikes: list[bool] = []
        for history, own in zip(histories, seats):
            state, moves = split_history(self.rules, history)
            for action in moves:
                seat, lives = state.current_player(), state.lives
                is_play = seat in own and hand <= action < 2 * hand
                if is_play:
                    knows_color, knows_rank = self._card_knowledge(state, seat, action - hand)
                    counts[3 - 2 * knows_color - knows_rank] += 1  # in the order of KNOWING
                state.apply_action(action)
                misplays += is_play and state.lives < lives
            scores.append(state.score())
            strikes.append(state.lives == 0)
        plays = sum(counts)
        shares = [n / plays if plays else None for n in (*counts, misplays)]
        return {
            "mean score": mean_of_games(scores),
            "perfect games": mean_of_games([score == self.rules.kinds for score in scores]),
            "lost by strikes": mean_of_games(strikes),
            **dict(zip((*KNOWING, "played in vain"), shares)),
        }

    def _card_knowledge(self, state: _core.hanabi.State, seat: int, slot: int) -> tuple[bool, bool]:
        """Return whether a seat knows the colour of its card, and whether it knows the rank."""
        rules = self.rules
        colors, ranks = state.knowledge(seat)[slot][:2]  # as bits
        seen = list(state.discards)
        for color, height in enumerate(state.fireworks):
            for rank in range(height):
                seen[color * rules.ranks + rank] += 1
        for other in range(self.players):
            for card in state.hand(other) if other != seat else ():
                seen[card] += 1
        unseen = [divmod(kind, rules.ranks) for kind in range(rules.kinds) if seen[kind] < rules.copies(kind)]
        possible = [(color, rank) for color, rank in unseen if colors >> color & 1 and ranks >> rank & 1]
        return len({color for color, _ in possible}) == 1, len({rank for _, rank in possible}) == 1

    def chance(self, state: State, seed: int, index: int) -> int:
        n_drawn = sum(step.player == CHANCE for step in state.full_history())
        return self.chance_actions(seed, index)[n_drawn]

    def chance_actions(self, seed: int, index: int) -> tuple[int, ...]:
        """Return the chance actions of a deal: the cards in the order of drawing.

        Args:
            seed: The series.
            index: Number of the deal in the series.
        """
        rules = self.rules
        return _shuffle(deal_seed(seed, index), tuple(k for k in range(rules.kinds) for _ in range(rules.copies(k))))

    def seatings(self, kinds: int) -> tuple[tuple[int, ...], ...]:
        # Scores are shared, so a table with different players would not compare them.
        return tuple((kind,) * self.players for kind in range(kinds))

    def exchange(self, state: State, view: View, rng: np.random.Generator) -> State | None:
        # There are several cards of a kind, so two card numbers cannot be exchanged as in other games. Instead one card
        # of the deal is replaced, if OpenSpiel's observations of the viewer are the same at every point of the game.
        from open_spiel.python.observation import make_observation

        game, history = state.get_game(), list(state.history())
        observation: Any = make_observation(game)
        new_observation: Any = make_observation(game)
        chance_steps = [i for i, step in enumerate(state.full_history()) if step.player < 0]
        for _ in range(40):
            at, card = int(rng.choice(chance_steps)), int(rng.integers(game.max_chance_outcomes()))
            if card == history[at]:
                continue
            replay, changed = game.new_initial_state(), game.new_initial_state()
            for i, action in enumerate(history):
                new_action = card if i == at else action
                if new_action not in changed.legal_actions():
                    break
                replay.apply_action(action)
                changed.apply_action(new_action)
                observation.set_from(replay, view.viewer)
                new_observation.set_from(changed, view.viewer)
                if not np.array_equal(observation.tensor, new_observation.tensor):
                    break
            else:
                return changed
        return None


def split_history(rules: _core.hanabi.Rules, history: Sequence[int]) -> tuple[_core.hanabi.State, list[int]]:
    """Split a history into the start of the game and the players' moves.

    Args:
        rules: Rules of the core.
        history: OpenSpiel actions, chance included.

    Returns:
        The first state, in which the order of cards that were never drawn is arbitrary, and the moves.
    """
    dealt = rules.players * rules.hand
    deck, actions = list(history[:dealt]), iter(history[dealt:])
    moves: list[int] = []
    for action in actions:
        moves.append(action)
        # After a play or a discard chance draws the next card, as long as there is one.
        if action < 2 * rules.hand and len(deck) < rules.deck and (card := next(actions, None)) is not None:
            deck.append(card)
    undrawn = Counter({kind: rules.copies(kind) for kind in range(rules.kinds)}) - Counter(deck)
    return _core.hanabi.State(rules, np.array([*deck, *undrawn.elements()], dtype=np.uint8)), moves


def core_options(rules: _core.hanabi.Rules) -> dict[str, int]:
    """Return the options of rules by the core's names.

    Args:
        rules: Rules of the core.
    """
    return {name: getattr(rules, name) for name in RULES.values()}


class Hint(NamedTuple):
    """A hint: its receiver, and the colour or the rank that it names."""

    offset: int  # seats from the giver to the receiver
    color: int | None  # None if the hint names a rank
    rank: int | None  # None if the hint names a colour


def hint(rules: _core.hanabi.Rules, action: int) -> Hint:
    """Return the hint that an action gives.

    Args:
        rules: Rules of the core.
        action: OpenSpiel action of a hint.
    """
    number = action - 2 * rules.hand
    colors = (rules.players - 1) * rules.colors
    if number < colors:
        return Hint(1 + number // rules.colors, number % rules.colors, None)
    return Hint(1 + (number - colors) // rules.ranks, None, (number - colors) % rules.ranks)


def card_name(rules: _core.hanabi.Rules, card: int) -> str:
    """Return OpenSpiel's name of a card, such as R1 or Y3.

    Args:
        rules: Rules of the core.
        card: Number of the card.
    """
    return f"{COLORS[card // rules.ranks]}{card % rules.ranks + 1}"


@lru_cache(maxsize=1024)
def _shuffle(seed: int, cards: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(np.random.default_rng(seed).permutation(cards).tolist())


def load(spec: str = "hanabi") -> Hanabi:
    """Load the game.

    The observation type and the first player are fixed. OpenSpiel's option `seed` is not supported, because deals come
    from `Hanabi.chance`.

    Args:
        spec: `hanabi`, or with options such as `hanabi(players=3,max_information_tokens=4)`.

    Raises:
        TrickformerError: An option does not exist, or its value is not supported.
    """
    parameters = openspiel.options(spec, "hanabi", (*RULES, *FIXED))
    for option in parameters.keys() & FIXED.keys():
        if parameters[option] != FIXED[option]:
            raise TrickformerError(f"option {option} of hanabi can only be {FIXED[option]}, not {parameters[option]!r}")
        del parameters[option]
    for option, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TrickformerError(f"option {option} of hanabi is a whole number, not {value!r}")
    try:
        rules = _core.hanabi.Rules(**{RULES[option]: value for option, value in _defaults(parameters).items()})
    except (ValueError, TypeError) as e:  # TypeError: a number is too large for the core
        raise TrickformerError(f"game {spec!r}: {str(e).splitlines()[0]}") from None
    return Hanabi(pyspiel.load_game("hanabi", parameters), rules)


def _defaults(parameters: dict[str, int]) -> dict[str, int]:
    """Add OpenSpiel's default hand size if it is missing: five cards, or four for four and five players."""
    return {"hand_size": 5 if parameters.get("players", 2) < 4 else 4} | parameters
