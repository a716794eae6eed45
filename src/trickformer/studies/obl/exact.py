"""Exact off-belief learning on a game whose tree is listed: values of its levels, of hierarchies, and of self-play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trickformer import games
from trickformer.base import TrickformerError, View, game_name
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import Report, ReportTable
from trickformer.studies.obl import hierarchy, operator, toy
from trickformer.studies.obl.config import ExactStudy
from trickformer.studies.obl.listing import load_tree
from trickformer.studies.obl.tree import Tree

if TYPE_CHECKING:
    from trickformer.players.obl import ActionValuePlayer

_REPORT = 1_000  # information states between two updates of the progress bar
_KEY = (
    "Mean points of the first seat if all seats play the method at this level. Each level of off-belief learning and "
    "each k-level answers the level below; the cognitive hierarchy answers a Poisson mix of the levels below, with "
    "mean tau."
)
_ROUNDS = 100  # rounds of alternating best responses in a run of self-play


def solve(config: ExactStudy) -> dict[str, Any]:
    """Compute the values of all methods on a game.

    A value is the first seat's mean payoff if all seats play the same policy: `random`, `obl` (level 1), or a level of
    one of the lists `levels`, `k_levels` and `cognitive_hierarchy`. `open_cards` is an upper bound for any team.

    Args:
        config: Options of the study.

    Returns:
        Object that `--json` prints.

    Raises:
        TrickformerError: If the game cannot be listed, or the options do not fit it.
    """
    if config.temperature == 0 and (config.levels > 1 or config.starts):
        raise TrickformerError(
            "at temperature 0 policies never reach some information states, in which later levels and self-play "
            "need a belief; give a temperature above 0, such as 0.001, or --levels 1 --starts 0"
        )
    player = _load_player(config)
    tree = load_tree(config.game, config.limit)
    past = {"uniform": operator.uniform, "grounded": operator.grounded_weights}[config.policy](tree)
    new_belief = config.target == "beliefs"
    is_shared = bool((tree.reward == tree.reward[:, :1]).all())  # else best responses in turn need not end
    level_values = _values(tree, operator.levels(tree, past, config.temperature, config.levels, new_belief))
    return {
        "game": config.game,
        "nodes": len(tree.parent),
        "information_states": len(tree.before),
        "policy": config.policy,
        "target": config.target,
        "temperature": config.temperature,
        "shared_payoff": is_shared,
        "random": _values(tree, [operator.uniform(tree)])[0],
        "obl": level_values[0],
        "levels": level_values,
        "k_levels": _values(tree, hierarchy.k_levels(tree, config.temperature, config.levels)),
        "tau": config.tau,
        "cognitive_hierarchy": _values(
            tree, hierarchy.cognitive_hierarchy(tree, config.temperature, config.levels, config.tau)
        ),
        "self_play": _self_play(tree, config) if config.starts and is_shared else None,
        "open_cards": float(operator.open_cards(tree)[0]),
        "checkpoint": _values(tree, [_policy_of(tree, player)])[0] if player is not None else None,
    }


def _load_player(config: ExactStudy) -> ActionValuePlayer | None:
    """Load the player of the checkpoint, if there is one. Raises TrickformerError if it cannot play this game."""
    if config.checkpoint is None:
        return None
    if game_name(config.game) != "hanabi":
        raise TrickformerError(
            f"a checkpoint of off-belief learning plays hanabi only, not {config.game}; leave out --checkpoint"
        )
    from trickformer.players import obl

    return obl.make(obl.Options(checkpoint=str(config.checkpoint), temperature=None), games.load(config.game))


def _policy_of(tree: Tree, player: ActionValuePlayer) -> np.ndarray:
    """Compute a network's policy in every information state, with progress: float64 [k], see `Tree`."""
    q = np.zeros(len(tree.owner))
    with progress("evaluate the network", "information states", 0, len(tree.keys)) as advance:
        for i, (_, view) in enumerate(tree.keys):
            slots = slice(int(tree.first[i]), int(tree.first[i + 1]))
            assert isinstance(view, View)  # views name the information states of this package's games
            q[slots] = player.values(view)[tree.action[slots]]
            if i % _REPORT == _REPORT - 1:
                advance(_REPORT)
    return operator.softmax(tree, q, slice(0, len(q)), player.temperature)


def _self_play(tree: Tree, config: ExactStudy) -> dict[str, Any]:
    """Run self-play by alternating best responses from random policies, and evaluate the runs alone and together."""
    rng = np.random.default_rng(config.seed)
    policies = []
    for _ in range(config.starts):
        start = operator.softmax(tree, rng.normal(size=len(tree.owner)), slice(0, len(tree.owner)), 1.0)
        policies.append(hierarchy.climb(tree, start, config.temperature, _ROUNDS))
    payoffs = cross_play(tree, policies)
    return {
        "best": float(payoffs.diagonal().max()),
        "mean": float(payoffs.diagonal().mean()),
        "cross_play": off_diagonal(payoffs),
    }


def cross_play(tree: Tree, policies: list[np.ndarray]) -> np.ndarray:
    """Compute the first seat's mean payoff if it plays policy i and all others play policy j.

    Args:
        tree: Game tree.
        policies: n policies, float64 [k] each (see `Tree`).

    Returns:
        float64 [n, n].
    """
    others = tree.players - 1
    return np.array(
        [
            [operator.value(tree, operator.combine_policies(tree, [a] + [b] * others))[0] for b in policies]
            for a in policies
        ]
    )


def off_diagonal(payoffs: np.ndarray) -> float | None:
    """Return the mean of the entries off the diagonal; None for a single policy.

    Args:
        payoffs: float64 [n, n], result of `cross_play`.
    """
    differs = ~np.eye(len(payoffs), dtype=bool)
    return float(payoffs[differs].mean()) if differs.any() else None


def _values(tree: Tree, policies: list[np.ndarray]) -> list[float]:
    """Return the first seat's mean payoff of each policy in all seats."""
    return [float(operator.value(tree, policy)[0]) for policy in policies]


def make_report(solution: dict[str, Any]) -> Report:
    """Make the report of a solution.

    Args:
        solution: Object that `solve` returns.
    """
    key = f"{_KEY} {toy.RULES}" if solution["game"] == "toy" else _KEY
    return Report(solution, _heading(solution), [("", _table(solution))], keys=[key], notes=_notes(solution))


def _heading(solution: dict[str, Any]) -> str:
    """Name the game, its size and the value of level 1 in one line."""
    return (
        f"{solution['game']}: {solution['nodes']:,} nodes, {solution['information_states']:,} information states; "
        f"temperature {solution['temperature']:g}, level 1 with --policy {solution['policy']} scores "
        f"{solution['obl']:.4f} points"
    )


def _table(solution: dict[str, Any]) -> ReportTable:
    """List the values by level."""
    rows = zip(solution["levels"], solution["k_levels"], solution["cognitive_hierarchy"])
    return (
        ("level", "off-belief learning", "k-level", f"cognitive hierarchy, tau {solution['tau']:g}"),
        [(str(i), *(f"{x:.4f}" for x in row)) for i, row in enumerate(rows, 1)],
    )


def _notes(solution: dict[str, Any]) -> list[str]:
    """List the values that do not depend on a level."""
    lines = [f"uniformly random play {solution['random']:.4f}"]
    if solution["self_play"] is not None:
        runs = solution["self_play"]
        lines.append(f"self-play by alternating best responses: best run {runs['best']:.4f}, mean {runs['mean']:.4f}")
        if runs["cross_play"] is not None:
            lines[-1] += f", cross-play of the runs {runs['cross_play']:.4f}"
    elif not solution["shared_payoff"]:
        lines.append("no self-play, because the payoffs of the seats differ; all values are those of the first seat")
    lines.append(f"best play with open cards {solution['open_cards']:.4f}")
    if solution["checkpoint"] is not None:
        lines.append(f"the checkpoint's policy {solution['checkpoint']:.4f}")
    return lines
