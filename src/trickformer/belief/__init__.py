"""Belief states: distributions over what a viewer cannot see. `samplers` holds the exact ones of each game; the other
modules estimate."""

from trickformer.belief.samplers import NAMES, sampler, weighs, weighted

__all__ = ["NAMES", "sampler", "weighs", "weighted"]
