"""Token sequences of Hanabi games in lockstep, the input of a transformer belief.

The forms pomdp, hmm and fosg are defined in belief/hanabi/process.py. Only in a pomdp does a seat observe the game; a
sequence is then the one that the tokenizer gives for that seat. In the forms hmm and fosg a sequence has public
information only, with seats counted from seat 0: each move, followed by the card that was played or discarded, or by
the slots that a hint named. Dealt and drawn cards have no tokens there, because they are not public.
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
            process: Markov system of Hanabi (belief/hanabi/process.py).
            x: n tables at the first position.
        """
        rules, self._codec = process.rules, _core.hanabi.Codec(process.rules)
        self._process, self._public = process, process.form is not Form.POMDP
        self._own = 0 if self._public else process.seat  # seat from which seats are counted
        # Token of a move: [distance from the own seat to the actor, action].
        others = [[self._codec.token(a, offset) for a in range(rules.actions)] for offset in range(1, rules.players)]
        self._moves = np.array([range(rules.actions), *others])
        # Hints by action: distance from the giver to the receiver, and the kinds of the hinted colour or rank. Both
        # are 0 for plays and discards.
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
        all_rows = np.arange(len(x))
        self._append(all_rows, np.full(len(x), self._codec.seat + self._own))
        if not self._public:
            for offset in range(1, rules.players):
                for card in x.hands()[:, (self._own + offset) % rules.players].T:
                    self._append(all_rows, self._codec.card + card.astype(np.int64))

    def move(self, before: Tables, actions: np.ndarray, after: Tables) -> None:
        """Append the tokens of a move at every table that was not over before it.

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
        # A played or discarded card is the one whose count among the cards not yet played or discarded falls.
        shown_card = codec.card + (before.unseen_counts() - after.unseen_counts())[rows].argmax(axis=1)
        receiver = (actors + self._offset[moves]) % rules.players
        # After a hint, a card may be of the hinted colour or rank if and only if the hint named it.
        possible = after.possible()[rows, receiver]
        is_named = (possible & self._named[moves][:, None]).any(axis=2)
        slots = codec.slots + (is_named << np.arange(rules.hand)).sum(axis=1)
        is_hint = moves >= 2 * rules.hand
        if self._public:
            return np.where(is_hint, slots, shown_card)
        # A seat sees the slots of hints to itself, its own played or discarded cards, and the cards that others draw.
        hands = after.hands()[rows, actors].astype(np.int64)
        hand_size = (hands >= 0).sum(axis=1)
        drawn_card = np.where(
            hand_size == (before.hands()[rows, actors] >= 0).sum(axis=1),
            codec.card + np.take_along_axis(hands, np.maximum(hand_size - 1, 0)[:, None], axis=1)[:, 0],
            -1,
        )
        own_slots = np.where(receiver == self._own, slots, -1)
        return np.where(is_hint, own_slots, np.where(actors == self._own, shown_card, drawn_card))

    def _append(self, rows: np.ndarray, tokens: np.ndarray) -> None:
        """Append one token, int64 [k], to each of the sequences `rows`, int64 [k]; -1 appends nothing."""
        rows, tokens = rows[tokens >= 0], tokens[tokens >= 0]
        self.tokens[rows, self.lengths[rows]] = tokens
        self.lengths[rows] += 1


def longest(process: HanabiProcess) -> int:
    """Return the largest number of tokens of a sequence.

    Args:
        process: Markov system of Hanabi (belief/hanabi/process.py).
    """
    rules = process.rules
    if process.form is Form.POMDP:
        return _core.hanabi.Codec(rules).length
    # Plays and discards: one for each drawn card, and one for each player after the last draw. Each of them allows at
    # most one more hint. The sequence begins with a token for the seat, and each move has two tokens.
    plays_and_discards = rules.deck - rules.players * rules.hand + rules.players
    return 1 + 2 * (2 * plays_and_discards + rules.hints)


def initial_embeddings(process: HanabiProcess) -> tuple[np.ndarray, np.ndarray]:
    """Return feature vectors of the tokens and positions of these sequences; see Tokenizer.initial_embeddings.

    Args:
        process: Markov system of Hanabi (belief/hanabi/process.py).

    Returns:
        For the V tokens of the vocabulary, vectors of length F, float32 [V, F]. For the positions, vectors of length P,
        float32 [longest, P].
    """
    return hanabi.initial_embeddings(process.rules, longest(process))
