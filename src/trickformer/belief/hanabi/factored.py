"""Beliefs that take each card by itself: V0, V1, BB and V2 of the Bayesian action decoder (Foerster et al. 2019),
batched.

All functions take counts: float [n, K], the cards of each kind that may be hidden; possible: bool or float [n, S, K],
1 where the slot may hold the kind, nothing but 0 where there is no card; likelihood: float [n, S, K], how likely what
was done is for each kind in a slot, up to a factor a slot. Beliefs are [n, S, K]; each slot adds up to 1, or to 0
where there is no card.

V0 looks at each slot as if it were the only one: B(k) ~ C(k) M(k), with M = possible, or possible times likelihood.
The others cannot hold what this one holds. Averaged over factored beliefs of theirs, that leaves C(k) minus the
expected number of kind k in the other slots:

    B'_i(k) ~ (C(k) - sum over j != i of B_j(k)) M_i(k)

which is iterated to its fixed point: V1 where M is what hints say, BB where likelihoods are in it. V2 = (1 - a) BB +
a V1 keeps every kind that is possible at a positive probability."""

from __future__ import annotations

from dataclasses import dataclass

import torch

TOLERANCE = 1e-5  # a change of a probability that is none


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """A fixed point, or what there was of it at the last iteration."""

    belief: torch.Tensor  # [n, S, K]
    change: torch.Tensor  # [iterations, n]: the largest change of any probability of each table in each iteration


def v0(counts: torch.Tensor, possible: torch.Tensor, likelihood: torch.Tensor | None = None) -> torch.Tensor:
    """Each slot by itself. [n, S, K]."""
    weight = counts.unsqueeze(-2) * possible
    return _normalize(weight if likelihood is None else weight * likelihood)


def self_consistent(
    counts: torch.Tensor,
    possible: torch.Tensor,
    likelihood: torch.Tensor | None = None,
    *,
    iterations: int = 100,
    tolerance: float = TOLERANCE,
    damping: float = 0.0,
) -> FixedPoint:
    """V1, or BB with a likelihood: iterated from V0 until no probability changes by more than `tolerance`.

    Each iteration keeps a share `damping` of the belief before; fixed points do not depend on it. Without it, as in the
    source, one position in six of 50 games by `smart` swings between two beliefs for ever, mostly when the deck is
    nearly empty, with a half one in forty, with 0.8 none. Where the slots expect more of a kind than there is, none
    is left for another. A slot that is left without any kind keeps the belief it had: that happens on the way only,
    for some deal explains what was seen."""
    allowed = possible.to(counts.dtype) if likelihood is None else possible * likelihood
    belief = v0(counts, possible, likelihood)
    changes = []
    for _ in range(iterations):
        others = belief.sum(dim=-2, keepdim=True) - belief
        weight = (counts.unsqueeze(-2) - others).clamp(min=0) * allowed
        follower = torch.where(weight.sum(dim=-1, keepdim=True) > 0, _normalize(weight), belief)
        follower = torch.lerp(follower, belief, damping)
        changes.append((follower - belief).abs().amax(dim=(-2, -1)))
        belief = follower
        if (changes[-1] <= tolerance).all():
            break
    return FixedPoint(belief, torch.stack(changes) if changes else counts.new_zeros(0, len(counts)))


def v2(bayesian: torch.Tensor, v1: torch.Tensor, alpha: float = 0.01) -> torch.Tensor:
    """(1 - alpha) BB + alpha V1; the source uses 0.01 and 0.1."""
    return (1 - alpha) * bayesian + alpha * v1


def _normalize(weight: torch.Tensor) -> torch.Tensor:
    return weight / weight.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(weight.dtype).tiny)
