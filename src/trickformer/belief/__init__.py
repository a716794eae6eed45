"""Beliefs: distributions over what a viewer cannot see.

`samplers` holds the exact belief of each game. The other modules estimate.
"""

from trickformer.belief.samplers import NAMES, has_weighted_belief, sampler, weighted_belief

__all__ = ["NAMES", "has_weighted_belief", "sampler", "weighted_belief"]
