"""Beliefs: distributions over the hidden cards, given what a viewer has seen.

The package `samplers` has the exact belief of each game. The other modules have estimates, most of them learned.
"""

from trickformer.belief.samplers import NAMES, has_weighted_belief, sampler, weighted_belief

__all__ = ["NAMES", "has_weighted_belief", "sampler", "weighted_belief"]
