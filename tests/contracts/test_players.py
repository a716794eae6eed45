"""Every player keeps the contract of base.Player at each table it can play at; specs; OpenSpiel's bots both ways."""

import numpy as np
import pyspiel
import pytest
from pydantic import BaseModel
from support.play import decisions
from support.records import comparable

from trickformer import games, players, tokenizers
from trickformer.base import TrickformerError, UnknownNameError, decision_rng
from trickformer.players import spiel
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

# Quick specs of every player. A player that no test sits down fails `test_every_player_is_seated`.
# {tiny} becomes a folder with a model of random weights; {features} one with features, a masked policy and action
# values, {valued} the same without action values.
SEATED = {
    "argmax": [
        "argmax:checkpoint={tiny}",
        "argmax:checkpoint={tiny},dtype=float32,threshold=0.3",
        "argmax:checkpoint={features}",
        "argmax:checkpoint={valued}",
    ],
    "bsr_uct": [],  # it plays Mines: tests/players/test_mines_search.py
    "engine": [],  # it is a program: tests/players/test_engines.py
    "gomcts": [
        "gomcts:checkpoint={tiny},runs=12",
        "gomcts:checkpoint={tiny},runs=12,wave=4,legal=true,steps=1",
        "gomcts:checkpoint={features},runs=12",
        "gomcts:checkpoint={features},runs=12,wave=4,legal=false,action_values=false",
        "gomcts:checkpoint={valued},runs=12,wave=4",
    ],
    "imitation": ["imitation:checkpoint={tiny}", "imitation:checkpoint={features}"],
    "ismcts": ["ismcts:runs=6"],
    "kermit": [],  # it plays Skat: tests/players/test_skat_players.py
    "native": [],  # it is a module: tests/players/test_native.py
    "obl": [],  # it plays Hanabi, by a checkpoint of its own: tests/obl/test_obl_training.py
    "optimal": [],  # it plays Mines: tests/players/test_mines_search.py
    "partner": ["partner", "partner:style=flawed"],
    "random": ["random"],
    "rl_search": [],  # it plays Hanabi, by a checkpoint of its own: tests/players/test_rl_search.py
    "rule_search": [],  # it plays Hanabi: tests/players/test_rule_search.py
    "rollout": [
        "rollout:policy=random,worlds=1",
        'rollout:prior="argmax:checkpoint={features}",runs=6',
        "rollout:prior=random,runs=6",
        'rollout:policy="argmax:checkpoint={features}",prior="argmax:checkpoint={features}",runs=2',
    ],
    "rules": ["rules"],
    "pimc": [
        "pimc:worlds=4,runs=20",
        "pimc:worlds=4,runs=20,eval=rollout",
        "pimc:worlds=4,runs=20,belief=hearts-small",
    ],
    "sparta": [],  # it plays Hanabi and The Crew: tests/players/test_sparta.py, test_crew_sparta.py
    "spiel": ["spiel:state=true", "spiel"],
    "xinxin": [],  # most builds of OpenSpiel have none: tests/players/test_spiel_bots.py
}


def test_every_player_is_seated():
    assert set(SEATED) == set(players.NAMES)


# A model plays only what has tokens.
LEARNED = tuple(name for name in games.NAMES if name in tokenizers.NAMES)

# Where a player that does not play every game must play; hearts, if it is not said.
HOME = {"partner": "hanabi"}

# Those that play every game. What other players cannot play, they say.
ANYTHING = {"argmax", "gomcts", "imitation", "ismcts", "random", "rollout", "spiel"}


def kinds_in_turn(game, deals):
    """Hands in which two kinds of player sit, dealt in turn."""
    seatings = game.seatings(2)
    return [Hand(d, seatings[d % len(seatings)]) for d in range(deals)]


@pytest.fixture(scope="session")
def with_checkpoint(tiny_checkpoint_of, tiny_features_checkpoint_of):
    """Fills in the checkpoint of a spec, for the game of that name."""

    def fill(spec, name):
        made = {
            "{tiny}": lambda: tiny_checkpoint_of(name),
            "{features}": lambda: tiny_features_checkpoint_of(name),
            "{valued}": lambda: tiny_features_checkpoint_of(name, False),
        }
        for key, make in made.items():
            spec = spec.replace(key, str(make())) if key in spec else spec
        return spec

    return fill


@pytest.mark.slow
@pytest.mark.parametrize("name", games.NAMES)
@pytest.mark.parametrize("spec", [s for specs in SEATED.values() for s in specs])
def test_contract_at_a_table(spec, name, with_checkpoint):
    """Legal, reproducible, and independent of who shares the call: `play` itself checks legality."""
    game = games.load(name)
    player = spec.partition(":")[0]
    learned = name in LEARNED
    if "{" in spec:
        spec = with_checkpoint(spec, name if learned else "hearts")
        if not learned:
            with pytest.raises(TrickformerError, match=f"no model plays {name}: it has no tokenizer"):
                players.make(spec, game)
            return
    if player not in ANYTHING:
        try:
            players.make(spec, game)
        except TrickformerError as refusal:
            assert "\n" not in str(refusal)
            assert player in str(refusal) and name in str(refusal)
            assert name != HOME.get(player, "hearts"), refusal
            return
    hands = kinds_in_turn(game, 3)
    casts = [[players.make(spec, game), players.make("random", game)] for _ in range(2)]
    together = list(play(game, casts[0], hands, 5, 3))
    alone = list(play(game, casts[1], hands, 5, 1))
    assert comparable(together) == comparable(alone)
    for record in together:
        dealt = sum(step.player < 0 for step in replayed(game, record.history).full_history())
        assert sum(record.decisions) == len(record.history) - dealt
        assert all(i <= n for i, n in zip(record.illegal, record.searched))


def replayed(game, history):
    state = game.spiel.new_initial_state()
    for action in history:
        state.apply_action(action)
    return state


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec",
    [
        "argmax:checkpoint={tiny}",
        "argmax:checkpoint={features}",
        "argmax:checkpoint={valued}",
        "gomcts:checkpoint={tiny},runs=8",
        "gomcts:checkpoint={features},runs=8",
        'rollout:policy="argmax:checkpoint={features}",prior="argmax:checkpoint={features}",runs=3',
        "imitation:checkpoint={tiny}",
    ],
)
@pytest.mark.parametrize("name", LEARNED)
def test_a_null_match_is_exactly_zero(spec, name, with_checkpoint):
    """A player and its copy do the same whoever sits where, so every seating of a deal is the same hand."""
    game = games.load(name)
    pair = [players.make(with_checkpoint(spec, name), game) for _ in range(2)]
    deals, seatings = 2, game.seatings(2)
    if spec.startswith("rollout"):  # they take most of the time
        deals, seatings = 1, seatings[:4]
    hands = [Hand(deal, seating) for deal in range(deals) for seating in seatings]
    histories: dict[int, set] = {}
    for record in play(game, pair, hands, seed=4, tables=20):
        histories.setdefault(record.deal, set()).add((record.history, record.scores))
    assert [len(same) for same in histories.values()] == [1] * deals


def test_a_spec_of_several_lines_is_refused_in_one():
    with pytest.raises(TrickformerError) as refusal:
        players.parse('rollout:prior="argmax\n",worlds=2')
    assert "is no text in double quotes" in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.slow
@pytest.mark.parametrize("action_values", [True, False])
@pytest.mark.parametrize("name", LEARNED)
def test_argmax_of_a_model_with_features_is_its_definition(name, action_values, tiny_features_checkpoint_of):
    """Of own turns with a choice in random hands: the highest Q, or V behind the action, by Hugging Face's model."""
    import torch

    from trickformer.models.gpt2 import GPT2PolicyValueModel

    game = games.load(name)
    tokenizer = tokenizers.make(game)
    folder = tiny_features_checkpoint_of(name, action_values)
    model = GPT2PolicyValueModel.from_pretrained(folder).eval()
    player = players.make(f"argmax:checkpoint={folder},dtype=float32,threshold=0.02", game)
    worth = torch.from_numpy(game.outcomes.class_values[:, 0])

    def told(tokens):
        tracker, features = tokenizer.tracker([]), []
        for token in tokens:
            tracker.push(int(token))
            features.append(tracker.features())
        with torch.inference_mode():
            out = model(torch.tensor(tokens)[None].long(), features=torch.from_numpy(np.array(features))[None])
        value = float(out.value_logits[0, -1].softmax(-1) @ worth)
        return out.logits[0, -1].numpy(), value, None if out.action_values is None else out.action_values[0, -1].numpy()

    checked, rng = 0, np.random.default_rng(3)
    for deal in range(20):
        if checked > 12:
            break
        memo = [{} for _ in range(game.players)]
        for state, view in decisions(game, 8, deal):
            if len(view.legal) > 1 and rng.random() < 0.4:
                tokens = tokenizer.encode(view).tolist()
                logits, _, actions = told(tokens)
                legal = [tokenizer.token(a) for a in view.legal]
                likely = np.exp(logits[legal] - logits[legal].max())
                likely = dict(zip(legal, likely / likely.sum()))
                chosen = [t for t in legal if likely[t] >= 0.02] or [max(legal, key=lambda t: likely[t])]
                values = {t: actions[t] if action_values else told([*tokens, t])[1] for t in chosen}
                (decision,) = player.act([view], [rng], [memo[view.viewer]])
                where = f"deal {deal}, {state.history()}"
                assert decision.value == pytest.approx(max(values.values()), abs=1e-4), where
                assert values[tokenizer.token(decision.action)] == pytest.approx(decision.value, abs=1e-4), where
                checked += len(chosen) > 1
            state.apply_action(int(rng.choice(view.legal)))
    assert checked > 12


def test_gomcts_uses_what_a_model_was_trained_for_unless_told(tiny_checkpoint_of, tiny_features_checkpoint_of):
    game = games.load("hearts")

    def used(folder, options=""):
        found = players.make(f"gomcts:checkpoint={folder}{options}", game).options
        return found.legal, found.action_values, found.leaf_action_values

    assert used(tiny_checkpoint_of("hearts")) == (False, False, False)
    assert used(tiny_checkpoint_of("hearts"), ",legal=true") == (True, False, False)
    assert used(tiny_features_checkpoint_of("hearts")) == (True, True, True)
    assert used(tiny_features_checkpoint_of("hearts", False)) == (True, False, False)
    skat = players.make(f"gomcts:checkpoint={tiny_features_checkpoint_of('skat')}", games.load("skat")).options
    assert (skat.legal, skat.action_values, skat.leaf_action_values) == (True, False, False), "labels by a solver"
    off = ",legal=false,action_values=false"
    assert used(tiny_features_checkpoint_of("hearts"), off) == (False, False, True)
    for option in ("action_values", "leaf_action_values", "rollout_action_values"):
        for folder in (tiny_checkpoint_of("hearts"), tiny_features_checkpoint_of("hearts", False)):
            with pytest.raises(TrickformerError, match="has no action values; leave out action_values") as caught:
                used(folder, f",{option}=true")
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", players.NAMES)
def test_options_are_documented_and_specs_resolve(name):
    model = players.options_of(name)
    assert issubclass(model, BaseModel)
    assert model.model_config.get("extra") == "forbid"
    assert players.describe(name)
    for field in model.model_fields.values():
        assert not field.is_required()
        assert field.description
        assert "\n" not in field.description
    canonical = players.resolve(name)
    assert players.parse(canonical) == players.parse(name)
    assert players.resolve(canonical) == canonical


def test_specs():
    assert players.resolve("random") == "random"
    assert players.resolve(" spiel:state=1 ") == "spiel:bot=uniform_random,state=true"
    assert players.parse("spiel:bot=x,state=no")[1].model_dump() == {"bot": "x", "state": False, "worlds": None}


@pytest.mark.parametrize(
    ("spec", "kind", "says"),
    [
        ("nobody", UnknownNameError, "unknown player 'nobody'; choose from: .*random"),
        ("", UnknownNameError, "unknown player ''"),
        ("spiel:bots=x", UnknownNameError, "option of player 'spiel': 'bots'; choose from: bot"),
        ("random:x=1", TrickformerError, "'random' has no options"),
        ("spiel:bot", TrickformerError, "key=value"),
        ("spiel:state=1,state=0", TrickformerError, "twice"),
        ("spiel:state=maybe", TrickformerError, "state=maybe"),
    ],
)
def test_bad_specs(spec, kind, says):
    with pytest.raises(kind, match=says) as caught:
        players.parse(spec)
    assert "\n" not in str(caught.value)


def test_random_is_uniform():
    game = games.load("hearts")
    state = game.deal(1, 1)
    view = game.view(state, state.current_player())
    rngs = [decision_rng(0, 0, 0, n) for n in range(2600)]
    decisions = players.make("random", game).act([view] * len(rngs), rngs, [{}] * len(rngs))
    counts = np.bincount([view.legal.index(d.action) for d in decisions], minlength=13)
    assert ((counts - 200) ** 2 / 200).sum() < 32.9  # chi-square, 12 degrees of freedom, p = 0.001


def test_decision_rng_depends_on_every_part_of_its_key():
    keys = [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (2**63 - 1, 0, 0, 0)]
    draws = {tuple(decision_rng(*key).integers(2**62, size=4).tolist()) for key in keys}
    assert len(draws) == len(keys)
    assert decision_rng(*keys[0]).random() == decision_rng(*keys[0]).random()


@pytest.mark.parametrize(
    ("spec", "game", "says"),
    [
        ("spiel:bot=nobody", "hearts", "unknown bot of OpenSpiel 'nobody'; .*uniform_random"),
        ("spiel:bot=uniform_restricted_actions", "hearts", "cannot play hearts"),
    ],
)
def test_spiel_bots_that_cannot_sit_down(spec, game, says):
    with pytest.raises(TrickformerError, match=says):
        players.make(spec, games.load(game))


def test_a_spiel_bot_that_fails_is_one_line(capfd):
    game = games.load("hearts")
    cast = [players.make("spiel:bot=fixed_action_preference,state=true", game)]
    with pytest.raises(TrickformerError, match="bot 'fixed_action_preference' failed: SpielError: "):
        list(play(game, cast * 2, [Hand(0, (0, 1, 0, 1))], 0, 1))
    capfd.readouterr()  # OpenSpiel prints too


def test_our_player_as_a_bot_of_openspiel():
    game = games.load("hearts")

    def hand():
        bots = [spiel.as_bot(players.make("random", game), game, seat, seed=9) for seat in range(4)]
        histories = []
        for _ in range(2):
            state = game.deal(4, 1)
            for bot in bots:
                bot.restart_at(state)
            while not state.is_terminal():
                seat = state.current_player()
                action = bots[seat].step(state)
                for other in range(4):
                    if other != seat:
                        bots[other].inform_action(state, seat, action)
                state.apply_action(action)
            histories.append(state.history())
        return histories

    first, again = hand(), hand()
    assert first == again
    assert first[0] != first[1]  # every hand has randomness of its own
    bots = [spiel.as_bot(players.make("random", game), game, seat, seed=9) for seat in range(4)]
    assert len(pyspiel.evaluate_bots(game.deal(0, 0), bots, 1)) == 4
