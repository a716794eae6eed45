"""Specs of players for the tests of RL search in Hanabi."""

from __future__ import annotations

import numpy as np

from trickformer import _core, games
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

TINY = games.load("hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)")
BOT = _core.hanabi.BOTS.index("smart")
SHIPPED = "obl:checkpoint=hanabi-obl-1"

TEAM = {"multi": "true", "worlds": 40, "steps": 10, "batch": 48, "horizon": 1, "threshold": 0}
TEAM |= {"learning_rate": 0.02, "exploration": 0.6, "blueprint": "partner:style=simple"}
NETWORK = {"blueprint": '"obl:checkpoint={lively}"'}  # plays as the player `obl` does
DRAWING = {"blueprint": '"obl:checkpoint={lively},temperature=0.3"'}


def spec(folder, **given):
    options = {"checkpoint": f'"{folder}"', "worlds": 100, "steps": 25, "batch": 32, "learning_rate": 0.01} | given
    return "rl_search:" + ",".join(f"{k}={v}" for k, v in options.items())


def team_spec(folders, **given):
    """Spec of a team that searches, on a blueprint that may name one of the folders."""
    given = TEAM | given
    return spec(folders["mlp"], **given | {"blueprint": given["blueprint"].format(**folders)})


def scores(player, deals):
    hands = [Hand(d, (0, 0)) for d in range(deals)]
    return np.array([r.scores[0] for r in sorted(play(TINY, [player], hands, 4, 1), key=lambda r: r.deal)])
