"""Games of Hanabi so far as tokens, the input of a transformer.

In the form pomdp a sequence is the tokenizer's, for the observing seat. In the public forms hmm and fosg it holds only
public information, in the words of seat 0: each move, after a play or a discard the card, after a hint the slots that
it names. The others' cards, when they are dealt or drawn, have no token there, because only one seat sees them.
"""

from __future__ import annotations

import copy

import numpy as np

from trickformer import _core
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables
from trickformer.games.hanabi import hint
from trickformer.tokenizers import hanabi


class SeatTokens:
    """Token sequences of games in lockstep. No hidden card is read.

    Attributes:
        tokens: int64 [n, L], 0 beyond the end of a sequence.
        lengths: int64 [n].
    """

    def __init__(self, process: HanabiProcess, x: Tables):
        """Begin the sequences.

        Args:
            process: System whose games are followed.
            x: n tables at the first position.
        """
        rules, self._codec = process.rules, _core.hanabi.Codec(process.rules)
        self._process, self._public = process, process.form is not Form.POMDP
        self._own = 0 if self._public else process.seat
        # Tokens of moves by actor, counted from the own seat, and action.
        others = [[self._codec.token(a, offset) for a in range(rules.actions)] for offset in range(1, rules.players)]
        self._moves = np.array([range(rules.actions), *others])
        # By action: the seats from the giver to the receiver of a hint, and the kinds of card that it names.
        self._offset = np.zeros(rules.actions, dtype=np.int64)
        self._named = np.zeros((rules.actions, rules.kinds), dtype=bool)
        kinds = np.arange(rules.kinds)
        for action in range(2 * rules.hand, rules.actions):
            clue = hint(rules, action)
            self._offset[action] = clue.offset
            by_rank = kinds % rules.ranks == clue.rank
            self._named[action] = by_rank if clue.color is None else kinds // rules.ranks == clue.color
        self.tokens = np.zeros((len(x), longest(process)), dtype=np.int64)
        self.lengths = np.zeros(len(x), dtype=np.int64)
        every = np.arange(len(x))
        self._append(every, np.full(len(x), self._codec.seat + self._own))
        if not self._public:
            for offset in range(1, rules.players):
                for card in x.hands()[:, (self._own + offset) % rules.players].T:
                    self._append(every, self._codec.card + card.astype(np.int64))

    def move(self, before: Tables, actions: np.ndarray, after: Tables) -> None:
        """Append the tokens of a move at every table whose game was not over.

        Args:
            before: n tables before the move.
            actions: int64 [n].
            after: n tables after the move.
        """
        rows = np.flatnonzero(before.current() >= 0)
        actors, moves = before.current()[rows].astype(np.int64), actions[rows]
        self._append(rows, self._moves[(actors - self._own) % self._process.rules.players, moves])
        self._append(rows, self._reveal_tokens(before, moves, after, actors, rows))

    def take(self, rows: np.ndarray) -> SeatTokens:
        """Return the sequences of some of the games.

        Args:
            rows: Indices of the games.
        """
        copied = copy.copy(self)
        copied.tokens, copied.lengths = self.tokens[rows], self.lengths[rows]
        return copied

    def _reveal_tokens(
        self, before: Tables, moves: np.ndarray, after: Tables, actors: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """Return the token that each move reveals at the tables `rows`, int64 [k]; -1 for none."""
        rules, codec = self._process.rules, self._codec
        # A card that is played or discarded leaves the cards that are unseen by all.
        shown = codec.card + (before.unseen_counts() - after.unseen_counts())[rows].argmax(axis=1)
        receiver = (actors + self._offset[moves]) % rules.players
        # After a hint exactly the cards that it names can be of the named kinds.
        may_be = after.possible()[rows, receiver]
        named = (may_be & self._named[moves][:, None]).any(axis=2)
        slots = codec.slots + (named << np.arange(rules.hand)).sum(axis=1)
        hinted = moves >= 2 * rules.hand
        if self._public:
            return np.where(hinted, slots, shown)
        hands = after.hands()[rows, actors].astype(np.int64)
        held = (hands >= 0).sum(axis=1)
        drawn = np.where(
            held == (before.hands()[rows, actors] >= 0).sum(axis=1),
            codec.card + np.take_along_axis(hands, np.maximum(held - 1, 0)[:, None], axis=1)[:, 0],
            -1,
        )
        received = np.where(receiver == self._own, slots, -1)
        return np.where(hinted, received, np.where(actors == self._own, shown, drawn))

    def _append(self, rows: np.ndarray, tokens: np.ndarray) -> None:
        """Append tokens, int64 [k], to the sequences `rows`; -1 appends none."""
        rows, tokens = rows[tokens >= 0], tokens[tokens >= 0]
        self.tokens[rows, self.lengths[rows]] = tokens
        self.lengths[rows] += 1


def longest(process: HanabiProcess) -> int:
    """Return the largest number of tokens of a sequence.

    Args:
        process: System whose games are followed.
    """
    rules = process.rules
    if process.form is Form.POMDP:
        return _core.hanabi.Codec(rules).length
    # After the last draw everybody has one more turn; a card that leaves a hand brings back one hint at most.
    cards = rules.deck - rules.players * rules.hand + rules.players
    return 1 + 2 * (2 * cards + rules.hints)


def initial_embeddings(process: HanabiProcess) -> tuple[np.ndarray, np.ndarray]:
    """Return traits of the tokens and positions of a process's sequences; see Tokenizer.initial_embeddings.

    Args:
        process: System whose games are followed.

    Returns:
        float32 [V, F] and float32 [longest, G].
    """
    return hanabi.initial_embeddings(process.rules, longest(process))
