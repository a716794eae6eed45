"""Networks of Hanabi for the tests of RL search."""

from __future__ import annotations

import pytest
import torch
from support.rl_search import SHIPPED, TINY

from trickformer import games
from trickformer.belief.hanabi import networks
from trickformer.belief.hanabi.config import BeliefTraining
from trickformer.models.hanabi_values import ActionValues, HanabiCheckpoint, NetworkSizes, save
from trickformer.studies.belief.system import process_of


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Checkpoints of networks that have learned nothing, by what they are."""
    made = {}
    for name, game, recurrent in (("mlp", TINY, False), ("lstm", TINY, True), ("large", games.load("hanabi"), False)):
        torch.manual_seed(1)
        model, made[name] = (
            ActionValues(NetworkSizes.for_rules(game.rules, 24, 2, recurrent)),
            tmp_path_factory.mktemp(name),
        )
        save(HanabiCheckpoint(model, game.rules, True, 0.0, {}), made[name])
        if name == "mlp":
            made["imitation"] = tmp_path_factory.mktemp("imitation")
            save(HanabiCheckpoint(model, game.rules, True, 0.0, {"method": "clone"}), made["imitation"])
            made["lively"] = tmp_path_factory.mktemp("lively")
            with torch.no_grad():
                model.advantage.weight *= 8
                model.private[0].weight[:, : model.sizes.hands] *= 8  # moves depend on the hands that the seat sees
            save(HanabiCheckpoint(model, game.rules, True, 0.0, {}), made["lively"])
    return made


@pytest.fixture(scope="module")
def belief_networks(tmp_path_factory):
    """Files of untrained belief networks, by form and blueprint."""
    folder, made = tmp_path_factory.mktemp("beliefs"), {}
    for form in ("fosg", "pomdp"):
        for name, player in ((form, "smart"), (f"{form} of a network", SHIPPED)):
            config = BeliefTraining(hidden=8, form=form, players=[player, player])
            made[name] = folder / f"{name}.safetensors"
            networks.save(networks.network_of(config), config, process_of(config).identities(), made[name])
    return made
