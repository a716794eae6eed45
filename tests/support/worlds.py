"""Conversion of views to the core's form."""

from __future__ import annotations

from trickformer.belief.samplers import sampler


def seat_view(game, view):
    """The core's form of a view of Hearts, Skat or The Crew."""
    return sampler(game).seat_view(view)
