"""Hanabi as a batched Markov system in three forms: what is hidden, what is seen, and how it moves on.

A Markov variable X moves on by X' ~ dynamics(X, Z), where a control Z comes from outside; each X shows an emission Y.
The belief is the distribution of X given all Y and Z so far (Belief Fine-Tuning, section 2.4 and Table 1):

    form    X                                  Y                     Z
    hmm     the state; all policies fixed      what everybody sees   nothing
    pomdp   the state; the others' are fixed   what one seat sees    that seat's action, nothing where another acts
    fosg    the state                          what everybody sees   the policy of the seat that acts

X is a batch of the core's tables, for a table holds the whole state, and the scripted players' memory is public. In
the forms hmm and fosg both hands are hidden and the emission is what everybody sees; in a pomdp only the hand of the
seat is."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch

from trickformer import _core
from trickformer.base import PUBLIC
from trickformer.belief.hanabi.learned import CardConstraints

Tables: TypeAlias = _core.hanabi.Tables
TRAITS = 3  # of a kind: it can be played now, it is of no use any more, it is the last of one still wanted
TOLD = 2  # of a card: a hint has named its colour, its rank


class Form(enum.StrEnum):
    """How a game is seen from outside: whose policies are fixed, and what is observed."""

    HMM = "hmm"
    POMDP = "pomdp"
    FOSG = "fosg"

    def observer(self, seat: int) -> int:
        """Whose view the emission is: `seat`'s in a POMDP, else the public one."""
        return seat if self is Form.POMDP else PUBLIC


class HanabiProcess:
    """Scripted players at many tables of Hanabi.

    players: the fixed policies, one name of `_core.hanabi.BOTS` a seat. Controls are int64 [n]: nothing in an hmm; in
    a pomdp the action of `seat` where it acts, else -1; in a fosg the number of the policy that acts: a scripted
    player's, or that of a decision rule (`prefer`)."""

    def __init__(self, rules: _core.hanabi.Rules, form: Form, players: Sequence[str], seat: int = 0):
        if len(players) != rules.players:
            raise ValueError(f"{rules.players} players, not {len(players)}")
        self.rules, self.form, self.seat = rules, form, seat
        self.players = np.array([_core.hanabi.BOTS.index(name) for name in players], dtype=np.int8)
        self._hands = (rules.players - 1) * rules.hand * rules.kinds  # numbers of an observation that show hands
        # The seats whose hands are hidden.
        self.owners = [seat] if form is Form.POMDP else list(range(rules.players))
        self.slots = len(self.owners) * rules.hand
        self.features = rules.observation - (0 if form is Form.POMDP else self._hands)
        self.traits, self.told = TRAITS, TOLD
        self.controls = rules.actions if form is Form.POMDP else 0  # kinds that a network reads

    def start(self, seed: int, first: int, n: int) -> Tables:
        """Games `first` .. `first` + n - 1 of the series `seed`."""
        return Tables(self.rules, seed, first, n)

    def emission(self, x: Tables) -> np.ndarray:
        """float32 [n, features]: OpenSpiel's canonical encoding as the seat sees it, in the public forms as seat 0
        sees it without the hands."""
        seen = x.observe(np.full(len(x), self.seat if self.form is Form.POMDP else 0, dtype=np.int8))
        return seen if self.form is Form.POMDP else seen[:, self._hands :]

    def hidden_cards(self, x: Tables) -> np.ndarray:
        """int8 [n, slots]: the hidden cards, by seat and the oldest first; -1 where there is none."""
        return x.hands()[:, self.owners].reshape(len(x), -1)

    def card_constraints(self, x: Tables) -> tuple[np.ndarray, np.ndarray]:
        """bool [n, slots, kinds], what hints leave possible; float32 [n, kinds], the cards that may be in a hidden
        hand."""
        possible = x.possible()[:, self.owners].reshape(len(x), self.slots, -1)
        counts = x.unseen_counts()
        seen = [p for p in range(self.rules.players) if p not in self.owners]
        for card in x.hands()[:, seen].reshape(len(x), -1).T if seen else ():
            there = card >= 0
            counts[there, card[there]] -= 1
        return possible, counts

    def tensors(self, x: Tables, device: torch.device) -> CardConstraints:
        """What `known` says, as a network takes it, on a device."""
        possible, counts = self.card_constraints(x)
        told = x.hint_bits()[:, self.owners].reshape(len(x), self.slots, TOLD)
        return CardConstraints(*map(torch.from_numpy, (possible, counts, x.traits(), told))).to(device)

    def worlds(self, x: Tables, rows: np.ndarray, hidden: np.ndarray, seed: int) -> tuple[Tables, np.ndarray]:
        """The tables `rows` of x with other hidden cards, int8 [k, slots], and the deck shuffled; bool [k]: whether
        cards and hints allow it. Where they do not, a table is as it was, and must not be used."""
        worlds = x.take(rows)
        return worlds, worlds.redeal(self.to_hands(hidden), seed)

    def possible(self, x: Tables, hidden: np.ndarray, seed: int) -> Tables:
        """Those of the worlds of one table, int8 [k, slots], that can be."""
        worlds, feasible = self.worlds(x, np.zeros(len(hidden), dtype=np.int64), hidden, seed)
        return worlds.take(np.flatnonzero(feasible))

    def to_hands(self, hidden: np.ndarray) -> np.ndarray:
        """int8 [k, players, hand]: hidden cards, int8 [k, slots], as tables take them; -1 where a hand is seen."""
        hands = np.full((len(hidden), self.rules.players, self.rules.hand), -1, dtype=np.int8)
        hands[:, self.owners] = hidden.reshape(len(hidden), len(self.owners), self.rules.hand)
        return hands

    def acting_policy(self, x: Tables, control: np.ndarray | None) -> np.ndarray:
        """int64 [n]: the number of the policy that acts at each table; where the control is an action, it does not
        matter."""
        if self.form is Form.FOSG:
            assert control is not None
            return control
        return self.players[np.maximum(x.current(), 0)].astype(np.int64)

    def move(self, x: Tables, control: np.ndarray | None, seed: int, first: int = 0) -> tuple[Tables, np.ndarray]:
        """X' ~ dynamics(X, Z) at every table, and the actions taken, int64 [n]; -1 where a game was over. x stays as
        it is. Table i draws by seed, `first` + i and the number of its moves so far.

        Raises ValueError where the action of a control is illegal."""
        actions = choose_actions(x, self.acting_policy(x, control), seed, first)
        if self.form is Form.POMDP and control is not None:
            given = (control >= 0) & (actions >= 0)
            actions[given] = control[given]
        after = x.take(np.arange(len(x)))
        after.step(actions)
        return after, actions


def at_seat(hands: np.ndarray, seat: int | np.ndarray, players: int) -> np.ndarray:
    """int8 [m, players, hand]: these hands, [m, hand], at one seat, or each at its own, [m], as tables take them; -1 at
    the others."""
    dealt = np.full((len(hands), players, hands.shape[1]), -1, dtype=np.int8)
    dealt[np.arange(len(hands)), seat] = hands
    return dealt


def prefer(action: int, bot: int) -> int:
    """The number of a decision rule as a policy: the action where it is legal, else what a scripted player does."""
    return len(_core.hanabi.BOTS) * (1 + action) + bot


def split_policies(policies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The scripted players of policies, int8 [n], and the actions that they prefer, int64 [n], -1 for none."""
    actions, bots = np.divmod(policies, len(_core.hanabi.BOTS))
    return bots.astype(np.int8), actions.astype(np.int64) - 1


def choose_actions(x: Tables, policies: np.ndarray, seed: int, first: int = 0) -> np.ndarray:
    """int64 [n]: what policies, int64 [n], do at every table, -1 where a game is over; draws as `Tables.choose`."""
    bots, preferred = split_policies(policies)
    actions = x.choose(bots, seed, first)
    if (preferred >= 0).any():
        may = x.legal()[np.arange(len(x)), np.maximum(preferred, 0)] & (preferred >= 0)
        actions[may] = preferred[may]
    return actions


def policy_given_hands(x: Tables, row: int, dealt: np.ndarray, policy: int) -> np.ndarray:
    """float32 [m, actions]: what a policy does at one table were the hands these, int8 [m, players, hand] with -1 where
    a slot stays; nothing where hints rule them out."""
    worlds = x.take(np.full(len(dealt), row))
    feasible = worlds.suppose(dealt)
    (bot,), (preferred,) = split_policies(np.array([policy]))
    probs = worlds.policy(np.full(len(dealt), bot, dtype=np.int8))
    if preferred >= 0:
        may = worlds.legal()[:, preferred]
        probs[may] = np.arange(probs.shape[1]) == preferred
    return probs * feasible[:, None]


def revealed_card(before: Tables, after: Tables, row: int) -> int:
    """The card that a play or discard at this table has shown to everybody."""
    return int((before.unseen_counts()[row] - after.unseen_counts()[row]).argmax())
