"""Worlds by rejection sampling of deals, for a card game without a sampler of its own.

A game qualifies under three conditions. Chance deals cards of one deck, each equally likely, before the first decision
and never after it. Everybody sees every action. An action with a card's number plays a card that its seat was dealt.
`_Slots` checks the conditions on random hands.

A slot is a position in the order of dealing. Which slots a seat sees is the same in all deals, so it is learned from
one deal. A world is drawn in three steps. The cards that the viewer was shown go into the slots that it sees, in the
order of its view. The cards that another seat has played go into random slots of that seat. All other cards go into the
remaining slots at random. The deal is rejected unless the actions of the view are legal in it and lead to that view.
So worlds are exactly uniform over the consistent deals, where deals that differ only in the order of the viewer's own
cards count as one. The belief does not use other seats' actions as evidence beyond the rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer.base import CHANCE, Game, TrickformerError, View, Worlds
from trickformer.belief.samplers._uniform import ExactBelief, UniformWorlds

TRIES = 10_000  # largest number of deals drawn for one world
_HANDS = 16  # number of random hands on which a game is checked


class _Slots:
    """Order in which a game deals, and the slots that each seat sees.

    Attributes:
        deck: All cards, ascending.
        n: Number of slots.
        seen: By seat, the slots that it sees, in the order in which its view lists them.
    """

    def __init__(self, game: Game):
        """Deal once and play random hands; raise TrickformerError if they show that the game does not qualify."""
        state, dealt = game.spiel.new_initial_state(), []
        self.deck = sorted(state.legal_actions()) if state.is_chance_node() else []
        while state.is_chance_node():
            left = sorted(set(self.deck) - set(dealt))
            if not _deals_from(left, state.chance_outcomes()):
                raise _refusal(game, "chance does not deal from one deck, each card as likely as the others")
            state.apply_action(left[0])
            dealt.append(left[0])
        self.n = len(dealt)
        cards_by_seat = [_numbers(game.view(state, seat)) for seat in range(game.players)]
        if not set().union(*cards_by_seat) <= set(dealt):
            raise _refusal(game, "a view of the deal shows something other than dealt cards")
        self.seen = [[dealt.index(card) for card in cards] for cards in cards_by_seat]
        for index in range(_HANDS):
            self._check_hand(game, index)

    def hidden_slots(self, seat: int, viewer: int) -> list[int]:
        """Return the slots of `seat` that `viewer` does not see."""
        return [slot for slot in self.seen[seat] if slot not in self.seen[viewer]]

    def _check_hand(self, game: Game, index: int) -> None:
        state, deck = game.deal(0, index), set(self.deck)
        rng = np.random.default_rng(index)
        dealt, moves = state.history(), []
        while not state.is_terminal():
            if state.is_chance_node():
                raise _refusal(game, "chance acts after the first decision")
            seat, legal = state.current_player(), state.legal_actions()
            if not deck.intersection(legal) <= {dealt[slot] for slot in self.seen[seat]}:
                raise _refusal(game, "an action has the number of a card that its seat was not dealt")
            moves.append((seat, int(rng.choice(legal))))
            state.apply_action(moves[-1][1])
        for viewer in range(game.players):
            if _player_actions(game.view(state, viewer)) != moves:
                raise _refusal(game, "a seat's view lacks an action")
            slots = [slot for seat in range(game.players) for slot in self.hidden_slots(seat, viewer)]
            if len(slots) != len(set(slots)):
                raise _refusal(game, "two seats see a card that a third does not")


def _deals_from(left: list[int], outcomes: list[tuple[int, float]]) -> bool:
    """Return whether chance draws one of the cards `left`, each as likely as the others."""
    return sorted(card for card, _ in outcomes) == left and all(abs(p * len(left) - 1) < 1e-9 for _, p in outcomes)


def _refusal(game: Game, why: str) -> TrickformerError:
    return TrickformerError(
        f"no deals can be drawn for {game.name}: {why}; write a belief for it (docs/add-a-game-belief.md)"
    )


def _numbers(view: View) -> list[int]:
    """List all actions and revealed cards of a view, in order."""
    return [n for e in view.events for n in (*(() if e.action is None else (e.action,)), *e.seen)]


def _player_actions(view: View) -> list[tuple[int, int]]:
    """List the seat and action of each event that a player caused."""
    return [(e.actor, e.action) for e in view.events if e.actor != CHANCE and e.action is not None]


class DealtWorlds(UniformWorlds):
    """Worlds as deals: `hidden`, int16 [n, slots], is the card in each slot."""

    def history(self, i: int) -> list[int]:
        return [*self.hidden[i].tolist(), *(action for _, action in _player_actions(self.view))]


class Deals:
    """Sampler of the deals that are consistent with one view."""

    def __init__(self, game: Game, slots: _Slots, view: View, tries: int = TRIES):
        if not 0 <= view.viewer < game.players:
            raise ValueError("a belief needs the view of a seat, not the public view")
        self._game, self._view = game, view
        self._moves = _player_actions(view)
        self.known = dict(zip(slots.seen[view.viewer], _numbers(view)))  # slot -> card
        left = set(slots.deck) - set(self.known.values())
        self._shown: list[tuple[list[int], list[int]]] = []  # for each other seat: its hidden slots, its played cards
        for seat in range(game.players):
            cards = [action for actor, action in self._moves if actor == seat and action in left]
            if cards:
                self._shown.append((slots.hidden_slots(seat, view.viewer), cards))
        self._left = sorted(left.difference(*(cards for _, cards in self._shown)))
        self._n, self._tries = slots.n, tries

    def sample(self, seed: int, n: int) -> np.ndarray:
        """Draw independent deals.

        Args:
            seed: Seed of all randomness.
            n: Number of deals.

        Returns:
            int16 [n, slots], the card in each slot.

        Raises:
            TrickformerError: None of `tries` draws for a deal is consistent with the view.
        """
        rng, deals = np.random.default_rng(seed), np.empty((n, self._n), np.int16)
        for deal in deals:
            for _ in range(self._tries):
                deal[:] = self._draw(rng)
                if self._is_consistent(deal):
                    break
            else:
                raise TrickformerError(
                    f"none of {self._tries:,} deals explains what seat {self._view.viewer} has seen; write "
                    f"a belief for {self._game.name} (docs/add-a-game-belief.md)"
                )
        return deals

    def is_consistent(self, hidden: np.ndarray) -> np.ndarray:
        """Return which deals `sample` can draw.

        Args:
            hidden: int16 [n, slots].

        Returns:
            bool [n].
        """
        return np.array([self._has_known_cards(deal) and self._is_consistent(deal) for deal in hidden], bool)

    def _draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a deal that may be inconsistent with the view, int [slots]."""
        deal = np.full(self._n, -1)
        deal[list(self.known)] = list(self.known.values())
        for slots, cards in self._shown:
            deal[rng.permutation(slots)[: len(cards)]] = cards
        empty = np.flatnonzero(deal < 0)
        deal[empty] = rng.permutation(self._left)[: len(empty)]
        return deal

    def _has_known_cards(self, deal: np.ndarray) -> bool:
        """Return whether the viewer's cards are in their slots, and played cards in slots of the seat that played."""
        viewer_matches = all(deal[slot] == card for slot, card in self.known.items())
        return viewer_matches and all(set(cards) <= set(deal[slots].tolist()) for slots, cards in self._shown)

    def _is_consistent(self, deal: np.ndarray) -> bool:
        """Return whether the view's actions are legal in a deal and lead to the view."""
        state = self._game.spiel.new_initial_state()
        for card in deal.tolist():
            state.apply_action(card)
        for seat, action in self._moves:
            if state.current_player() != seat or action not in state.legal_actions():
                return False
            state.apply_action(action)
        return self._game.view(state, self._view.viewer) == self._view


class DealtBelief(ExactBelief[DealtWorlds]):
    """Uniform distribution over the deals that are consistent with a view, by rejection sampling.

    `log_prob` is 0 for a consistent deal and -inf for others. It is not normalized, because the number of deals is not
    known.
    """

    worlds = DealtWorlds

    def __init__(self, game: Game, tries: int = TRIES):
        """Check on random hands that the game qualifies.

        Args:
            game: The game.
            tries: Number of deals drawn for one world before `sample` gives up.

        Raises:
            TrickformerError: The game does not meet the conditions of the module.
        """
        super().__init__(game)
        self._slots, self._tries = _Slots(game), tries

    def _make_sampler(self, view: View) -> Deals:
        return Deals(self._game, self._slots, view, self._tries)

    def _hidden_part(self, actions: list[int], sampler: Any) -> np.ndarray:
        hidden = np.array(actions[: self._slots.n], np.int16)
        hidden[list(sampler.known)] = list(sampler.known.values())
        return hidden

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        return np.where(self._require_sampler_and_view()[0].is_consistent(worlds.hidden), 0.0, -np.inf)
