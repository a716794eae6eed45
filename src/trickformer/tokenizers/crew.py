"""The Crew as tokens. cpp/crew/tokens.hpp gives the order of a sequence.

Table 1 of the GO-MCTS paper has 40 cards, 4 positions, 11 task tokens, 18 special rules, 4 communications, 2 replies
and 4 ways to place an open card; its allocations are 6 here. Added are the cards as each of the other three plays them,
the own chair, silence, two directions of distress and the end. docs/games/crew.md compares the counts with the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from trickformer import _core
from trickformer.base import CHANCE, PUBLIC, BulkHands, Event, View
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

CHAIR = NUM_ACTIONS
PLAY: int = _core.crew.PLAY_TOKEN
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
    n_actions = NUM_ACTIONS  # seats are counted from the actor in actions as in tokens
    n_positions = _core.crew.MAX_LENGTH  # longest sequence of any valid mission

    def __init__(self, game: Crew):
        self.missions = game.missions
        self.codec = game.book
        self.n_features: int = self.codec.tracker().n_features

    features_version = "crew-2"

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
            elif event.seen == (PINK_NINE,) and event.actor != CHANCE and _pink(tokens):
                tokens.append(SEAT + (event.actor + 1 - own) % PLAYERS)
            else:
                tokens += event.seen or (distress,)
        return _core.crew.complete_tokens(self.codec, np.array(tokens, dtype=np.int32))

    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        events = _core.crew.events(self.codec, np.asarray(tokens, dtype=np.int32))
        return tuple(Event(*event) for event in events)

    def initial_embeddings(self) -> tuple[np.ndarray, np.ndarray]:
        """Return suit and value of cards and kinds of tokens, and for positions waves.

        Missions differ in length, so the distance between two tokens matters. In waves, a distance is the same linear
        map everywhere.
        """
        kinds = (0, COLOUR_CARDS, SEAT, TILE, YES, HIGHEST, HIGHEST + 4, CHAIR, CHAIR + PLAYERS, PLAY, self.eos)
        tokens = np.zeros((len(self.vocab), 20 + len(kinds) + NUM_CARDS), dtype=np.float32)
        card = np.arange(NUM_CARDS)
        for by in range(PLAYERS):
            at = tokens[PLAY + (by - 1) * NUM_CARDS :] if by else tokens
            at[card, card // 9] = 1
            at[card, 5 + card % 9] = 1
            at[card, 14] = (card % 9 + 1) / 9
            at[COLOUR_CARDS:NUM_CARDS, 15] = 1
            at[card, 16 + by] = tokens[SEAT + by, 16 + by] = 1
            at[card, 20 + len(kinds) + card] = 1.5
        tokens[np.arange(len(self.vocab)), 19 + np.searchsorted(kinds, np.arange(len(self.vocab)), side="right")] = 1
        place = np.arange(self.n_positions)[:, None] * 2 * np.pi / 2.0 ** np.arange(1, 9)
        return tokens, np.concatenate([np.sin(place), np.cos(place)], axis=1).astype(np.float32) / 2


class FastCrew(CoreGame):
    """The Crew in the core.

    Augmentation permutes the four colours, except in mission 46, whose rule names the pink cards.
    """

    labels_in_worlds = retries = augments = True

    def __init__(self, game: Crew):
        super().__init__(game.book)
        self._game = game
        self._drawing = [number for number, page in game.pages.items() if "random_draw_after_trick1" in page.rules]

    def augment(self, tokens: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        rows = rng.integers(len(_EXCHANGES), size=len(tokens))
        rows[(tokens == _LEFT_OF_PINK_NINE).any(axis=1)] = 0
        permutation = _EXCHANGES[rows]
        augmented = np.take_along_axis(permutation, tokens.astype(np.int64), axis=1)
        # The own hand is listed in ascending order; it follows the own chair and the commander.
        chair = ((tokens >= CHAIR) & (tokens < CHAIR + PLAYERS)).argmax(axis=1)
        dealt = chair[:, None] + 2 + np.arange(HAND)
        np.put_along_axis(augmented, dealt, np.sort(np.take_along_axis(augmented, dealt, axis=1), axis=1), axis=1)
        return augmented, permutation

    def tables(self, seed: int, first: int, n: int) -> _core.crew.Tables:
        dealt, draws = deals(self._game.chance_actions, seed, first, n), np.zeros((n, PLAYERS))
        for i in np.flatnonzero(np.isin(dealt[:, 0], self._drawing)):  # nobody draws in the other missions
            draws[i] = self._game.draws(seed, first + int(i))
        return _core.crew.Tables(self._codec, dealt, draws)

    def core_hands(
        self, cast: Sequence[str], seed: int, first: int, n: int, tries: int = 1, noise: float = 0.0
    ) -> BulkHands | None:
        if not set(cast) <= {"random", "rules"}:
            return None
        if set(cast) == {"random"}:
            history, result = _core.crew.random_games(self._codec, seed, first, n, tries)
        else:
            random = cast.count("random") / len(cast)
            history, result = _core.crew.mixed_games(self._codec, seed, first, n, random, noise)[:2]
        return BulkHands(self, history, np.repeat(result[:, None], PLAYERS, axis=1))


def _exchanges() -> np.ndarray:
    """Return the new number of each token for every permutation of the colours, int64 [24, V].

    The first permutation is the identity.
    """
    values = COLOUR_CARDS // len(COLOURS)
    colour, value = np.divmod(np.arange(COLOUR_CARDS), values)
    numbers = np.tile(np.arange(len(CrewTokenizer.vocab)), (24, 1))
    for row, order in zip(numbers, permutations(range(len(COLOURS)))):
        card = np.array(order)[colour] * values + value
        row[:COLOUR_CARDS] = card
        for by in range(PLAYERS - 1):
            first = PLAY + by * NUM_CARDS
            row[first : first + COLOUR_CARDS] = first + card
    return numbers


_EXCHANGES = _exchanges()
_LEFT_OF_PINK_NINE = CrewTokenizer.vocab.index("left_of_pink9_wins_all_pink")


def _pink(tokens: list[int]) -> bool:
    """Return whether the own hand was listed last, so that the token for the holder of the pink 9 is next."""
    return len(tokens) > 10 and max(tokens[-10:]) < NUM_CARDS


def make(game: Crew) -> CrewTokenizer:
    return CrewTokenizer(game)


def fast(game: Crew) -> FastCrew:
    return FastCrew(game)
