"""What was seen of games of Hanabi so far, as tokens of its tokenizer: what a transformer reads.

In the form pomdp a sequence is the tokenizer's, of the seat that looks on. In the public forms hmm and fosg only what
everybody sees is in it, in the words of seat 0: each move, after a play or a discard the card that it was, after a
hint the slots that it names. What only one seat sees, the others' cards when they are dealt or drawn, has no token
there, and that cards are drawn goes without saying."""

from __future__ import annotations

import copy

import numpy as np

from trickformer import _core
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables
from trickformer.games.hanabi import hint
from trickformer.tokenizers import hanabi


class SeatTokens:
    """Of games in step. `tokens`: int64 [n, L], 0 beyond the end of a sequence; `lengths`: int64 [n].

    No hidden card is read, only what follows from what is seen."""

    def __init__(self, process: HanabiProcess, x: Tables):
        rules, self._codec = process.rules, _core.hanabi.Codec(process.rules)
        self._process, self._public = process, process.form is not Form.POMDP
        self._own = 0 if self._public else process.seat
        # By actor, counted from the own seat, and action.
        others = [[self._codec.token(a, offset) for a in range(rules.actions)] for offset in range(1, rules.players)]
        self._moves = np.array([range(rules.actions), *others])
        # By action: the places from the giver to the receiver of a hint, and the kinds of card that it names.
        self._offset = np.zeros(rules.actions, dtype=np.int64)
        self._named = np.zeros((rules.actions, rules.kinds), dtype=bool)
        kinds = np.arange(rules.kinds)
        for action in range(2 * rules.hand, rules.actions):
            self._offset[action], colour, rank = hint(rules, action)
            self._named[action] = kinds % rules.ranks == rank if colour is None else kinds // rules.ranks == colour
        self.tokens = np.zeros((len(x), longest(process)), dtype=np.int64)
        self.lengths = np.zeros(len(x), dtype=np.int64)
        every = np.arange(len(x))
        self._append(every, np.full(len(x), self._codec.seat + self._own))
        if not self._public:
            for offset in range(1, rules.players):
                for card in x.hands()[:, (self._own + offset) % rules.players].T:
                    self._append(every, self._codec.card + card.astype(np.int64))

    def move(self, before: Tables, actions: np.ndarray, after: Tables) -> None:
        """A move, int64 [n], at every table where the game was not over."""
        rows = np.flatnonzero(before.current() >= 0)
        actors, done = before.current()[rows].astype(np.int64), actions[rows]
        self._append(rows, self._moves[(actors - self._own) % self._process.rules.players, done])
        self._append(rows, self._reveal_tokens(before, done, after, actors, rows))

    def take(self, rows: np.ndarray) -> SeatTokens:
        """These games alone."""
        taken = copy.copy(self)
        taken.tokens, taken.lengths = self.tokens[rows], self.lengths[rows]
        return taken

    def _reveal_tokens(
        self, before: Tables, done: np.ndarray, after: Tables, actors: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """int64 [k]: what the moves at the tables `rows` show, as a token; -1 for nothing."""
        rules, codec = self._process.rules, self._codec
        # A card played or discarded is no longer unseen by all.
        shown = codec.card + (before.unseen_counts() - after.unseen_counts())[rows].argmax(axis=1)
        receiver = (actors + self._offset[done]) % rules.players
        # After a hint a card may be of the named kinds if it was named, and only then.
        may_be = after.possible()[rows, receiver]
        named = (may_be & self._named[done][:, None]).any(axis=2)
        slots = codec.slots + (named << np.arange(rules.hand)).sum(axis=1)
        hinted = done >= 2 * rules.hand
        if self._public:
            return np.where(hinted, slots, shown)
        hands = after.hands()[rows, actors].astype(np.int64)
        held = (hands >= 0).sum(axis=1)
        drawn = np.where(
            held == (before.hands()[rows, actors] >= 0).sum(axis=1),
            codec.card + np.take_along_axis(hands, np.maximum(held - 1, 0)[:, None], axis=1)[:, 0],
            -1,
        )
        told = np.where(receiver == self._own, slots, -1)
        return np.where(hinted, told, np.where(actors == self._own, shown, drawn))

    def _append(self, rows: np.ndarray, tokens: np.ndarray) -> None:
        """A token, int64 [k], to each of these sequences; none where it is -1."""
        rows, tokens = rows[tokens >= 0], tokens[tokens >= 0]
        self.tokens[rows, self.lengths[rows]] = tokens
        self.lengths[rows] += 1


def longest(process: HanabiProcess) -> int:
    """The most tokens of a sequence."""
    rules = process.rules
    if process.form is Form.POMDP:
        return _core.hanabi.Codec(rules).length
    # After the last draw everybody has one more turn; a card that leaves a hand brings back one hint at most.
    cards = rules.deck - rules.players * rules.hand + rules.players
    return 1 + 2 * (2 * cards + rules.hints)


def initial_embeddings(process: HanabiProcess) -> tuple[np.ndarray, np.ndarray]:
    """What makes tokens and positions of a process's sequences alike: float32 [V, F] and float32 [longest, G]."""
    return hanabi.initial_embeddings(process.rules, longest(process))
