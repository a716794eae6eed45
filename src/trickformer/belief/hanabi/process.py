"""Hanabi as a batched Markov system in three forms, which differ in the hidden state, the emission and the control.

The hidden state X changes by X' ~ dynamics(X, Z). The control Z is the part of the next move that somebody outside
the system chooses: the move itself, or the policy that makes it. Each X emits an observation Y. The belief is the
distribution of X given all Y and Z so far. The forms are those of the BFT paper (section 2.4, Table 1): a hidden Markov
model (hmm), a partially observable Markov decision process (pomdp), and a factored-observation stochastic game (fosg).

    form    X                              Y                   Z
    hmm     state; all policies fixed      public observation  none
    pomdp   state; other policies fixed    one seat's view     that seat's action; none if another seat acts
    fosg    state                          public observation  policy of the seat that acts

X is a batch of the core's tables. A table holds the whole state of a game, because the players have no private memory:
they are scripted players, or networks without an LSTM (policies.py). In the forms hmm and fosg both hands are hidden,
in a pomdp only the hand of the observing seat.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from trickformer import _core

if TYPE_CHECKING:
    import torch

    from trickformer.belief.hanabi.learned import CardConstraints
    from trickformer.belief.hanabi.policies import NetworkPolicy

Tables: TypeAlias = _core.hanabi.Tables
TRAITS = 3  # traits of a kind: it can be played now, it is useless, it is the last copy of a useful one
HINT_BITS = 2  # bits of a card: a hint has named its colour, a hint has named its rank


class Form(enum.StrEnum):
    """Form of the Markov system: which policies are fixed, and which view is observed."""

    HMM = "hmm"
    POMDP = "pomdp"
    FOSG = "fosg"


class HanabiProcess:
    """Markov system of Hanabi with scripted players or networks. Its functions work on n tables at once.

    Controls are int64 [n], or None in an hmm. In a pomdp a control is the action of `seat` if it acts, else -1. In a
    fosg a control is the number of the policy that acts. Scripted players have their index in `_core.hanabi.BOTS`. The
    rules of `prefer` have the numbers above them, and the networks among the players those above all rules.

    Attributes:
        players: Numbers of the fixed policies, int64 [players].
        owners: Seats whose hands are hidden.
        slots: Number of slots in these hands.
        features: Length of an emission.
        traits: Number of traits of a kind of card.
        hint_bits: Number of hint bits of a card.
        controls: Number of controls that a network reads.
    """

    def __init__(self, rules: _core.hanabi.Rules, form: Form, players: Sequence[str | NetworkPolicy], seat: int = 0):
        """Set up the system.

        Args:
            rules: Rules of the core.
            form: Form of the Markov system.
            players: Fixed policy of each seat: the name of a scripted player in `_core.hanabi.BOTS`, or a network.
            seat: Observing seat in a pomdp.

        Raises:
            ValueError: The number of players does not fit the rules.
        """
        if len(players) != rules.players:
            raise ValueError(f"the rules are for {rules.players} players, not {len(players)}")
        self.rules = rules
        self.form = form
        self.seat = seat
        self._policies = tuple(players)
        self._networks = list(dict.fromkeys(p for p in players if not isinstance(p, str)))
        self._first_network = prefer(rules.actions, 0)  # number of the first network
        self.players = np.array([self._number(player) for player in players], dtype=np.int64)
        self._hands = (rules.players - 1) * rules.hand * rules.kinds  # entries of an observation that show hands
        self.owners = [seat] if form is Form.POMDP else list(range(rules.players))
        self.slots = len(self.owners) * rules.hand
        self.features = rules.observation - (0 if form is Form.POMDP else self._hands)
        self.traits, self.hint_bits = TRAITS, HINT_BITS
        self.controls = rules.actions if form is Form.POMDP else 0

    def with_fixed_policies(self) -> HanabiProcess:
        """Return the system in the form hmm, in which all seats keep the policies of the players."""
        return HanabiProcess(self.rules, Form.HMM, self._policies)

    def identities(self) -> list[str]:
        """Return a text for each seat that tells its policy from others: a script's name, or a network's `identity`."""
        return [policy if isinstance(policy, str) else policy.identity for policy in self._policies]

    def start(self, seed: int, first: int, n: int) -> Tables:
        """Deal games of a series.

        Args:
            seed: The series.
            first: Number of the first game in the series.
            n: Number of games.
        """
        return Tables(self.rules, seed, first, n)

    def emission(self, x: Tables) -> np.ndarray:
        """Return the emissions in OpenSpiel's canonical encoding of observations.

        In a pomdp the encoding is for the observing seat. In the other forms it is for seat 0, without the hands.

        Args:
            x: n tables.

        Returns:
            float32 [n, features].
        """
        observations = x.observe(np.full(len(x), self.seat if self.form is Form.POMDP else 0, dtype=np.int8))
        return observations if self.form is Form.POMDP else observations[:, self._hands :]

    def hidden_cards(self, x: Tables) -> np.ndarray:
        """Return the hidden cards, hand by hand, the oldest card of a hand first.

        Args:
            x: n tables.

        Returns:
            int8 [n, slots]; -1 for a slot without a card.
        """
        return x.hands()[:, self.owners].reshape(len(x), -1)

    def card_constraints(self, x: Tables) -> tuple[np.ndarray, np.ndarray]:
        """Return the constraints of rules and hints on the hidden cards.

        Args:
            x: n tables.

        Returns:
            The kinds that hints allow, bool [n, slots, kinds], and the number of cards of each kind that may be in a
            hidden hand, float32 [n, kinds].
        """
        possible = x.possible()[:, self.owners].reshape(len(x), self.slots, -1)
        counts = x.unseen_counts()
        visible_seats = [p for p in range(self.rules.players) if p not in self.owners]
        for card in x.hands()[:, visible_seats].reshape(len(x), -1).T if visible_seats else ():
            has_card = card >= 0
            counts[has_card, card[has_card]] -= 1
        return possible, counts

    def tensors(self, x: Tables, device: torch.device) -> CardConstraints:
        """Return the constraints on the hidden cards as tensors.

        Args:
            x: n tables.
            device: Device of the tensors.
        """
        import torch  # takes seconds, and searches on the exact belief do without

        from trickformer.belief.hanabi.learned import CardConstraints

        possible, counts = self.card_constraints(x)
        hint_bits = x.hint_bits()[:, self.owners].reshape(len(x), self.slots, HINT_BITS)
        return CardConstraints(*map(torch.from_numpy, (possible, counts, x.traits(), hint_bits))).to(device)

    def worlds(self, x: Tables, rows: np.ndarray, hidden: np.ndarray, seed: int) -> tuple[Tables, np.ndarray]:
        """Replace the hidden cards of tables and shuffle the decks.

        Args:
            x: n tables.
            rows: int64 [k], indices of the tables to copy.
            hidden: int8 [k, slots], their new hidden cards.
            seed: Seed of the shuffles.

        Returns:
            k tables, and bool [k]: whether cards and hints allow the new cards. If they do not, the table is unchanged,
            so it contains the true cards and must not be used.
        """
        worlds = x.take(rows)
        return worlds, worlds.redeal(self.to_hands(hidden), seed)

    def possible(self, x: Tables, hidden: np.ndarray, seed: int) -> Tables:
        """Return the tables of some worlds, and drop impossible worlds.

        Args:
            x: One table.
            hidden: int8 [k, slots], hidden cards of the worlds.
            seed: Seed of the shuffles.
        """
        worlds, feasible = self.worlds(x, np.zeros(len(hidden), dtype=np.int64), hidden, seed)
        return worlds.take(np.flatnonzero(feasible))

    def to_hands(self, hidden: np.ndarray) -> np.ndarray:
        """Arrange hidden cards by seat, which is the layout that tables expect.

        Args:
            hidden: int8 [k, slots].

        Returns:
            int8 [k, players, hand]; -1 in the visible hands.
        """
        hands = np.full((len(hidden), self.rules.players, self.rules.hand), -1, dtype=np.int8)
        hands[:, self.owners] = hidden.reshape(len(hidden), len(self.owners), self.rules.hand)
        return hands

    def acting_policy(self, x: Tables, control: np.ndarray | None) -> np.ndarray:
        """Return the number of the policy that acts at each table.

        Args:
            x: n tables.
            control: int64 [n]; None in the form hmm.

        Returns:
            int64 [n]. In a pomdp the entry has no meaning if the observing seat acts.
        """
        if self.form is Form.FOSG:
            assert control is not None
            return control
        return self.players[np.maximum(x.current(), 0)]

    def choose(self, x: Tables, policies: np.ndarray, seed: int, first: int = 0) -> np.ndarray:
        """Choose an action at each table by a policy.

        The draw at table i depends on `seed`, `first` + i and the number of its moves so far. The draws of scripted
        players and rules are those of `Tables.choose`, and `NetworkPolicy` describes those of networks.

        Args:
            x: n tables.
            policies: Numbers of policies, int64 [n].
            seed: Seed of all randomness.
            first: Number of the first table.

        Returns:
            int64 [n]; -1 if a game is over.
        """
        is_network = policies >= self._first_network
        bots, preferred = split_policies(np.where(is_network, 0, policies))
        actions = x.choose(bots, seed, first)
        if (preferred >= 0).any():
            is_legal = x.legal()[np.arange(len(x)), np.maximum(preferred, 0)] & (preferred >= 0)
            actions[is_legal] = preferred[is_legal]
        for number in np.unique(policies[is_network]):
            rows = np.flatnonzero(policies == number)
            actions[rows] = self._network(number).choose(x.take(rows), seed, first + rows)
        return actions

    def policy_given_hands(self, x: Tables, row: int, dealt: np.ndarray, policy: int) -> np.ndarray:
        """Return a policy's probabilities of actions at one table, if the hands were different.

        Args:
            x: Tables.
            row: Index of the table.
            dealt: int8 [m, players, hand], the hands to assume; -1 keeps the present card.
            policy: Number of the policy.

        Returns:
            float32 [m, actions]; zeros if hints rule out the hands.
        """
        worlds = x.take(np.full(len(dealt), row))
        feasible = worlds.suppose(dealt)
        if policy >= self._first_network:
            return self._network(policy).probabilities(worlds).astype(np.float32) * feasible[:, None]
        (bot,), (preferred,) = split_policies(np.array([policy]))
        probs = worlds.policy(np.full(len(dealt), bot, dtype=np.int8))
        if preferred >= 0:
            is_legal = worlds.legal()[:, preferred]
            probs[is_legal] = np.arange(probs.shape[1]) == preferred
        return probs * feasible[:, None]

    def move(self, x: Tables, control: np.ndarray | None, seed: int, first: int = 0) -> tuple[Tables, np.ndarray]:
        """Draw X' ~ dynamics(X, Z) at every table.

        The draws of table i depend on `seed`, `first` + i and the number of its moves so far.

        Args:
            x: n tables, which stay unchanged.
            control: int64 [n]; None in the form hmm.
            seed: Seed of all randomness.
            first: Number of the first table.

        Returns:
            The tables after the move, and the actions, int64 [n]; -1 if a game was over.

        Raises:
            ValueError: The action of a control is illegal.
        """
        policies = self.acting_policy(x, control)
        if self.form is Form.POMDP and control is not None:
            # The control replaces the choice at these tables, so the cheapest policy, a script, may make it.
            actions = self.choose(x, np.where(control >= 0, _core.hanabi.BOTS.index("simple"), policies), seed, first)
            has_action = (control >= 0) & (actions >= 0)
            actions[has_action] = control[has_action]
        else:
            actions = self.choose(x, policies, seed, first)
        after = x.take(np.arange(len(x)))
        after.step(actions)
        return after, actions

    def _number(self, player: str | NetworkPolicy) -> int:
        """Return the number of a player's policy."""
        if isinstance(player, str):
            return _core.hanabi.BOTS.index(player)
        return self._first_network + self._networks.index(player)

    def _network(self, policy: int) -> NetworkPolicy:
        """Return the network with the number `policy`."""
        return self._networks[policy - self._first_network]


def at_seat(hands: np.ndarray, seat: int | np.ndarray, players: int) -> np.ndarray:
    """Arrange the hands of one seat in the layout that tables expect.

    Args:
        hands: int8 [m, hand].
        seat: The seat of all hands, or of each hand, [m].
        players: Number of seats.

    Returns:
        int8 [m, players, hand]; -1 at the other seats.
    """
    dealt = np.full((len(hands), players, hands.shape[1]), -1, dtype=np.int8)
    dealt[np.arange(len(hands)), seat] = hands
    return dealt


def prefer(action: int, bot: int) -> int:
    """Return the number of the rule "this action if it is legal, else a scripted player's choice".

    Args:
        action: The preferred action.
        bot: Number of the scripted player.
    """
    return len(_core.hanabi.BOTS) * (1 + action) + bot


def split_policies(policies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split numbers of policies into scripted players and preferred actions; the inverse of `prefer`.

    Args:
        policies: int64 [n], without networks.

    Returns:
        Scripted players, int8 [n], and preferred actions, int64 [n]; -1 for none.
    """
    actions, bots = np.divmod(policies, len(_core.hanabi.BOTS))
    return bots.astype(np.int8), actions.astype(np.int64) - 1


def revealed_card(before: Tables, after: Tables, row: int) -> int:
    """Return the kind of the card that was played or discarded.

    Args:
        before: Tables before the move.
        after: Tables after the move.
        row: Index of the table.
    """
    return int((before.unseen_counts()[row] - after.unseen_counts()[row]).argmax())
