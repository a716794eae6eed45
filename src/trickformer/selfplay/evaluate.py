"""Evaluation of an iteration: matches, the learning curve, and signs of collapse."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from trickformer import games, players
from trickformer.base import Game
from trickformer.plumbing import config as configs
from trickformer.plumbing.files import replace
from trickformer.plumbing.folder import CONFIG, RunFolder
from trickformer.plumbing.progress import Show, progress
from trickformer.plumbing.report import draw_figure
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.data import Sequences
from trickformer.selfplay.report import plot_matches
from trickformer.selfplay.results import OPPONENTS as OPPONENTS
from trickformer.selfplay.schedule import held_out_series


def match(config: SelfPlay, out: Path, iteration: int, opponent: str, show: Show = progress) -> dict[str, Any]:
    """Play or continue the match of an iteration's model, as ArgmaxVal*, against an opponent.

    Both play the same deals in every seating.

    Args:
        config: Config of the run.
        out: Run folder.
        iteration: Iteration of the model.
        opponent: `previous` or `baseline`.
        show: Progress of the match.

    Returns:
        `difference` in `Game.score_unit`, the ends `low` and `high` of its 95% interval, and `deals`.
    """
    from trickformer.tournaments import results, run
    from trickformer.tournaments.plan import Tournament

    def argmax(i: int) -> str:
        return f"argmax:checkpoint={(out / f'model-{i}').absolute()},threshold={config.threshold}"

    folder = out / "matches" / f"{iteration}-{opponent}"
    fields = {
        "game": config.game,
        "a": argmax(iteration),
        "b": argmax(iteration - 1) if opponent == "previous" else config.baseline,
        "deals": config.match_deals,
        "seed": held_out_series(config),
        "workers": config.workers,
        "ray": config.ray,
        "out": folder,
    }
    settings = Tournament.model_validate(fields)
    resume = RunFolder(folder).has_run
    if resume:
        earlier = configs.read(Tournament, folder / CONFIG)
        # A match names its models by their paths. If the run was moved, an unfinished match starts again.
        game = games.load(config.game)
        resume = earlier.specs == [players.resolve(spec, game) for spec in settings.specs]
        if not resume:
            shutil.rmtree(folder)
    row = results.TournamentResults(run.tournament(settings, resume, show)).result()["rows"]["All"]
    return {"difference": row["difference"], "low": row["ci95"][0], "high": row["ci95"][1], "deals": config.match_deals}


def warnings(
    game: Game, data: Sequences, measurements: dict[str, float], matches: dict[str, list[dict[str, Any]]]
) -> list[str]:
    """Look for signs of collapse.

    Args:
        game: The game.
        data: Hands that the iteration played.
        measurements: Measurements of the iteration's model, see `metrics.measure`.
        matches: Log entries of the matches up to this iteration, by opponent.

    Returns:
        One line for each sign.
    """
    lines = []
    share = np.bincount(data.outcomes).max() / len(data)
    # If success and failure are the only outcomes, most hands of weak players end in failure.
    if share > (0.5 if len(game.outcomes.labels) > 2 else 0.99):
        lines.append(f"{share:.0%} of the hands end alike: play may have collapsed into one outcome")
    if measurements["entropy"] < 0.02:
        lines.append(f"the policy is all but certain of every action (entropy {measurements['entropy']:.3f} nats)")
    sign = 1 if game.higher_is_better else -1
    previous, baseline = matches.get("previous", []), matches.get("baseline", [])
    if previous and _is_copy(previous[-1]):
        lines.append("the model plays every hand like its predecessor")
    if previous and previous[-1]["low"] is not None:
        least_loss = previous[-1]["low"] if sign < 0 else -previous[-1]["high"]
        if least_loss > 0:
            lines.append(f"the model is worse than its predecessor, by {least_loss:.2f} {game.score_unit} or more")
    if len(baseline) > 1 and None not in (baseline[-1]["low"], baseline[-2]["low"]):
        # Intervals as (low, high); the sign makes higher values better in every game.
        before, now = (sorted((sign * e["low"], sign * e["high"])) for e in baseline[-2:])
        if now[1] < before[0]:
            lines.append("the model does worse against the baseline than its predecessor, beyond both intervals")
    return lines


def _is_copy(entry: dict[str, Any]) -> bool:
    """Return whether a match of several deals had a difference of 0 in each of them."""
    if entry["low"] is None:
        return entry["difference"] == 0 and entry["deals"] > 1
    return entry["low"] == entry["high"] == 0  # version 0.2 wrote this interval if all differences were 0


def curve(game: Game, config: SelfPlay, matches: dict[str, list[dict[str, Any]]], folder: Path) -> None:
    """Write curve.csv and curve.png: the matches by iteration, as in Figure 2 of the GO-MCTS paper.

    Args:
        game: The game.
        config: Config of the run.
        matches: Log entries of matches, by opponent.
        folder: Run folder.
    """
    lines = ["iteration,opponent,difference,low,high,deals"]
    for opponent, entries in matches.items():
        for e in entries:
            lines.append(f"{e['iteration']},{opponent},{e['difference']},{e['low']},{e['high']},{e['deals']}")
    replace(folder / "curve.csv", "\n".join(lines) + "\n")
    draw_figure(lambda file: _draw_curve(game, config, matches, file), folder / "curve.png")


def _draw_curve(game: Game, config: SelfPlay, matches: dict[str, list[dict[str, Any]]], file: Path) -> None:
    from trickformer.plumbing.figures import add_legend, drawing, save

    with drawing(figsize=(7, 4)) as (figure, axes):
        plot_matches(axes, game, config.baseline, matches)
        axes.set_title(
            f"ArgmaxVal* on {game.name}, preset {config.preset}, {config.match_deals} deals a match", fontsize=10
        )
        add_legend(figure, axes)
        save(figure, file)
