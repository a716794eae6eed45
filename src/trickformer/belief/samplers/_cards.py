"""Base class of card games' beliefs, whose worlds can also be weighted by odds of where each card lies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from trickformer.base import Game, LogOdds, View
from trickformer.belief.samplers._uniform import ExactBelief, W

# Number of places for a hidden card: the other seats from the left neighbour on, and in Skat then the skat.
PLACES = 3
MAX_LOG_ODDS = 8.0  # largest absolute log odds that the samplers accept


class DealSampler(Protocol):
    """The core's sampler of worlds of one view. A world is stored as its hidden part, H numbers."""

    def sample(self, seed: int, n: int) -> np.ndarray:
        """Draw independent worlds.

        Args:
            seed: Seed of all randomness.
            n: Number of worlds.

        Returns:
            int16 [n, H].
        """
        ...

    def log_prob(self, hidden: np.ndarray) -> np.ndarray:
        """Return the natural logarithm of each world's probability.

        Args:
            hidden: int16 [n, H].

        Returns:
            float64 [n]; -inf for a world that is inconsistent with the view.
        """
        ...

    def places(self, hidden: np.ndarray) -> np.ndarray:
        """Return the place where each card lies now.

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
    """Distribution over the hidden histories that are consistent with the view: uniform, or weighted by odds.

    With odds, the probability of a history is proportional to the product over cards of the odds of the place where the
    card lies now (cpp/core/placing.hpp, cpp/crew/worlds.hpp). All consistent histories have a positive probability. If
    all odds are equal, the belief is uniform.
    """

    sampler_class: Callable[..., D]  # makes the core's sampler from the core's form of a view and optional log-odds
    cards: int  # number of cards in the deck

    def __init__(self, game: Game, log_odds: LogOdds | None = None):
        """Make the belief of a game.

        Args:
            game: The game.
            log_odds: Log-odds of where each card lies; None: the belief is uniform.
        """
        super().__init__(game)
        self._log_odds = log_odds

    @abstractmethod
    def seat_view(self, view: View) -> S:
        """Return the core's form of a view.

        Args:
            view: View of a seat.

        Raises:
            ValueError: The view is the public one, or its events are not those of the game.
        """

    def log_odds(self, views: Sequence[View]) -> np.ndarray | None:
        """Return the log-odds that weight the worlds of each view.

        Args:
            views: Views of seats.

        Returns:
            float64 [n, cards, PLACES]; None if the belief is uniform.
        """
        return None if self._log_odds is None else self._log_odds(views)

    def sampler_of(self, view: View) -> D:
        """Return the core's sampler of a view, from which the core's searches draw worlds.

        Args:
            view: View of a seat.

        Raises:
            ValueError: No deal is consistent with the view.
        """
        log_odds = self.log_odds([view])
        return self.sampler_class(self.seat_view(view), *([] if log_odds is None else log_odds))

    def _make_sampler(self, view: View) -> D:
        return self.sampler_of(view)

    def log_prob(self, worlds: W) -> np.ndarray:
        return self._require_sampler_and_view()[0].log_prob(worlds.hidden)

    @abstractmethod
    def histories(self) -> int:
        """Count the hidden histories that lead to one present arrangement of the hidden cards.

        The number is the same for all arrangements, and these histories are equally likely.
        """

    def places(self, worlds: W) -> np.ndarray:
        """Return the place where each card lies now.

        Args:
            worlds: Worlds of the present view.

        Returns:
            int8 [n, cards]; -1 for a card that the view shows.

        Raises:
            ValueError: A world is inconsistent with the view.
        """
        return self._require_sampler_and_view()[0].places(worlds.hidden)

    def marginals(self) -> np.ndarray:
        """Return the probability that each card lies at each place, float64 [cards, PLACES]; 0 if the view shows it."""
        return self._require_sampler_and_view()[0].marginals()
