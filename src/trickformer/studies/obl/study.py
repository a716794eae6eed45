"""Figure 2 of "Off-Belief Learning": what is learned in the toy game, by whom, and who understands whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trickformer.plumbing import config as configs
from trickformer.plumbing.files import replace
from trickformer.plumbing.folder import CONFIG, RunFolder, build
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import REPORT, Report, ReportTable, draw_figure
from trickformer.studies.obl import exact, hierarchy, operator, toy
from trickformer.studies.obl.config import Toy
from trickformer.studies.obl.learning import QLearner
from trickformer.studies.obl.listing import load_tree
from trickformer.studies.obl.tree import Tree

PLOT = "toy.png"
_NODES = 100  # of the toy game there are fewer
_METHOD = (
    "SP: self-play. OBL, CH, K: a level of off-belief learning, cognitive hierarchy, k-level reasoning. Self-play and "
    "cross-play: means over runs, of what was learned. Exact: the same method by its definition, and of SP the best "
    "that there is. Bob guesses after a light, on or off, rather than bail out: the share of runs."
)


def measure(config: Toy) -> dict[str, Any]:
    """The methods in order, each with its cross-play matrix: Alice of run i with Bob of run j. `exact` is what the
    method's policy is worth where nothing is sampled. Writes the folder where the config has one. Raises
    TrickformerError."""
    if config.out is not None:
        RunFolder(config.out).refuse_foreign_files()
    tree = load_tree("toy", _NODES)
    top = config.levels
    study = _Study(tree, config)
    with progress("obl toy", "policies", 0, 1 + 3 * top) as advance:
        learned = {"SP": study.self_play()}
        advance()
        for name, method in (("OBL", study.level), ("CH", study.answers), ("K", study.answers)):
            below = [np.repeat(operator.uniform(tree)[None], config.runs, axis=0)]
            for _ in range(top):
                below.append(method(study.partner_policies(name, below)))
                advance()
            learned |= {f"{name} {i}": below[i] for i in sorted({1, min(2, top), top})}
    known = _exact(tree, config, top)
    methods = [_method(tree, name, policies, known[name]) for name, policies in learned.items()]
    found = {**config.model_dump(exclude={"out"}), "methods": methods, "build": build()}
    if config.out is not None:
        write(found, config)
    return found


class _Study:
    """The learners: each of a policy's games by a generator of its own."""

    def __init__(self, tree: Tree, config: Toy):
        self.tree, self.config, self._seeds = tree, config, np.random.SeedSequence(config.seed)

    def _learner(self) -> QLearner:
        rng = np.random.default_rng(self._seeds.spawn(1)[0])
        return QLearner(self.tree, self.config.runs, self.config.temperature, self.config.least, rng)

    def self_play(self) -> np.ndarray:
        """Independent Q-learning, both seats exploring."""
        learner = self._learner()
        play = learner.exploration_policy(self.config.epsilon)
        learner.learn(self.config.games, play, play)
        return learner.policies()

    def level(self, past: np.ndarray) -> np.ndarray:
        """The level of off-belief learning above the policies `past`."""
        learner = self._learner()
        learner.learn(self.config.games, learner.fixed_policy(past), learner.softmax)
        return learner.policies()

    def answers(self, others: np.ndarray) -> np.ndarray:
        """Best responses to the policies `others`, a seat at a time."""
        learner = self._learner()
        for seat in range(self.tree.players):
            # The own past says nothing, and there is more to learn from one that tries everything.
            past = np.where(self.tree.owner == seat, operator.uniform(self.tree), others)
            learner.learn(self.config.games, learner.fixed_policy(past), learner.fixed_policy(others), seat)
        return learner.policies()

    def partner_policies(self, name: str, below: list[np.ndarray]) -> np.ndarray:
        """What the next level takes others to play, or to have played: float64 [runs, k]."""
        if name != "CH":
            return below[-1]
        weights = hierarchy.poisson(len(below), self.config.tau)
        runs = range(self.config.runs)
        return np.stack([hierarchy.mixture(self.tree, [p[run] for p in below], weights) for run in runs])


def _exact(tree: Tree, config: Toy, top: int) -> dict[str, float]:
    """Values of the same methods without sampling; of self-play that of the best, for with open cards there is no
    more."""
    t = config.temperature
    lists = {
        "OBL": operator.levels(tree, operator.uniform(tree), t, top),
        "CH": hierarchy.cognitive_hierarchy(tree, t, top, config.tau),
        "K": hierarchy.k_levels(tree, t, top),
    }
    found = {f"{n} {i}": float(operator.value(tree, p)[0]) for n, ps in lists.items() for i, p in enumerate(ps, 1)}
    return found | {"SP": float(operator.open_cards(tree)[0])}


def _method(tree: Tree, name: str, policies: np.ndarray, known: float) -> dict[str, Any]:
    table = exact.cross_play(tree, list(policies))
    return {
        "name": name,
        "self_play": float(table.diagonal().mean()),
        "cross_play": exact.off_diagonal(table),
        "exact": known,
        "guesses": float(np.mean([guesses(tree, policy) for policy in policies])),
        "matrix": table.tolist(),
    }


def guesses(tree: Tree, policy: np.ndarray) -> bool:
    """Does Bob rather guess than bail out where he has seen a light, on or off?"""
    lights = [tree.keys.index((1, toy.ALICE[action])) for action in (toy.ON, toy.OFF)]
    return any(np.exp(policy[tree.first[i + 1] - 1]) < 0.5 for i in lights)  # bailing out is his last action


def make_report(found: dict[str, Any]) -> Report:
    """Make the report of a study's result."""
    return Report(
        found,
        heading(found),
        [("", table(found))],
        title="The toy game",
        figures=[("Cross-play", PLOT)],
        method=[_METHOD],
        builds=[found["build"]],
    )


def table(found: dict[str, Any]) -> ReportTable:
    """A row a method."""
    numbers = ("self_play", "cross_play", "exact", "guesses")
    rows = [(m["name"], *(f"{m[key]:.2f}" for key in numbers)) for m in found["methods"]]
    return ("method", "self-play", "cross-play", "exact", "Bob guesses after a light"), rows


def heading(found: dict[str, Any]) -> str:
    """What was learned, in a line."""
    return (
        f"The toy game: {found['runs']} runs a method, {found['games']:,} games a policy, temperature "
        f"{found['temperature']:g}, least share {found['least']:g}, tau {found['tau']:g}, seed {found['seed']}"
    )


def write(found: dict[str, Any], config: Toy) -> None:
    """Write config.toml and report.md. Raises TrickformerError if the disk refuses."""
    assert config.out is not None
    with RunFolder(config.out).lock():
        replace(config.out / CONFIG, configs.dump(config))
        replace(config.out / REPORT, make_report(found).markdown())


def draw(result: dict[str, Any], folder: Path) -> None:
    """Draw the figure of a study. A fault is a warning.

    Args:
        result: Result of the study.
        folder: Run folder.
    """
    draw_figure(lambda file: plot(result, file), folder / PLOT)


def plot(found: dict[str, Any], path: Path) -> None:
    """A cross-play matrix for each method, as in Figure 2. Writes a PNG. Raises TrickformerError."""
    from trickformer.plumbing.figures import plt, save

    methods = [m for m in found["methods"] if not m["name"].startswith("K")]  # the figure of the paper has none
    with plt.rc_context({"font.size": 9}):
        figure, axes = plt.subplots(1, len(methods), figsize=(1.75 * len(methods) + 0.8, 2.3), layout="constrained")
        image = None
        for i, (axis, method) in enumerate(zip(axes, methods)):
            image = axis.imshow(method["matrix"], cmap="RdYlBu", vmin=-10, vmax=10)
            axis.set(title=method["name"], xlabel="Bob", xticks=[], yticks=[], ylabel="" if i else "Alice")
        assert image is not None
        figure.colorbar(image, ax=axes, label="points (higher is better)", extend="min")
        save(figure, path)
