"""Figure 2 of "Off-Belief Learning": self-play and cross-play of the toy game's methods."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from trickformer.plumbing import config as configs
from trickformer.plumbing.files import replace
from trickformer.plumbing.folder import CONFIG, RunFolder, build
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import REPORT, Report, ReportFigure, ReportTable
from trickformer.studies.obl import exact, hierarchy, operator, toy
from trickformer.studies.obl.config import Toy
from trickformer.studies.obl.learning import QLearner
from trickformer.studies.obl.listing import load_tree
from trickformer.studies.obl.tree import Tree

PLOT = "toy.png"
_NODES = 100  # limit of the tree; the toy game has fewer nodes
_METHOD = (
    "SP: self-play. OBL, CH, K: off-belief learning, cognitive hierarchy and k-level reasoning, with the level. "
    "Self-play and cross-play: means over runs of the learned policies. Exact: value of the method without sampling; "
    "for SP, of the best play; all in points a game. Bob guesses after a light: share of runs in which he guesses "
    "instead of bailing out."
)


def measure(config: Toy) -> dict[str, Any]:
    """Learn the toy game by every method, evaluate the policies, and write the run folder, if the config has one.

    Each method has a matrix of mean payoffs, of Alice from run i with Bob from run j. `exact` is the value of the
    method's policy if it is computed exactly instead of learned.

    Args:
        config: Options of the study.

    Returns:
        Object that `--json` prints, with the methods in order.

    Raises:
        TrickformerError: If the folder has files of another kind or cannot be written.
    """
    if config.out is not None:
        folder = RunFolder(config.out)
        folder.refuse_foreign_files()
        if folder.has_run:
            configs.read(Toy, config.out / CONFIG)  # raises if the run is another command's
    tree = load_tree("toy", _NODES)
    top = config.levels
    study = _Study(tree, config)
    with progress("obl toy", "policies", 0, 1 + 3 * top) as advance:
        learned = {"SP": study.self_play()}
        advance()
        for name, learn in (("OBL", study.level), ("CH", study.best_responses), ("K", study.best_responses)):
            levels = [np.repeat(operator.uniform(tree)[None], config.runs, axis=0)]
            for _ in range(top):
                levels.append(learn(study.partner_policies(name, levels)))
                advance()
            learned |= {f"{name} {i}": levels[i] for i in sorted({1, min(2, top), top})}
    exact_values = _exact(tree, config, top)
    methods = [_method(tree, name, policies, exact_values[name]) for name, policies in learned.items()]
    result = {**config.model_dump(exclude={"out"}), "methods": methods, "build": build()}
    if config.out is not None:
        _write(result, config)
    return result


class _Study:
    """Learners of the study. Each has its own random generator."""

    def __init__(self, tree: Tree, config: Toy):
        self.tree = tree
        self.config = config
        self._seeds = np.random.SeedSequence(config.seed)

    def _learner(self) -> QLearner:
        rng = np.random.default_rng(self._seeds.spawn(1)[0])
        return QLearner(self.tree, self.config.runs, self.config.temperature, self.config.least, rng)

    def self_play(self) -> np.ndarray:
        """Learn by independent Q-learning; both seats explore."""
        learner = self._learner()
        play = learner.exploration_policy(self.config.epsilon)
        learner.learn(self.config.games, play, play)
        return learner.policies()

    def level(self, past: np.ndarray) -> np.ndarray:
        """Learn the next level of off-belief learning; `past`, float64 [runs, k], is the level below."""
        learner = self._learner()
        learner.learn(self.config.games, learner.fixed_policy(past), learner.softmax)
        return learner.policies()

    def best_responses(self, others: np.ndarray) -> np.ndarray:
        """Learn best responses to the policies `others`, float64 [runs, k], one seat at a time."""
        learner = self._learner()
        for seat in range(self.tree.players):
            # A seat's own past moves do not change its belief, and uniform ones reach more positions.
            past = np.where(self.tree.owner == seat, operator.uniform(self.tree), others)
            learner.learn(self.config.games, learner.fixed_policy(past), learner.fixed_policy(others), seat)
        return learner.policies()

    def partner_policies(self, name: str, below: list[np.ndarray]) -> np.ndarray:
        """Return the policies that the next level expects the others to play: float64 [runs, k].

        They are the last of the levels `below`, or in a cognitive hierarchy a mixture of all.
        """
        if name != "CH":
            return below[-1]
        weights = hierarchy.poisson(len(below), self.config.tau)
        runs = range(self.config.runs)
        return np.stack([hierarchy.mixture(self.tree, [p[run] for p in below], weights) for run in runs])


def _exact(tree: Tree, config: Toy, top: int) -> dict[str, float]:
    """Compute the exact values of the methods. For self-play it is the value of best play with open cards."""
    t = config.temperature
    policies = {
        "OBL": operator.levels(tree, operator.uniform(tree), t, top),
        "CH": hierarchy.cognitive_hierarchy(tree, t, top, config.tau),
        "K": hierarchy.k_levels(tree, t, top),
    }
    values = {
        f"{name} {level}": float(operator.value(tree, policy)[0])
        for name, levels in policies.items()
        for level, policy in enumerate(levels, 1)
    }
    return values | {"SP": float(operator.open_cards(tree)[0])}


def _method(tree: Tree, name: str, policies: np.ndarray, exact_value: float) -> dict[str, Any]:
    """Evaluate the learned policies of a method, float64 [runs, k]."""
    payoffs = exact.cross_play(tree, list(policies))
    return {
        "name": name,
        "self_play": float(payoffs.diagonal().mean()),
        "cross_play": exact.off_diagonal(payoffs),
        "exact": exact_value,
        "guesses": float(np.mean([guesses(tree, policy) for policy in policies])),
        "matrix": payoffs.tolist(),
    }


def guesses(tree: Tree, policy: np.ndarray) -> bool:
    """Return whether Bob guesses with probability above 0.5 after one of the light signals.

    Args:
        tree: Tree of the toy game.
        policy: float64 [k], log-probabilities.
    """
    lights = [tree.keys.index((1, toy.ALICE[action])) for action in (toy.ON, toy.OFF)]
    return any(np.exp(policy[tree.first[i + 1] - 1]) < 0.5 for i in lights)  # bailing out is his last action


def make_report(result: dict[str, Any]) -> Report:
    """Make the report of a study's result.

    Args:
        result: Object that `measure` returns.
    """
    return Report(
        result,
        _heading(result),
        [("", _table(result))],
        keys=[f"{_METHOD} {toy.RULES}"],
        title="The toy game",
        figures=[ReportFigure("Cross-play", PLOT, partial(_plot, result))],
        builds=[result["build"]],
    )


def _table(result: dict[str, Any]) -> ReportTable:
    """List the methods, one in each row."""
    numbers = ("self_play", "cross_play", "exact", "guesses")
    rows = [(m["name"], *(f"{m[key]:.2f}" for key in numbers)) for m in result["methods"]]
    return ("method", "self-play", "cross-play", "exact", "Bob guesses after a light"), rows


def _heading(result: dict[str, Any]) -> str:
    """Describe the study in one line."""
    return (
        f"The toy game: {result['runs']} runs a method, {result['games']:,} games a policy, temperature "
        f"{result['temperature']:g}, least learning rate {result['least']:g}, tau {result['tau']:g}, "
        f"seed {result['seed']}"
    )


def _write(result: dict[str, Any], config: Toy) -> None:
    """Write config.toml and report.md. Raises TrickformerError if a file cannot be written."""
    assert config.out is not None
    with RunFolder(config.out).lock():
        replace(config.out / CONFIG, configs.dump(config))
        replace(config.out / REPORT, make_report(result).markdown())


def _plot(result: dict[str, Any], path: Path) -> None:
    """Draw a cross-play matrix for each method, as in Figure 2, and save a PNG."""
    from trickformer.plumbing.figures import drawing, save

    methods = [m for m in result["methods"] if not m["name"].startswith("K")]  # the paper's figure has no k-levels
    with drawing(1, len(methods), figsize=(1.75 * len(methods) + 0.8, 2.3), style={"font.size": 9}) as (figure, axes):
        image = None
        for i, (axis, method) in enumerate(zip(axes, methods)):
            image = axis.imshow(method["matrix"], cmap="RdYlBu", vmin=-10, vmax=10)
            axis.set(title=method["name"], xlabel="Bob's run", xticks=[], yticks=[], ylabel="" if i else "Alice's run")
        assert image is not None
        figure.colorbar(image, ax=axes, label="points a game\n(higher is better)", extend="min")
        save(figure, path)
