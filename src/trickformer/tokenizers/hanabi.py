"""Hanabi as tokens. cpp/hanabi/tokens.hpp gives the order of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import permutations
from math import factorial

import numpy as np

from trickformer import _core
from trickformer.base import CHANCE, PUBLIC, BulkHands, Event, TrickformerError, View, position_waves
from trickformer.games.hanabi import COLORS, Hanabi, card_name, hint
from trickformer.tokenizers._bulk import CoreGame, deals
from trickformer.tokenizers._by_number import ByNumber


class HanabiTokenizer(ByNumber):
    """Tokens of Hanabi: 99 for two players with five cards each, and 130, 131 and 152 for three, four and five players.

    For two players with seven cards there are 203, because a hint can touch more sets of slots. The class refuses rules
    that need more than 256 tokens.
    """

    def __init__(self, game: Hanabi):
        rules = self.rules = game.rules
        try:
            self.codec = _core.hanabi.Codec(rules)
        except ValueError as e:
            raise TrickformerError(f"game {str(game.spiel)!r}: {e}") from None
        self.eos: int = self.codec.end
        self.n_actions: int = rules.actions
        self.n_positions: int = self.codec.length
        self.vocab: tuple[str, ...] = tuple(_vocabulary(rules))
        self.n_features: int = self.codec.tracker().n_features
        self.script_features = self.codec.tracker().script_features

    features_version = "hanabi-2"  # raised when a feature in cpp/hanabi/features.hpp changes its meaning

    def encode(self, view: View) -> np.ndarray:
        own = view.viewer
        codec, rules = self.codec, self.rules
        if own == PUBLIC:
            raise ValueError("tokens encode the view of a seat, not the public view")
        tokens = [codec.seat + own]
        for event in view.events:
            action = event.action
            if action is None:
                tokens += [codec.card + card for card in event.seen]
            elif event.actor == CHANCE:
                tokens.append(codec.card + action)
            elif event.actor == own:
                tokens.append(action)
                if action < 2 * rules.hand:  # a discard or a play, which reveals the card
                    tokens.append(codec.card + event.seen[0])
            else:
                offset = (event.actor - own) % rules.players
                tokens.append(codec.token(action, offset))
                # A hint to the own seat reveals the slots that it touches.
                if action >= 2 * rules.hand and (offset + hint(rules, action).offset) % rules.players == 0:
                    tokens.append(codec.slots + sum(1 << slot for slot in event.seen))
        sequence = np.array(tokens, dtype=np.int32)
        return np.append(sequence, np.int32(self.eos)) if codec.over(sequence) else sequence

    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        return tuple(Event(*event) for event in self.codec.events(np.asarray(tokens, dtype=np.int32)))

    def initial_embeddings(self) -> tuple[np.ndarray, np.ndarray]:
        return initial_embeddings(self.rules, self.n_positions)


class FastHanabi(CoreGame):
    """Fast form of Hanabi. Augmentation permutes the colours."""

    augments = True

    def __init__(self, game: Hanabi, tokenizer: HanabiTokenizer):
        super().__init__(tokenizer.codec)
        self._game, self._vocab = game, tokenizer.vocab

    @cached_property
    def _permutations(self) -> np.ndarray:  # cached and lazy: it takes milliseconds, and only training needs it
        return _colour_permutations(self._vocab, self._game.rules.colors)

    def augment(self, tokens: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        permutation = self._permutations[rng.integers(len(self._permutations), size=len(tokens))]
        return np.take_along_axis(permutation, tokens.astype(np.int64), axis=1), permutation

    def tables(self, seed: int, first: int, n: int) -> _core.hanabi.TokenTables:
        return _core.hanabi.TokenTables(self._codec, deals(self._game.chance_actions, seed, first, n))

    def core_hands(
        self, cast: Sequence[str], seed: int, first: int, n: int, tries: int = 1, noise: float = 0.0
    ) -> BulkHands | None:
        if not set(cast) <= {"random", "partner"}:
            return None
        bots = np.full(self._game.rules.players, _core.hanabi.BOTS.index("smart"), dtype=np.int8)
        random_share = cast.count("random") / len(cast)
        games = _core.hanabi.scripted_games(self._game.rules, bots, seed, first, n, random_share, noise)
        history = np.concatenate(games[:2], axis=1)  # deck and moves
        return BulkHands(self, history, np.repeat(games[2][:, None], self._game.rules.players, axis=1))


def _vocabulary(rules: _core.hanabi.Rules) -> list[str]:
    """List the names of the tokens in the order of cpp/hanabi/tokens.hpp.

    Seats are counted from the own seat, slots from 1.
    """
    colors, ranks = COLORS[: rules.colors], [str(rank + 1) for rank in range(rules.ranks)]
    moves = [f"{kind}-{slot + 1}" for kind in ("discard", "play") for slot in range(rules.hand)]
    receivers = ("me",) if rules.players == 2 else ("me", *(f"+{p}" for p in range(1, rules.players)))
    return [
        *moves,
        *(f"hint-+{p}-{value}" for values in (colors, ranks) for p in range(1, rules.players) for value in values),
        *(f"other:{move}" for move in moves),
        *(f"other:hint-{p}-{value}" for values in (colors, ranks) for p in receivers for value in values),
        *(card_name(rules, card) for card in range(rules.kinds)),
        *(
            "slots" + "".join(f"-{i + 1}" for i in range(rules.hand) if slots >> i & 1)
            for slots in range(1, 1 << rules.hand)
        ),
        *(f"seat{p}" for p in range(rules.players)),
        "eos",
    ]


def _colour_permutations(vocab: Sequence[str], colors: int) -> np.ndarray:
    """Return the new number of each token for every permutation of the colours, int64 [colors!, V]."""
    number = {name: token for token, name in enumerate(vocab)}
    rows = np.tile(np.arange(len(vocab)), (factorial(colors), 1))
    for row, order in zip(rows, permutations(COLORS[:colors])):
        new_colour = dict(zip(COLORS, order))
        for name, token in number.items():
            at = name.rfind("-") + 1  # where the colour of a card or of a hint stands
            if name[at] in new_colour:
                row[token] = number[name[:at] + new_colour[name[at]] + name[at + 1 :]]
    return rows


def initial_embeddings(rules: _core.hanabi.Rules, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of tokens and of positions, from which embeddings start.

    A token has a column for each part of its name, such as kind, slot, colour, rank or seat, and a column of its own.

    Args:
        rules: Rules of the core.
        length: Number of positions.

    Returns:
        float32 [V, F] and float32 [length, G].
    """
    names = [name.replace(":", "-").split("-") for name in _vocabulary(rules)]
    index = {part: i for i, part in enumerate(sorted({part for name in names for part in _parts(name)}))}
    tokens = np.zeros((len(names), len(index) + len(names)), dtype=np.float32)
    for token, name in enumerate(names):
        for part in _parts(name):
            tokens[token, index[part]] = 1
        tokens[token, len(index) + token] = 1
    return tokens, position_waves(length)


def _parts(name: list[str]) -> list[str]:
    """Return the parts that the name of a token shares with others: colour and rank of a card, or words of a move."""
    return list(name[0]) if name[0][0] in COLORS else name


def make(game: Hanabi) -> HanabiTokenizer:
    return HanabiTokenizer(game)


def fast(game: Hanabi) -> FastHanabi:
    return FastHanabi(game, make(game))
