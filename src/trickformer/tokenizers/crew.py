"""The Crew as tokens. cpp/crew/tokens.hpp gives the order of a sequence.

Table 1 of the GO-MCTS paper has 40 cards, 4 positions, 11 task tokens, 18 special rules, 4 kinds of communication, 2
replies and 4 ways to place an open card. The vocabulary here adds 6 ways to allocate tasks, separate tokens for the
cards that each other seat plays, the own chair, silence, two directions of distress and the end. A chair is a seat by
its absolute number; seat tokens count from the own seat. docs/games/crew.md compares the counts with the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from trickformer import _core
from trickformer.base import CHANCE, PUBLIC, BulkHands, Event, View, position_waves
from trickformer.games import missions
from trickformer.games.crew import (
    ACTIONS,
    CARDS,
    COLOUR_CARDS,
    COLOURS,
    COMMANDERS_CARD,
    HAND,
    HIGHEST,
    NUM_ACTIONS,
    NUM_CARDS,
    PINK_NINE,
    PLAYERS,
    SEAT,
    SEATS,
    TILE,
    YES,
    Crew,
)
from trickformer.tokenizers._bulk import CoreGame, deals
from trickformer.tokenizers._by_number import ByNumber

# First tokens of their kinds; the tokens before CHAIR are actions.
CHAIR = NUM_ACTIONS
PLAY: int = _core.crew.PLAY_TOKEN  # cards that others play: all cards of the left neighbour come first
DISTRESS = CHAIR + PLAYERS + len(missions.COMMUNICATION) + len(missions.ALLOCATION) + len(missions.RULES)


class CrewTokenizer(ByNumber):
    """Tokens of The Crew: 217 in all."""

    vocab = (
        *ACTIONS,
        *(f"chair{p}" for p in range(PLAYERS)),
        *(f"communication-{way.replace(' ', '-')}" for way in missions.COMMUNICATION),
        *(f"allocation-{way}" for way in missions.ALLOCATION),
        *missions.RULES,
        *("distress-left", "distress-right"),
        *(f"{seat}:{card}" for seat in SEATS[1:] for card in CARDS),
        "eos",
    )
    eos = len(vocab) - 1
    n_actions = NUM_ACTIONS  # actions are tokens, because both count seats from the actor
    n_positions = _core.crew.MAX_LENGTH  # longest sequence of any valid mission

    def __init__(self, game: Crew):
        self.missions = game.missions
        self.codec = game.book
        self.n_features: int = self.codec.tracker().n_features
        self.script_features = self.codec.tracker().script_features

    features_version = "crew-2"  # raised when a feature in cpp/crew/features.hpp changes its meaning

    def encode(self, view: View) -> np.ndarray:
        own = view.viewer
        if own == PUBLIC:
            raise ValueError("tokens encode the view of a seat, not the public view")
        number = view.events[0].action
        assert number is not None
        tokens = [*self.missions[number].tokens, CHAIR + own]
        distress = next((t for t in tokens if DISTRESS <= t < PLAY), self.eos)
        for event in view.events[1:]:
            if event.action is not None:
                tokens.append(event.action)
            elif event.seen == (COMMANDERS_CARD,) and event.actor != CHANCE:
                tokens.append(SEAT + (event.actor - own) % PLAYERS)
            elif event.seen == (PINK_NINE,) and event.actor != CHANCE and _ends_with_hand(tokens):
                # Mission 46: the token names the seat that must win all pink cards, left of the holder of the pink 9.
                tokens.append(SEAT + (event.actor + 1 - own) % PLAYERS)
            else:
                tokens += event.seen or (distress,)
        return _core.crew.complete_tokens(self.codec, np.array(tokens, dtype=np.int32))

    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        events = _core.crew.events(self.codec, np.asarray(tokens, dtype=np.int32))
        return tuple(Event(*event) for event in events)

    def initial_embeddings(self) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors of tokens and of positions, from which embeddings start.

        A token has the suit and value of its card, the seat that plays it, its kind, and the card itself.
        """
        # The kinds: colour cards, rockets, seats, task tokens, yes and no, communicated places, silence, chairs, tokens
        # of the mission, cards that others play, and the end.
        first_of_kind = (0, COLOUR_CARDS, SEAT, TILE, YES, HIGHEST, HIGHEST + 4, CHAIR, CHAIR + PLAYERS, PLAY, self.eos)
        n_kinds, all_tokens = len(first_of_kind), np.arange(len(self.vocab))
        tokens = np.zeros((len(self.vocab), 20 + n_kinds + NUM_CARDS), dtype=np.float32)
        card = np.arange(NUM_CARDS)
        for seat in range(PLAYERS):
            rows = tokens[PLAY + (seat - 1) * NUM_CARDS :] if seat else tokens
            rows[card, card // 9] = 1  # columns 0 to 4: suit
            rows[card, 5 + card % 9] = 1  # columns 5 to 13: value
            rows[card, 14] = (card % 9 + 1) / 9  # height of the card
            rows[COLOUR_CARDS:NUM_CARDS, 15] = 1  # rocket
            rows[card, 16 + seat] = tokens[SEAT + seat, 16 + seat] = 1  # columns 16 to 19: seat, counted from the own
            rows[card, 20 + n_kinds + card] = 1.5  # the card itself, whoever plays it
        tokens[all_tokens, 19 + np.searchsorted(first_of_kind, all_tokens, side="right")] = 1
        return tokens, position_waves(self.n_positions)


class FastCrew(CoreGame):
    """Fast form of The Crew. Augmentation permutes the four colours, except in mission 46, whose rule names pink."""

    labels_in_worlds = retries = augments = True

    def __init__(self, game: Crew):
        super().__init__(game.book)
        self._game = game
        self._drawing = [number for number, page in game.pages.items() if "random_draw_after_trick1" in page.rules]

    def augment(self, tokens: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        number = rng.integers(len(_COLOUR_PERMUTATIONS), size=len(tokens))
        number[(tokens == _LEFT_OF_PINK_NINE).any(axis=1)] = 0  # the identity
        permutation = _COLOUR_PERMUTATIONS[number]
        augmented = np.take_along_axis(permutation, tokens.astype(np.int64), axis=1)
        # The own hand comes after the own chair and the commander. Its cards must be ascending again.
        chair = ((tokens >= CHAIR) & (tokens < CHAIR + PLAYERS)).argmax(axis=1)
        hand = chair[:, None] + 2 + np.arange(HAND)
        np.put_along_axis(augmented, hand, np.sort(np.take_along_axis(augmented, hand, axis=1), axis=1), axis=1)
        return augmented, permutation

    def tables(self, seed: int, first: int, n: int) -> _core.crew.Tables:
        chance_actions, draws = deals(self._game.chance_actions, seed, first, n), np.zeros((n, PLAYERS))
        for i in np.flatnonzero(np.isin(chance_actions[:, 0], self._drawing)):  # nobody draws in the other missions
            draws[i] = self._game.draws(seed, first + int(i))
        return _core.crew.Tables(self._codec, chance_actions, draws)

    def core_hands(
        self, cast: Sequence[str], seed: int, first: int, n: int, tries: int = 1, noise: float = 0.0
    ) -> BulkHands | None:
        if not set(cast) <= {"random", "rules"}:
            return None
        if set(cast) == {"random"}:
            history, result = _core.crew.random_games(self._codec, seed, first, n, tries)
        else:
            random_share = cast.count("random") / len(cast)
            history, result = _core.crew.mixed_games(self._codec, seed, first, n, random_share, noise)[:2]
        return BulkHands(self, history, np.repeat(result[:, None], PLAYERS, axis=1))


def _colour_permutations() -> np.ndarray:
    """Return the new number of each token for every permutation of the colours, int64 [24, V].

    The first permutation is the identity.
    """
    values = COLOUR_CARDS // len(COLOURS)
    colour, value = np.divmod(np.arange(COLOUR_CARDS), values)
    numbers = np.tile(np.arange(len(CrewTokenizer.vocab)), (24, 1))
    for row, order in zip(numbers, permutations(range(len(COLOURS)))):
        card = np.array(order)[colour] * values + value
        row[:COLOUR_CARDS] = card
        for seat in range(PLAYERS - 1):
            first = PLAY + seat * NUM_CARDS
            row[first : first + COLOUR_CARDS] = first + card
    return numbers


_COLOUR_PERMUTATIONS = _colour_permutations()
_LEFT_OF_PINK_NINE = CrewTokenizer.vocab.index("left_of_pink9_wins_all_pink")


def _ends_with_hand(tokens: list[int]) -> bool:
    """Return whether the last tokens are the own hand, after which mission 46 shows the holder of the pink 9."""
    return len(tokens) > HAND and max(tokens[-HAND:]) < NUM_CARDS


def make(game: Crew) -> CrewTokenizer:
    return CrewTokenizer(game)


def fast(game: Crew) -> FastCrew:
    return FastCrew(game)
