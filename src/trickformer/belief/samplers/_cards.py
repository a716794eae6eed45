"""Base of the card games' beliefs, whose worlds can also be drawn by odds of where each card lies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from trickformer.base import Game, LogOdds, View
from trickformer.belief.samplers._uniform import ExactBelief, W

PLACES = 3  # places of a hidden card: the other seats in turn, and in Skat, which has three players, the skat
MAX_LOG_ODDS = 8.0  # largest absolute log odds that the samplers accept


class DealSampler(Protocol):
    """The core's sampler of the deals that explain a view. H is the length of a hidden part."""

    def sample(self, seed: int, n: int) -> np.ndarray:
        """Draw independent hidden parts.

        Args:
            seed: Seed of all randomness.
            n: Number of hidden parts.

        Returns:
            int16 [n, H].
        """
        ...

    def log_prob(self, hidden: np.ndarray) -> np.ndarray:
        """Return the natural logarithms of the probabilities of hidden parts.

        Args:
            hidden: int16 [n, H].

        Returns:
            float64 [n]; -inf for a hidden part that does not explain the view.
        """
        ...

    def places(self, hidden: np.ndarray) -> np.ndarray:
        """Return the place of each card.

        Args:
            hidden: int16 [n, H].

        Returns:
            int8 [n, cards]; -1 for a card that the view shows.
        """
        ...

    def marginals(self) -> np.ndarray:
        """Return the probability that each card lies at each place, float64 [cards, PLACES]."""
        ...


S = TypeVar("S")  # the core's form of a view
D = TypeVar("D", bound=DealSampler)


class CardBelief(ExactBelief[W], Generic[W, S, D]):
    """Distribution over the hidden histories that explain the view: uniform, or by odds.

    Given odds, the probability of a history is in proportion to the product over cards of the odds of the place where
    the card now lies (cpp/core/placing.hpp, cpp/crew/worlds.hpp). Every history that explains the view can be drawn,
    and no other. Equal odds give the uniform belief.
    """

    deals: Callable[..., D]  # makes the core's sampler from a seat view and optional log odds
    cards: int  # number of cards in the deck

    def __init__(self, game: Game, log_odds: LogOdds | None = None):
        """Make the belief of a game.

        Args:
            game: The game.
            log_odds: Odds of where each card lies; None: all equal.
        """
        super().__init__(game)
        self._log_odds = log_odds

    @property
    def is_uniform(self) -> bool:
        """True if no odds are given."""
        return self._log_odds is None

    @abstractmethod
    def seat_view(self, view: View) -> S:
        """Return the core's form of a view.

        Args:
            view: View of a seat.

        Raises:
            ValueError: The events are not those of a seat.
        """

    def odds(self, views: Sequence[View]) -> np.ndarray | None:
        """Return the logarithms of the odds by which the worlds of each view are drawn.

        Args:
            views: Views of seats.

        Returns:
            float64 [n, cards, PLACES]; None if worlds are drawn uniformly.
        """
        return None if self._log_odds is None else self._log_odds(views)

    def deals_of(self, view: View) -> D:
        """Return the core's sampler of a view; the core's searches draw from it.

        Args:
            view: View of a seat.

        Raises:
            ValueError: No deal explains the view.
        """
        odds = self.odds([view])
        return self.deals(self.seat_view(view), *([] if odds is None else odds))

    def _sampler(self, view: View) -> D:
        return self.deals_of(view)

    def log_prob(self, worlds: W) -> np.ndarray:
        return self._require_deals_and_view()[0].log_prob(worlds.hidden)

    @abstractmethod
    def histories(self) -> int:
        """Count the equally likely hidden histories of each arrangement of the hidden cards."""

    def places(self, worlds: W) -> np.ndarray:
        """Return the place where each card lies now.

        Args:
            worlds: Worlds of the present view.

        Returns:
            int8 [n, cards]; -1 for a card that the view shows.

        Raises:
            ValueError: A world does not explain the view.
        """
        return self._require_deals_and_view()[0].places(worlds.hidden)

    def marginals(self) -> np.ndarray:
        """Return the probability that each card lies at each place, float64 [cards, PLACES]; 0 if the view shows it."""
        return self._require_deals_and_view()[0].marginals()
