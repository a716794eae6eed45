"""Self-play training: hands for it, its losses, the head start, and runs that go on where they stopped."""

from __future__ import annotations

import copy
import json
import shutil

import numpy as np
import pytest
import torch
from conftest import hearts_with

from trickformer import checkpoints, config, players, tokenizers
from trickformer.base import TrickformerError, View
from trickformer.models import presets
from trickformer.models.engine import load_engine
from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.models.structure import initialize, tied_outcomes
from trickformer.selfplay import generate, nfsp, train
from trickformer.selfplay.config import Config
from trickformer.tokenizers.hearts import POSITION


def sequences(data, eos):
    """Each sequence with one end token, after a look at how it is filled up."""
    for row in data.tokens.astype(np.int32):
        end = int(np.argmax(row == eos))
        assert (row[end:] == eos).all()
        yield row[: end + 1]


def fresh_model(game, seed=0):
    tokenizer = tokenizers.make(game)
    torch.manual_seed(seed)
    sizes = len(tokenizer.vocab), tokenizer.n_positions, len(game.outcomes.labels), tokenizer.eos
    return GPT2PolicyValueModel(presets.config("tiny", *sizes)).eval()


def equal(a, b):
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values()))


# --------------------------------------------------------------------------------------------------- hands


@pytest.mark.parametrize("options", [{}, {"pass_cards": False}, {"jd_bonus": True, "avoid_all_tricks_bonus": True}])
def test_random_hands_are_legal_and_end_as_they_say(options):
    game = hearts_with(**options)
    tokenizer = tokenizers.make(game)
    data = generate.random_hands(game, 7, 64)
    assert data.tokens.shape == (64, 75)
    seen = set()
    for tokens, outcome in zip(sequences(data, tokenizer.eos), data.outcomes):
        events = tokenizer.decode(tokens)  # raises on a hand that no deal explains
        assert tokenizer.tracker(tokens).outcome() == outcome
        seen.add((tokens[0] - POSITION, events[0].action))
    directions = range(4) if game.rules["pass_cards"] else (0,)
    assert seen == {(seat, direction) for seat in range(4) for direction in directions}
    again, other = generate.random_hands(game, 7, 64), generate.random_hands(game, 8, 64)
    assert np.array_equal(again.tokens, data.tokens)
    assert not np.array_equal(other.tokens, data.tokens)


@pytest.fixture(scope="module")
def engines(hearts, tiny_checkpoint):
    """A model of not too flat weights, and another that plays otherwise."""
    return [load_engine(m, hearts.outcomes.values) for m in (tiny_checkpoint, fresh_model(hearts, 5))]


@pytest.fixture(scope="module")
def roles():
    """Model and manner of each seat in 24 hands: all four seats greedy, none, or some."""
    rng = np.random.default_rng(1)
    seats, greedy = rng.integers(2, size=(24, 4)), rng.random((24, 4)) < 0.5
    greedy[0], greedy[1] = True, False
    return seats, greedy


@pytest.fixture(scope="module")
def played(hearts, engines, roles):
    return generate.model_hands(hearts, engines, *roles, seed=3, first=4)


def test_model_hands_keep_the_greedy_seats_and_are_legal(hearts, played, roles):
    tokenizer = tokenizers.make(hearts)
    data, scores = played
    hand, seat = np.nonzero(roles[1])
    assert len(data) == len(hand)
    assert scores.shape == (24, 4)
    of_hand = {}
    for tokens, outcome, h, s in zip(sequences(data, tokenizer.eos), data.outcomes, hand, seat):
        events = tokenizer.decode(tokens)
        assert (tokens[0] - POSITION, events[0].action) == (s, h % 4)
        assert tokenizer.tracker(tokens).outcome() == outcome
        assert hearts.outcomes.labels[outcome] == tuple(np.roll(scores[h], -s))
        of_hand.setdefault(h, []).append(tokens)
    for together in of_hand.values():  # seats of one hand hold different cards and see the same plays
        assert len({card for tokens in together for card in tokens[1:14]}) == 13 * len(together)
        assert len({tuple(tokens[-53:]) for tokens in together}) == 1


def test_greedy_choices_are_those_of_the_player(hearts, played, roles, tiny_checkpoint):
    """ArgmaxVal* of the first model, asked again for each decision with the view alone."""
    tokenizer = tokenizers.make(hearts)
    player = players.make(f"argmax:checkpoint={tiny_checkpoint},threshold=0.05", hearts)
    model_of = roles[0][np.nonzero(roles[1])]
    views, chosen = [], []
    for tokens, model in zip(sequences(played[0], tokenizer.eos), model_of):
        if model != 0:
            continue
        tracker = tokenizer.tracker(tokens[:15])
        for i in range(15, len(tokens) - 1):
            if tracker.my_turn():
                legal = tuple(tokenizer.action(int(t)) for t in np.flatnonzero(tracker.legal()))
                views.append(View(int(tokens[0] - POSITION), tokenizer.decode(tokens[:i]), legal))
                chosen.append(tokenizer.action(int(tokens[i])))
            tracker.push(int(tokens[i]))
    assert len(views) > 200
    rngs = [np.random.default_rng(0)] * len(views)
    decisions = player.act(views, rngs, [{} for _ in views])
    assert [d.action for d in decisions] == chosen
    assert sum(len(v.legal) > 1 for v in views) > 100


def test_model_hands_follow_from_the_seed(hearts, engines, played, roles):
    again, scores = generate.model_hands(hearts, engines, *roles, seed=3, first=4)
    assert np.array_equal(again.tokens, played[0].tokens)
    assert np.array_equal(scores, played[1])
    other, _ = generate.model_hands(hearts, engines, *roles, seed=4, first=4)
    assert not np.array_equal(other.tokens, again.tokens)
    assert all(engine.used == 0 for engine in engines)


def test_greedy_hands_do_not_depend_on_the_tables_beside_them(hearts, engines):
    seats, greedy = np.zeros((12, 4), dtype=int), np.ones((12, 4), dtype=bool)
    whole, _ = generate.model_hands(hearts, engines, seats, greedy, seed=9, first=0)
    part, _ = generate.model_hands(hearts, engines, seats[:4], greedy[:4], seed=9, first=8)
    assert np.array_equal(whole.tokens[32:], part.tokens)


# -------------------------------------------------------------------------------------------------- losses


def test_losses_are_the_models_own(hearts, monkeypatch):
    """The drawn positions, replaced by each one equally often, give the model's own value loss, a sequence counting
    as one whatever its length."""
    eos = tokenizers.make(hearts).eos
    model = fresh_model(hearts)
    data = generate.random_hands(hearts, 1, 8)
    tokens = torch.from_numpy(data.tokens.astype(np.int64))
    outcomes = torch.from_numpy(data.outcomes.astype(np.int64))
    lengths = (tokens != eos).sum(1)
    assert sorted(set(lengths.tolist())) == [68, 74]
    labels = tokens.clone()
    labels[:, 1:][tokens[:, :-1] == eos] = -100
    positions = 68 * 37  # the least common multiple of both lengths
    every = (torch.arange(positions, dtype=torch.float64) + 0.5) / positions
    monkeypatch.setattr(torch, "rand", lambda n, k, device=None: every.expand(n, k))
    with torch.no_grad():
        policy, value = train.losses(model, tokens, outcomes, eos, positions)
        own = model(tokens, labels=labels, value_labels=outcomes)
        alone = [
            model(tokens[i : i + 1], labels=labels[i : i + 1], value_labels=outcomes[i : i + 1]).value_loss
            for i in range(len(tokens))
        ]
        long = lengths == 74
        _, value_long = train.losses(model, tokens[long], outcomes[long], eos, positions)
        own_long = model(tokens[long], labels=labels[long], value_labels=outcomes[long])
    torch.testing.assert_close(policy, own.policy_loss)
    torch.testing.assert_close(value, torch.stack(alone).mean())
    torch.testing.assert_close(value_long, own_long.value_loss)


def test_drawn_positions_give_the_value_loss_on_average(hearts):
    eos = tokenizers.make(hearts).eos
    model = fresh_model(hearts)
    with torch.no_grad():
        model.val_head.weight.mul_(40)  # a loss that differs from place to place
    data = generate.random_hands(hearts, 2, 4)
    tokens = torch.from_numpy(data.tokens.astype(np.int64))[1:]  # three hands of one length
    outcomes = torch.from_numpy(data.outcomes.astype(np.int64))[1:]
    torch.manual_seed(0)
    with torch.no_grad():
        drawn = torch.stack([train.losses(model, tokens, outcomes, eos, 16)[1] for _ in range(200)])
        exact = model(tokens, labels=tokens, value_labels=outcomes).value_loss
    error = drawn.std() / len(drawn) ** 0.5
    assert error > 0
    assert abs(drawn.mean() - exact) < 4 * error


def test_fit_lowers_both_losses_and_is_reproducible(hearts):
    eos = tokenizers.make(hearts).eos
    data = generate.random_hands(hearts, 0, 256)
    tokens = torch.from_numpy(data.tokens.astype(np.int64))
    outcomes = torch.from_numpy(data.outcomes.astype(np.int64))
    start = fresh_model(hearts)
    options = train.FitOptions(epochs=6, batch_size=16, learning_rate=1e-2, warmup_steps=5, value_positions=8)
    reports = []

    def fitted(seed, report=lambda _: None):
        model = copy.deepcopy(start)
        train.fit(model, data, hearts.outcomes.labels, options, seed, report, report_every=40)
        return model

    model = fitted(4, reports.append)
    assert [r["step"] for r in reports] == [40, 80, 96]
    with torch.no_grad():
        before = train.losses(start, tokens, outcomes, eos, 32)
        after = train.losses(model, tokens, outcomes, eos, 32)
    assert after[0] < before[0] - 0.3
    assert after[1] < before[1] - 0.3
    assert not model.training
    assert equal(model, fitted(4))
    assert not equal(model, fitted(5))


# -------------------------------------------------------------------------------------------- the head start


def test_tied_outcomes_share_and_leave_a_plain_weight(hearts):
    model = fresh_model(hearts)
    names, own = list(model.state_dict()), model.val_head.weight.detach().clone()
    tokens = torch.from_numpy(generate.random_hands(hearts, 3, 4).tokens.astype(np.int64))
    with torch.no_grad():
        before = model(tokens).value_logits
    with tied_outcomes(model, hearts.outcomes.labels):
        tie = model.val_head.parametrizations.weight[0]
        assert not tie.shared.any()
        with torch.no_grad():
            assert torch.equal(model(tokens).value_logits, before)
            tie.shared[0] = 1  # of the first player's lowest score, -26
        scores = np.array(hearts.outcomes.labels)
        changed = (model.val_head.weight != own).any(1).numpy()
        assert np.array_equal(changed, scores[:, 0] == -26)
        with torch.no_grad():
            tie.shared.normal_()
        traits, shared = tie.traits.clone(), tie.shared.detach().clone()
    assert isinstance(model.val_head.weight, torch.nn.Parameter)
    assert not hasattr(model.val_head, "parametrizations")
    assert list(model.state_dict()) == names
    torch.testing.assert_close(model.val_head.weight.detach(), own + traits @ shared)


def test_an_initialized_model_starts_alike_tokens_alike(hearts):
    model, tokenizer = fresh_model(hearts), tokenizers.make(hearts)
    initialize(model, *tokenizer.features())
    cosine = torch.nn.functional.cosine_similarity
    wte = model.transformer.wte.weight.detach()
    two, three = tokenizer.vocab.index("2C"), tokenizer.vocab.index("3C")
    king, ace = tokenizer.vocab.index("KH"), tokenizer.vocab.index("AH")
    assert cosine(wte[two], wte[three], dim=0) > cosine(wte[two], wte[ace], dim=0)
    assert cosine(wte[king], wte[ace], dim=0) > cosine(wte[king], wte[three], dim=0)


# ---------------------------------------------------------------------------------------------------- runs

TINY = {"game": "hearts", "preset": "tiny", "seed": 6, "random_hands": 256, "iterations": 2, "sequences": 64}
TINY |= {"tables": 16, "structured": True, "dropout": 0.1, "value_positions": 4}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    out = tmp_path_factory.mktemp("selfplay") / "run"
    assert nfsp.run(Config(**TINY, out=out)) == out / "model-2"
    return out


def weights_of(out):
    return {p.parent.name: p.read_bytes() for p in sorted(out.glob("model-?/model.safetensors"))}


def test_the_folder_of_a_run(hearts, unbroken):
    assert {p.name for p in unbroken.iterdir()} == {"config.toml", "log.jsonl", "model-0", "model-1", "model-2"}
    assert config.load(Config, unbroken / "config.toml", {}) == Config(**TINY)
    for i in range(3):
        checkpoints.check(unbroken / f"model-{i}", hearts, tokenizers.make(hearts))
    assert len(set(weights_of(unbroken).values())) == 3
    entries = [json.loads(line) for line in (unbroken / "log.jsonl").read_text().splitlines()]
    assert "python" in entries.pop(0)["build"]
    assert {e["iteration"] for e in entries if "policy_loss" in e} == {0, 1, 2}
    # Iteration 1 keeps four sequences a hand, later ones a single one.
    assert [max(e.get("hands", 0) for e in entries if e["iteration"] == i) for i in range(3)] == [0, 16, 64]


@pytest.mark.parametrize("lost", [["model-1", "model-2"], ["model-2"], ["model-1"]])
def test_a_broken_run_goes_on_to_the_same_weights(unbroken, tmp_path, lost):
    """A folder that was being written when the run was killed is not taken for a model."""
    out = shutil.copytree(unbroken, tmp_path / "run")
    for name in lost:
        (out / name).rename(out / f"{name}.123.part")
    (out / f"{lost[0]}.123.part" / "config.json").unlink()
    assert nfsp.run(Config(**TINY, out=out)) == out / "model-2"
    assert weights_of(out) == weights_of(unbroken)


def test_a_finished_run_is_left_alone(unbroken):
    before = {p: p.stat().st_mtime_ns for p in unbroken.glob("model-*/*")}
    assert nfsp.run(Config(**TINY, out=unbroken)) == unbroken / "model-2"
    assert {p: p.stat().st_mtime_ns for p in unbroken.glob("model-*/*")} == before


def test_another_config_in_the_same_folder_is_refused(unbroken):
    before = (unbroken / "config.toml").read_bytes()
    with pytest.raises(TrickformerError, match=r"^.* holds a run with another config; give --out another folder$"):
        nfsp.run(Config(**TINY | {"seed": 7}, out=unbroken))
    assert (unbroken / "config.toml").read_bytes() == before


def test_a_model_is_written_whole_or_not_at_all(hearts, tmp_path, monkeypatch):
    def stop(self, folder):
        folder.mkdir()
        (folder / "config.json").write_text("{")
        raise KeyboardInterrupt

    model = fresh_model(hearts)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(GPT2PolicyValueModel, "save_pretrained", stop)
        nfsp.save(model, tmp_path / "model-0", torch.float32)
    assert not (tmp_path / "model-0").exists()
    nfsp.save(model, tmp_path / "model-0", torch.bfloat16)
    assert GPT2PolicyValueModel.from_pretrained(tmp_path / "model-0").config.n_embd == 32
