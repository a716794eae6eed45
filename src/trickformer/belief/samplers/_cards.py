"""What the beliefs of the card games share: worlds can be drawn by odds of where each card lies, too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from trickformer.base import Game, LogOdds, View
from trickformer.belief.samplers._uniform import ExactBelief, W

PLACES = 3  # where a hidden card can lie: the seats after the own one, and in Skat, of three players, the skat
MAX_LOG_ODDS = 8.0  # the samplers take odds within this


class DealSampler(Protocol):
    """The core's sampler of the deals that explain a view; H is the length of a hidden part."""

    def sample(self, seed: int, n: int) -> np.ndarray:
        """int16 [n, H]: independent hidden parts."""
        ...

    def log_prob(self, hidden: np.ndarray) -> np.ndarray:
        """float64 [n], natural logarithms; -inf for a hidden part that does not explain the view."""
        ...

    def places(self, hidden: np.ndarray) -> np.ndarray:
        """int8 [n, cards]: the place of each card, -1 if the view says it."""
        ...

    def marginals(self) -> np.ndarray:
        """float64 [cards, PLACES]: the probability that each card lies at each place."""
        ...


S = TypeVar("S")  # the core's form of a view
D = TypeVar("D", bound=DealSampler)


class CardBelief(ExactBelief[W], Generic[W, S, D]):
    """Uniform over the hidden histories that explain a view; or, given odds, in proportion to the product over cards of
    the odds of the place where the card now lies (cpp/core/placing.hpp, cpp/crew/worlds.hpp): no history that explains
    the view is ruled out, and no other is drawn. Equal odds are the uniform belief."""

    deals: Callable[..., D]  # of a seat view and maybe log odds
    cards: int  # of the deck

    def __init__(self, game: Game, log_odds: LogOdds | None = None):
        """log_odds: None, all are equal."""
        super().__init__(game)
        self._log_odds = log_odds

    @property
    def is_uniform(self) -> bool:
        """True if no odds are given."""
        return self._log_odds is None

    @abstractmethod
    def seat_view(self, view: View) -> S:
        """The core's form of a view. Raises ValueError where the events are not those of a seat."""

    def odds(self, views: Sequence[View]) -> np.ndarray | None:
        """float64 [n, cards, PLACES], by which the worlds of each view are drawn, as logarithms; None, uniformly."""
        return None if self._log_odds is None else self._log_odds(views)

    def deals_of(self, view: View) -> D:
        """The core's sampler of a view, which its searches draw from. Raises ValueError where no deal explains it."""
        odds = self.odds([view])
        return self.deals(self.seat_view(view), *([] if odds is None else odds))

    def _sampler(self, view: View) -> D:
        return self.deals_of(view)

    def log_prob(self, worlds: W) -> np.ndarray:
        """float64 [n], natural logarithm of the probability with which a world is drawn; -inf for what does not explain
        the view."""
        return self._require_deals_and_view()[0].log_prob(worlds.hidden)

    @abstractmethod
    def histories(self) -> int:
        """Hidden histories, all as likely, for each laying of the hidden cards; 1 where they are not counted apart."""

    def places(self, worlds: W) -> np.ndarray:
        """int8 [n, cards]: the place where each card lies now, -1 where the view says it. Raises ValueError where a
        world does not explain the view."""
        return self._require_deals_and_view()[0].places(worlds.hidden)

    def marginals(self) -> np.ndarray:
        """float64 [cards, PLACES]: the probability that each card lies at each place; 0 where the view says it."""
        return self._require_deals_and_view()[0].marginals()
