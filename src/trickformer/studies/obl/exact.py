"""What the operator says of a game: values of the levels, of hierarchies beside them, and of self-play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trickformer import games
from trickformer.base import TrickformerError, View, game_name
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import Report, ReportTable
from trickformer.studies.obl import hierarchy, operator
from trickformer.studies.obl.config import ExactStudy
from trickformer.studies.obl.listing import load_tree
from trickformer.studies.obl.tree import Tree

if TYPE_CHECKING:
    from trickformer.players.obl import ActionValuePlayer

_REPORT = 1_000  # information states between two signs of progress
_ROUNDS = 100  # of best responses in turn


def solve(config: ExactStudy) -> dict[str, Any]:
    """The object of `--json`. Values are what the first seat is paid on the average where all play the same: `random`,
    `obl` (level 1), and lists by level; `open_cards` is a bound that no team passes. Raises TrickformerError."""
    if config.temperature == 0 and (config.levels > 1 or config.starts):
        raise TrickformerError(
            "at temperature 0 policies never reach some information states in which later levels and self-play must "
            "believe something; give a temperature above 0, such as 0.001, or --levels 1 --starts 0"
        )
    player = _load_player(config)
    tree = load_tree(config.game, config.limit)
    past = {"uniform": operator.uniform, "grounded": operator.grounded_weights}[config.policy](tree)
    anew = config.target == "beliefs"
    of_levels = _values(tree, operator.levels(tree, past, config.temperature, config.levels, anew))
    return {
        "game": config.game,
        "nodes": len(tree.parent),
        "information_states": len(tree.before),
        "policy": config.policy,
        "target": config.target,
        "temperature": config.temperature,
        "random": _values(tree, [operator.uniform(tree)])[0],
        "obl": of_levels[0],
        "levels": of_levels,
        "k_levels": _values(tree, hierarchy.k_levels(tree, config.temperature, config.levels)),
        "tau": config.tau,
        "cognitive_hierarchy": _values(
            tree, hierarchy.cognitive_hierarchy(tree, config.temperature, config.levels, config.tau)
        ),
        "self_play": self_play(tree, config) if config.starts else None,
        "open_cards": float(operator.open_cards(tree)[0]),
        "checkpoint": _values(tree, [policy_of(tree, player)])[0] if player is not None else None,
    }


def _load_player(config: ExactStudy) -> ActionValuePlayer | None:
    """The player of the checkpoint, if there is one. Raises TrickformerError where it cannot play this game."""
    if config.checkpoint is None:
        return None
    if game_name(config.game) != "hanabi":
        raise TrickformerError(f"a checkpoint of off-belief learning plays hanabi only, not {config.game}")
    from trickformer.players import obl

    return obl.make(obl.Options(checkpoint=str(config.checkpoint), temperature=None), games.load(config.game))


def policy_of(tree: Tree, player: ActionValuePlayer) -> np.ndarray:
    """A learned policy, float64 [k], on the tree of its game: asked in every information state, with progress."""
    q = np.zeros(len(tree.owner))
    with progress("ask the network", "information states", 0, len(tree.keys)) as advance:
        for i, (_, view) in enumerate(tree.keys):
            slots = slice(int(tree.first[i]), int(tree.first[i + 1]))
            assert isinstance(view, View)  # by which games of ours are listed
            q[slots] = player.values(view)[tree.action[slots]]
            if i % _REPORT == _REPORT - 1:
                advance(_REPORT)
    return operator.softmax(tree, q, slice(0, len(q)), player.temperature)


def self_play(tree: Tree, config: ExactStudy) -> dict[str, Any]:
    """Runs of best responses in turn, each from a random policy: what each is worth with itself, and with the others
    where the first seat is another run's than the rest."""
    rng = np.random.default_rng(config.seed)
    found = []
    for _ in range(config.starts):
        start = operator.softmax(tree, rng.normal(size=len(tree.owner)), slice(0, len(tree.owner)), 1.0)
        found.append(hierarchy.climb(tree, start, config.temperature, _ROUNDS))
    table = cross_play(tree, found)
    return {
        "best": float(table.diagonal().max()),
        "mean": float(table.diagonal().mean()),
        "cross_play": off_diagonal(table),
    }


def cross_play(tree: Tree, policies: list[np.ndarray]) -> np.ndarray:
    """What the first seat is paid where it plays policy i and all others play policy j: float64 [n, n]."""
    others = tree.players - 1
    return np.array(
        [
            [operator.value(tree, operator.combine_policies(tree, [a] + [b] * others))[0] for b in policies]
            for a in policies
        ]
    )


def off_diagonal(table: np.ndarray) -> float | None:
    """The mean of play among different policies; None where there is one only."""
    apart = ~np.eye(len(table), dtype=bool)
    return float(table[apart].mean()) if apart.any() else None


def _values(tree: Tree, policies: list[np.ndarray]) -> list[float]:
    return [float(operator.value(tree, policy)[0]) for policy in policies]


def make_report(found: dict[str, Any]) -> Report:
    """Make the report of a solution."""
    return Report(found, heading(found), [("", table(found))], notes=notes(found))


def heading(found: dict[str, Any]) -> str:
    """The game and what level 1 makes of it, in a line."""
    return (
        f"{found['game']}: {found['nodes']:,} nodes, {found['information_states']:,} information states; temperature "
        f"{found['temperature']:g}, level 1 from the {found['policy']} past is worth {found['obl']:.4f}"
    )


def table(found: dict[str, Any]) -> ReportTable:
    """Values by level."""
    rows = zip(found["levels"], found["k_levels"], found["cognitive_hierarchy"])
    return (
        ("level", "off-belief learning", "k-level", f"cognitive hierarchy, tau {found['tau']:g}"),
        [(str(i), *(f"{x:.4f}" for x in row)) for i, row in enumerate(rows, 1)],
    )


def notes(found: dict[str, Any]) -> list[str]:
    """What stands beside the levels."""
    lines = [f"uniformly random {found['random']:.4f}"]
    if found["self_play"] is not None:
        played = found["self_play"]
        lines.append(f"self-play by best responses in turn: best {played['best']:.4f}, mean {played['mean']:.4f}")
        if played["cross_play"] is not None:
            lines[-1] += f", runs with one another {played['cross_play']:.4f}"
    lines.append(f"best play with open cards {found['open_cards']:.4f}")
    if found["checkpoint"] is not None:
        lines.append(f"the checkpoint's policy {found['checkpoint']:.4f}")
    return lines
