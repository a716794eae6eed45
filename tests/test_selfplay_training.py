"""Training: losses, the head start, fits that go on where they stopped, and what is measured."""

from __future__ import annotations

import copy
import types
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from test_selfplay_hands import fresh_model

from trickformer import games, tokenizers
from trickformer.base import TrickformerError
from trickformer.models.engine import load_engine
from trickformer.models.gpt2 import IGNORE
from trickformer.models.structure import initialize, tied_outcomes
from trickformer.selfplay import generate, metrics, train
from trickformer.selfplay.data import Sequences, crop
from trickformer.selfplay.train import FitOptions, Objective


@pytest.fixture(scope="module")
def accelerator():
    return Accelerator(mixed_precision="bf16", cpu=True)


def tensors(data):
    return torch.from_numpy(data.tokens.astype(np.int64)), torch.from_numpy(data.outcomes.astype(np.int64))


def facts_of(game, tokens):
    facts = torch.from_numpy(tokenizers.make(game).facts(tokens.numpy()).astype(np.int64))
    return facts.masked_fill(facts < 0, IGNORE)


def equal(a, b):
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values()))


# -------------------------------------------------------------------------------------------------- losses


def test_losses_at_every_position_are_the_models_own(hearts):
    eos, model = tokenizers.make(hearts).eos, fresh_model(hearts)
    tokens, outcomes = tensors(generate.cast_hands(hearts, ["random"], 1, 0, 8))
    labels = tokens.clone()
    labels[:, 1:][tokens[:, :-1] == eos] = IGNORE
    with torch.no_grad():
        loss, parts = Objective(model, FitOptions(policy_weight=9.0), [4])(tokens, outcomes, facts_of(hearts, tokens))
        own = model(tokens, labels=labels, value_labels=outcomes)
    torch.testing.assert_close(parts, torch.stack((own.policy_loss, own.value_loss, torch.tensor(0.0))))
    torch.testing.assert_close(loss, own.loss)


def test_drawn_positions_give_the_value_loss_of_each_sequence(hearts, monkeypatch):
    """The drawn positions, replaced by each one equally often, give the mean of the sequences' own value losses, a
    sequence counting as one whatever its length."""
    eos, model = tokenizers.make(hearts).eos, fresh_model(hearts)
    tokens, outcomes = tensors(generate.cast_hands(hearts, ["random"], 1, 0, 8))
    assert sorted(set((tokens != eos).sum(1).tolist())) == [68, 74]
    labels = tokens.clone()
    labels[:, 1:][tokens[:, :-1] == eos] = IGNORE
    positions = 68 * 37  # the least common multiple of both lengths
    every = (torch.arange(positions, dtype=torch.float64) + 0.5) / positions
    monkeypatch.setattr(torch, "rand", lambda n, k, device=None: every.expand(n, k))
    with torch.no_grad():
        objective = Objective(model, FitOptions(value_positions=positions), [4])
        _, parts = objective(tokens, outcomes, facts_of(hearts, tokens))
        alone = [
            model(tokens[i : i + 1], labels=labels[i : i + 1], value_labels=outcomes[i : i + 1]).value_loss
            for i in range(len(tokens))
        ]
    torch.testing.assert_close(parts[1], torch.stack(alone).mean())


def test_drawn_positions_give_the_value_loss_on_average(hearts):
    model = fresh_model(hearts)
    with torch.no_grad():
        model.val_head.weight.mul_(40)  # a loss that differs from place to place
    tokens, outcomes = tensors(generate.cast_hands(hearts, ["random"], 2, 1, 3))  # three hands of one length
    torch.manual_seed(0)
    with torch.no_grad():
        objective = Objective(model, FitOptions(value_positions=16), [4])
        drawn = torch.stack([objective(tokens, outcomes, tokens)[1][1] for _ in range(200)])
        exact = model(tokens, labels=tokens, value_labels=outcomes).value_loss
    error = drawn.std() / len(drawn) ** 0.5
    assert error > 0
    assert abs(drawn.mean() - exact) < 4 * error


def test_the_loss_weighs_its_parts(hearts):
    tokens, outcomes = tensors(generate.cast_hands(hearts, ["random"], 2, 0, 4))
    torch.manual_seed(3)
    objective = Objective(fresh_model(hearts), FitOptions(policy_weight=3.0, facts_weight=2.0), [4])
    facts = facts_of(hearts, tokens)
    with torch.no_grad():
        loss, (policy, value, turn) = objective(tokens, outcomes, facts)
        hidden = objective.model.transformer(tokens).last_hidden_state
        logits = objective.fact_head(hidden)
    torch.testing.assert_close(loss, (3 * policy + value + 2 * turn) / 6)
    turns = facts[..., 0]
    chosen = torch.log_softmax(logits, -1).gather(-1, turns.clamp(min=0)[..., None])[..., 0]
    torch.testing.assert_close(turn, -chosen[turns >= 0].mean())
    assert (turns >= 0).sum() == 4 * 52


def test_losses_of_cropped_sequences_are_those_of_whole_ones(monkeypatch):
    """Skat's games differ in length by a hundred tokens; what lies beyond a batch's longest counts for nothing."""
    game = games.load("skat")
    eos = tokenizers.make(game).eos
    data = generate.cast_hands(game, ["random"], 3, 0, 24)
    whole, outcomes = tensors(data)
    cropped = torch.from_numpy(crop(data.tokens, eos).astype(np.int64))
    assert cropped.shape[1] < whole.shape[1] - 40
    assert (cropped[:, -1] == eos).all() and (cropped[:, -2] != eos).any()
    monkeypatch.setattr(torch, "rand", lambda n, k, device=None: torch.linspace(0, 0.999, k).expand(n, k))
    for positions in (None, 16):
        torch.manual_seed(0)
        objective = Objective(fresh_model(game), FitOptions(facts_weight=1.0, value_positions=positions), [3])
        with torch.no_grad():
            one, parts = objective(whole, outcomes, facts_of(game, whole))
            other, same = objective(cropped, outcomes, facts_of(game, cropped))
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(parts, same, rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------------------------------------------- fits

OPTIONS = FitOptions(epochs=3, batch_size=16, learning_rate=1e-2, warmup_steps=5, facts_weight=1.0, value_positions=8)


@pytest.fixture(scope="module")
def fitting(hearts, accelerator):
    """fit(model, folder, ...) on 256 random hands, dropout on."""
    data = generate.cast_hands(hearts, ["random"], 0, 0, 256)
    start = fresh_model(hearts)
    for module in start.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.1

    def call(folder, options=OPTIONS, seed=4, stop=lambda: False, report=lambda _: None):
        model = copy.deepcopy(start)
        with tied_outcomes(model, hearts.outcomes.labels):
            torch.manual_seed(seed)
            objective = Objective(model, options, [4])
            facts = tokenizers.make(hearts).facts
            done = train.fit(objective, data, facts, seed, accelerator, folder, report, stop)
        return model, done

    return types.SimpleNamespace(fit=call, data=data, start=start)


@pytest.fixture(scope="module")
def unbroken(fitting, tmp_path_factory):
    reports = []
    options = FitOptions(**{**{f: getattr(OPTIONS, f) for f in OPTIONS.__slots__}, "report_every": 20})
    model, done = fitting.fit(tmp_path_factory.mktemp("state"), options, report=reports.append)
    assert done and not model.training
    return model, reports


def test_fit_lowers_the_losses_and_is_reproducible(hearts, fitting, unbroken, tmp_path):
    model, reports = unbroken
    assert [r["step"] for r in reports] == [20, 40, 48]
    assert all(r["speed"] > 0 and r["tflops"] > 0 for r in reports)
    tokens, outcomes = tensors(fitting.data)
    facts = facts_of(hearts, tokens)
    with torch.no_grad():
        before = Objective(fitting.start.eval(), FitOptions(), [4])(tokens, outcomes, facts)[1]
        after = Objective(model, FitOptions(), [4])(tokens, outcomes, facts)[1]
    assert after[0] < before[0] - 0.3
    assert after[1] < before[1] - 0.1
    assert reports[-1]["facts_loss"] < reports[0]["facts_loss"]
    assert equal(model, fitting.fit(tmp_path)[0])
    assert not equal(model, fitting.fit(tmp_path, seed=5)[0])


@pytest.mark.parametrize("at", [1, 16, 25])
def test_a_fit_goes_on_at_the_same_step(fitting, unbroken, tmp_path, at):
    """Stopped once at step `at`, in the first epoch, between two and in the second: the same weights."""
    calls = iter(range(1000))
    _, done = fitting.fit(tmp_path, stop=lambda: next(calls) == at)
    assert not done and train.saved_step(tmp_path) == at
    steps = []
    model, done = fitting.fit(tmp_path, report=lambda e: steps.append(e["step"]))
    assert done and steps == [48]
    assert equal(model, unbroken[0])


def test_muon_learns_the_matrices_of_the_blocks_and_goes_on_at_the_same_step(hearts, fitting, tmp_path):
    options = FitOptions(**{f: getattr(OPTIONS, f) for f in OPTIONS.__slots__} | {"muon": 0.02})
    whole, _ = fitting.fit(tmp_path / "whole", options)
    calls = iter(range(1000))
    fitting.fit(tmp_path / "broken", options, stop=lambda: next(calls) == 20)
    assert equal(fitting.fit(tmp_path / "broken", options)[0], whole)
    with torch.no_grad():
        moved = whole.transformer.h[0].attn.c_attn.weight - fitting.start.transformer.h[0].attn.c_attn.weight
    # Its steps are near orthogonal: all directions of a matrix move alike, and not a few of them.
    spectrum = torch.linalg.svdvals(moved)
    assert spectrum.median() > 0.2 * spectrum.max()


def test_states_are_kept_on_the_way_and_replace_each_other(fitting, unbroken, tmp_path):
    options = FitOptions(**{**{f: getattr(OPTIONS, f) for f in OPTIONS.__slots__}, "save_every": 10})
    seen = []

    def stop():
        seen.append(sorted(p.name for p in tmp_path.iterdir()) if tmp_path.exists() else [])
        if len(seen) == 35:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        fitting.fit(tmp_path, options, stop=stop)
    assert seen[-1] == ["30"] and ["10"] in seen and ["20"] in seen
    (tmp_path / "40.part").mkdir()  # being written when the run was killed
    assert not fitting.fit(tmp_path, options, stop=lambda: True)[1]  # where a state is already
    model, done = fitting.fit(tmp_path, options)
    assert done and equal(model, unbroken[0])


def test_a_damaged_state_is_refused(fitting, tmp_path):
    calls = iter(range(1000))
    fitting.fit(tmp_path, stop=lambda: next(calls) == 3)
    weights = tmp_path / "3" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-5])
    with pytest.raises(TrickformerError, match=r"3 is damaged \(.*\); remove it$"):
        fitting.fit(tmp_path)


def test_every_epoch_takes_each_sequence_once():
    options = FitOptions(epochs=2, batch_size=8)
    batches = list(train._batches(35, options, 1, 0))
    assert len(batches) == options.steps(35) == 8
    for epoch in (batches[:4], batches[4:]):
        assert len(set(np.concatenate(epoch).tolist())) == 32
    assert not np.array_equal(batches[0], batches[4])
    for done in range(9):
        rest = list(train._batches(35, options, 1, done))
        assert len(rest) == 8 - done and all(np.array_equal(a, b) for a, b in zip(rest, batches[done:]))


def test_forward_flops_are_those_that_torch_counts(hearts):
    from torch.utils.flop_counter import FlopCounterMode

    model = fresh_model(hearts)
    model.set_attn_implementation("eager")
    tokens, _ = tensors(generate.cast_hands(hearts, ["random"], 0, 0, 2))
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(tokens)
    expected = 2 * train.forward_flops(model.config, 75, 75)
    assert counter.get_total_flops() == pytest.approx(expected, rel=1e-6)


# -------------------------------------------------------------------------------------------- the head start


def test_tied_outcomes_share_and_leave_a_plain_weight(hearts):
    model = fresh_model(hearts)
    names, own = list(model.state_dict()), model.val_head.weight.detach().clone()
    tokens, _ = tensors(generate.cast_hands(hearts, ["random"], 3, 0, 4))
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


# ------------------------------------------------------------------------------------------------- metrics


class _Oracle(torch.nn.Module):
    """Answers as if it knew: the next token with probability 0.8 among all, the outcome for certain."""

    def __init__(self, game, tokens, outcomes):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        n = len(tokenizers.make(game).vocab)
        self._answers = {}
        for row, outcome in zip(tokens, outcomes):
            logits = torch.zeros(len(row), n)
            logits[torch.arange(len(row) - 1), row[1:]] = float(np.log(0.8 / 0.2 * (n - 1)))
            values = torch.full((len(row), len(game.outcomes.labels)), -30.0)
            values[:, outcome] = 30.0
            self._answers[tuple(row.tolist())] = logits, values

    def forward(self, tokens):
        found = [self._answers[tuple(row.tolist())] for row in tokens]
        return types.SimpleNamespace(
            logits=torch.stack([f[0] for f in found]), value_logits=torch.stack([f[1] for f in found])
        )


def test_what_is_measured_of_one_who_knows(hearts):
    data = generate.cast_hands(hearts, ["random"], 5, 0, 60)
    tokenizer = tokenizers.make(hearts)
    found = metrics.measure(_Oracle(hearts, *tensors(data)), hearts, tokenizer, data)
    assert found["observation_loss"] == pytest.approx(-np.log(0.8), abs=1e-5)
    assert found["outcome_loss"] == pytest.approx(0, abs=1e-5)
    assert found["calibration_error"] == pytest.approx(0, abs=1e-4)
    legal, _ = metrics._own_turns(tokenizer, data.tokens)
    others = 0.2 / (len(tokenizer.vocab) - 1)
    assert found["legal_share"] == pytest.approx(0.8 + others * (legal.sum(axis=1) - 1).mean(), abs=1e-5)
    several = legal.sum(axis=1)[legal.sum(axis=1) > 1]
    high, low = 0.8 / (0.8 + others * (several - 1)), others / (0.8 + others * (several - 1))
    entropy = -(high * np.log(high) + (several - 1) * low * np.log(low))
    assert found["entropy"] == pytest.approx(entropy.mean(), abs=1e-5)


def test_calibration_is_the_distance_of_bins():
    rng = np.random.default_rng(0)
    expected = rng.uniform(0, 10, 40_000)
    came = rng.poisson(expected).astype(float)
    assert metrics._calibration(expected, came) < 0.1
    assert metrics._calibration(expected + 2, came) == pytest.approx(2, abs=0.1)
    assert metrics._calibration(rng.permutation(expected), came) == pytest.approx(2.5, abs=0.1)


def test_free_histories_of_an_untrained_model_are_illegal(hearts):
    tokenizer = tokenizers.make(hearts)
    engine = load_engine(fresh_model(hearts), hearts.outcomes.values)
    data = generate.cast_hands(hearts, ["random"], 5, 0, 40)
    assert metrics.illegal_rate(engine, tokenizer, data, 0) == 1
    assert engine.used == 0


def test_games_without_an_own_decision_have_no_free_histories():
    """With one life: seat 0 loses it with its first card."""
    game = games.load("hanabi(players=2,max_life_tokens=1)")
    tokenizer = tokenizers.make(game)
    states = []
    for index in range(20):
        state = game.deal(1, index)
        state.apply_action(5)  # plays the oldest card
        if state.is_terminal():
            states.append(state)
    tokens = np.array([tokenizer.encode(game.view(state, 1)) for state in states])
    data = Sequences(tokens.astype(np.int16), np.zeros(len(states), np.int32))
    engine: Any = None
    assert len(states) > 5 and metrics.illegal_rate(engine, tokenizer, data, 0) == 0


def test_free_histories_are_judged_by_the_tracker(hearts):
    """An engine that always knows the next token of the one hand there is makes no illegal history."""
    tokenizer = tokenizers.make(hearts)
    data = generate.cast_hands(hearts, ["random"], 5, 1, 1)
    row = data.tokens[0].astype(np.int32)

    class Reciting:
        def extend(self, nodes, tokens, counts=None):
            return np.cumsum(np.ones(len(tokens), np.int32)) - 1 if counts is not None else nodes + 1

        def policy(self, nodes):
            logits = np.full((len(nodes), len(tokenizer.vocab)), -1e9, dtype=np.float32)
            logits[np.arange(len(nodes)), row[nodes + 1]] = 0
            return logits

        def reset(self):
            pass

    assert metrics.illegal_rate(Reciting(), tokenizer, data, 0) == 0
