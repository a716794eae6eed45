"""Training: losses, the head start, fits that go on where they stopped, and what is measured."""

from __future__ import annotations

import copy
import types
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from support.learning import cpu_accelerator, fresh_model
from support.losses import losses as paper_losses

from trickformer import games, tokenizers
from trickformer.base import TrickformerError
from trickformer.models.backend import load_backend
from trickformer.models.embeddings import initialize
from trickformer.selfplay import generate, metrics, train
from trickformer.selfplay.data import LABEL, Sequences, starts_of
from trickformer.selfplay.generate import Labels
from trickformer.selfplay.train import IGNORE, FitOptions, Objective


@pytest.fixture(scope="module")
def accelerator():
    return cpu_accelerator()


def tensors(data):
    return torch.from_numpy(data.tokens.astype(np.int64)), torch.from_numpy(data.outcomes.astype(np.int64))


def batch_of(game, model, data):
    return train.batch_of(data, tokenizers.make(game), model, game.outcomes.head_outputs(model.num_labels)[0])


def losses(game, model, data, **options):
    """The loss, and policy, value and actions' loss."""
    with torch.no_grad():
        return Objective(model, FitOptions(**options))(batch_of(game, model, data))


def equal(a, b):
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values()))


# -------------------------------------------------------------------------------------------------- losses


def test_losses_at_every_position_are_the_papers(hearts):
    eos, model = tokenizers.make(hearts).eos, fresh_model(hearts)
    data = generate.cast_hands(hearts, ["random"], 1, 0, 8)
    tokens, outcomes = tensors(data)
    labels = tokens.clone()
    labels[:, 1:][tokens[:, :-1] == eos] = IGNORE
    loss, parts = losses(hearts, model, data, policy_weight=9.0)
    with torch.no_grad():
        own = paper_losses(model(tokens), labels, outcomes)
    torch.testing.assert_close(parts, torch.stack((own.policy, own.value, torch.tensor(0.0))))
    torch.testing.assert_close(loss, own.loss)


def test_drawn_positions_give_the_value_loss_of_each_sequence(hearts, monkeypatch):
    """The drawn positions, replaced by each one equally often, give the mean of the sequences' own value losses, a
    sequence counting as one whatever its length."""
    eos, model = tokenizers.make(hearts).eos, fresh_model(hearts)
    data = generate.cast_hands(hearts, ["random"], 1, 0, 8)
    tokens, outcomes = tensors(data)
    assert sorted(set((tokens != eos).sum(1).tolist())) == [68, 74]
    labels = tokens.clone()
    labels[:, 1:][tokens[:, :-1] == eos] = IGNORE
    positions = 68 * 37  # the least common multiple of both lengths
    every = (torch.arange(positions, dtype=torch.float64) + 0.5) / positions
    monkeypatch.setattr(torch, "rand", lambda n, k, device=None: every.expand(n, k))
    _, parts = losses(hearts, model, data, value_positions=positions)
    with torch.no_grad():
        alone = [
            paper_losses(model(tokens[i : i + 1]), labels[i : i + 1], outcomes[i : i + 1]).value
            for i in range(len(tokens))
        ]
    torch.testing.assert_close(parts[1], torch.stack(alone).mean())


def test_drawn_positions_give_the_value_loss_on_average(hearts):
    model = fresh_model(hearts)
    with torch.no_grad():
        model.val_head.weight.mul_(40)  # a loss that differs from place to place
    data = generate.cast_hands(hearts, ["random"], 2, 1, 3)  # three hands of one length
    tokens, outcomes = tensors(data)
    torch.manual_seed(0)
    with torch.no_grad():
        objective, batch = Objective(model, FitOptions(value_positions=16)), batch_of(hearts, model, data)
        drawn = torch.stack([objective(batch)[1][1] for _ in range(200)])
        exact = paper_losses(model(tokens), tokens, outcomes).value
    error = drawn.std() / len(drawn) ** 0.5
    assert error > 0
    assert abs(drawn.mean() - exact) < 4 * error


def test_the_loss_weighs_its_parts(hearts):
    data = generate.cast_hands(hearts, ["random"], 2, 0, 4, labels=Labels(0.5, 2))
    model = fresh_model(hearts, rich=True)
    loss, (policy, value, actions) = losses(hearts, model, data, policy_weight=3.0, action_weight=2.0)
    assert min(policy, value, actions) > 0
    torch.testing.assert_close(loss, (3 * policy + value + 2 * actions) / 4)
    without, parts = losses(hearts, model, data, policy_weight=3.0)
    torch.testing.assert_close(without, (3 * policy + value) / 4)
    assert parts[2] == 0


@pytest.mark.parametrize("name", ["hearts", "skat"])
def test_the_masked_policy_is_over_the_tokens_that_are_possible(name):
    """Against a softmax by hand, with what a tracker says is possible; the values are told by class."""
    game = games.load(name)
    tokenizer, model = tokenizers.make(game), fresh_model(game, rich=True)
    with torch.no_grad():
        model.lm_head.weight.mul_(30)
    data = generate.cast_hands(game, ["random"], 3, 0, 6)
    known, _ = tokenizers.follow(tokenizer, data.tokens)
    with torch.no_grad():
        found = model(torch.from_numpy(data.tokens.astype(np.int64)), features=torch.from_numpy(known))
    policy, value, over_all = [], [], []
    for i, row in enumerate(data.tokens.astype(np.int32)):
        tracker = tokenizer.tracker(row[:0])
        for t in range(int((row != tokenizer.eos).sum())):
            tracker.push(int(row[t]))
            logits, may = found.logits[i, t].double().numpy(), tracker.possible()
            policy.append(np.log(np.exp(logits[may]).sum()) - logits[row[t + 1]])
            over_all.append(np.log(np.exp(logits).sum()) - logits[row[t + 1]])
            results = found.value_logits[i, t].double().numpy()
            worth = game.outcomes.values[data.outcomes[i], 0]
            own = int(np.flatnonzero(game.outcomes.class_values[:, 0] == worth)[0])
            value.append(np.log(np.exp(results).sum()) - results[own])
    _, parts = losses(game, model, data)
    assert parts[0].item() == pytest.approx(np.mean(policy), rel=1e-4)
    assert parts[1].item() == pytest.approx(np.mean(value), rel=1e-4)
    assert np.mean(over_all) > np.mean(policy) + 0.5


def test_losses_of_cropped_sequences_are_those_of_whole_ones(monkeypatch):
    """Skat's games differ in length by a hundred tokens; what lies beyond a batch's longest counts for nothing."""
    game = games.load("skat")
    tokenizer, model = tokenizers.make(game), fresh_model(game, rich=True)
    data = generate.cast_hands(game, ["random"], 3, 0, 24, labels=Labels(0.3, 1))
    cropped = batch_of(game, model, data)
    assert cropped.tokens.shape[1] < data.tokens.shape[1] - 40
    assert (cropped.tokens[:, -1] == tokenizer.eos).all() and (cropped.tokens[:, -2] != tokenizer.eos).any()
    known, allowed = (torch.from_numpy(a) for a in tokenizers.follow(tokenizer, data.tokens, True))
    whole = replace(cropped, tokens=tensors(data)[0], features=known, possible=allowed)
    monkeypatch.setattr(torch, "rand", lambda n, k, device=None: torch.linspace(0, 0.999, k).expand(n, k))
    for positions in (None, 16):
        objective = Objective(model, FitOptions(action_weight=1.0, value_positions=positions))
        with torch.no_grad():
            one, parts = objective(whole)
            other, same = objective(cropped)
        assert (parts > 0).all()
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(parts, same, rtol=1e-5, atol=1e-6)


def random_labels(rng, n, length, vocabulary):
    """Decisions of sequences, one, several or none each: data and {(row, position): {token: value}}."""
    told, counts, entries = {}, [], []
    for row in range(n):
        positions = sorted(rng.choice(length, rng.integers(0, 4), replace=False).tolist()) if row % 3 else []
        for position in positions:
            tokens = rng.permutation(vocabulary)[: rng.integers(1, 6)].tolist()
            told[row, position] = {token: float(np.float16(rng.normal())) for token in tokens}
        mine = [(p, token, value) for p in positions for token, value in told[row, p].items()]
        counts.append(len(mine))
        entries += mine
    tokens = rng.integers(0, vocabulary, (n, length)).astype(np.uint8)
    data = Sequences(tokens, np.zeros(n, np.int32), starts_of(np.array(counts)), np.array(entries, LABEL))
    return data, told


def test_decisions_are_grouped_and_their_loss_is_its_definition():
    """Against loops in plain Python: labels to decisions, and the loss of decisions."""
    rng = np.random.default_rng(7)
    data, told = random_labels(rng, 300, 9, 12)
    assert any(p == 8 and (row + 1, 0) in told for row, p in told), "the last and the first position side by side"
    rows, positions, values, labelled = train.decisions(data, 12)
    assert list(zip(rows.tolist(), positions.tolist())) == list(told)
    for at, decision in enumerate(told.values()):
        assert {int(t): float(values[at, t]) for t in np.flatnonzero(labelled[at])} == decision
        assert (values[at][~labelled[at]] == 0).all()
    found = rng.normal(size=values.shape).astype(np.float32)
    expected = 0.0
    for q, decision in zip(found.tolist(), told.values()):
        errors = [q[token] - value for token, value in decision.items()]
        level = sum(errors) / len(errors)
        expected += sum((e - level) ** 2 for e in errors) / len(errors) + 0.1 * level**2
    loss = train.action_loss(*(torch.from_numpy(a) for a in (found, values, labelled)))
    assert loss.item() == pytest.approx(expected / len(told), rel=1e-5)
    none = train.decisions(Sequences.without_labels(data.tokens, data.outcomes), 12)
    assert [len(a) for a in none] == [0, 0, 0, 0]


def test_the_actions_loss_asks_where_the_decisions_are(hearts):
    """Of the model's own action values after the token before each decision."""
    model, data = (
        fresh_model(hearts, rich=True),
        generate.cast_hands(hearts, ["random"], 4, 0, 5, 2, labels=Labels(1, 1)),
    )
    batch = batch_of(hearts, model, data)
    tokenizer, at = tokenizers.make(hearts), 0
    with torch.no_grad():
        found = model(batch.tokens, features=batch.features).action_values
    asked = []
    for i, row in enumerate(data.tokens.astype(np.int32)):
        tracker = tokenizer.tracker(row[:0])
        for position in range(int((row != tokenizer.eos).sum())):
            tracker.push(int(row[position]))
            if at < len(batch.rows) and (batch.rows[at], batch.positions[at]) == (i, position):
                assert tracker.my_turn() and np.array_equal(tracker.legal(), batch.labelled[at].numpy())
                asked.append(found[i, position])
                at += 1
    assert at == len(batch.rows) > 50
    loss = train.action_loss(torch.stack(asked), batch.labels, batch.labelled)
    torch.testing.assert_close(losses(hearts, model, data, action_weight=1.0)[1][2], loss)


# ---------------------------------------------------------------------------------------------------- fits

OPTIONS = FitOptions(
    epochs=3, batch_size=16, learning_rate=1e-2, warmup_steps=5, action_weight=100.0, value_positions=8
)


@pytest.fixture(scope="module")
def fitting(hearts, accelerator):
    """fit(model, folder, ...) on 256 random hands with labels, dropout on."""
    data = generate.cast_hands(hearts, ["random"], 0, 0, 256, labels=Labels(1, 8))
    start, tokenizer = fresh_model(hearts, rich=True), tokenizers.make(hearts)
    for module in start.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.1

    def call(folder, options=OPTIONS, seed=4, stop=lambda: False, report=lambda _: None):
        model = copy.deepcopy(start)
        fixed = data, tokenizer, hearts.outcomes.classes, seed, accelerator, folder
        done = train.fit(Objective(model, options), *fixed, report, stop)
        return model, done

    return types.SimpleNamespace(fit=call, data=data, start=start)


@pytest.fixture(scope="module")
def unbroken(fitting, tmp_path_factory):
    reports = []
    options = replace(OPTIONS, report_every=20)
    model, done = fitting.fit(tmp_path_factory.mktemp("state"), options, report=reports.append)
    assert done and not model.training
    return model, reports


@pytest.mark.slow
def test_fit_lowers_the_losses_and_is_reproducible(hearts, fitting, unbroken, tmp_path):
    model, reports = unbroken
    assert [r["step"] for r in reports] == [20, 40, 48]
    assert all(r["speed"] > 0 and r["tflops"] > 0 for r in reports)
    before, after = (losses(hearts, m, fitting.data, action_weight=1.0)[1] for m in (fitting.start.eval(), model))
    assert after[0] < before[0] - 0.15  # it begins with what is possible
    assert after[1] < before[1] - 0.1
    assert after[2] < 0.9 * before[2]
    assert reports[-1]["action_loss"] < reports[0]["action_loss"]
    assert equal(model, fitting.fit(tmp_path)[0])
    assert not equal(model, fitting.fit(tmp_path, seed=5)[0])


@pytest.mark.slow
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


@pytest.mark.slow
def test_muon_learns_the_matrices_of_the_blocks_and_goes_on_at_the_same_step(hearts, fitting, tmp_path):
    options = replace(OPTIONS, muon=0.02)
    whole, _ = fitting.fit(tmp_path / "whole", options)
    calls = iter(range(1000))
    fitting.fit(tmp_path / "broken", options, stop=lambda: next(calls) == 20)
    assert equal(fitting.fit(tmp_path / "broken", options)[0], whole)
    with torch.no_grad():
        moved = whole.transformer.h[0].attn.c_attn.weight - fitting.start.transformer.h[0].attn.c_attn.weight
    # Its steps are near orthogonal: all directions of a matrix move alike, and not a few of them.
    spectrum = torch.linalg.svdvals(moved)
    assert spectrum.median() > 0.2 * spectrum.max()


@pytest.mark.slow
def test_states_are_kept_on_the_way_and_replace_each_other(fitting, unbroken, tmp_path):
    options = replace(OPTIONS, save_every=10)
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
    with pytest.raises(TrickformerError, match=r"model.safetensors is damaged: its checksum"):
        fitting.fit(tmp_path)


def test_every_epoch_takes_each_sequence_once():
    options = FitOptions(epochs=2, batch_size=8)
    batches = list(train.row_batches(35, options, 1, 0))
    assert len(batches) == options.steps(35) == 8
    for epoch in (batches[:4], batches[4:]):
        assert len(set(np.concatenate(epoch).tolist())) == 32
    assert not np.array_equal(batches[0], batches[4])
    for done in range(9):
        rest = list(train.row_batches(35, options, 1, done))
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


def test_an_initialized_model_starts_alike_tokens_alike(hearts):
    model, tokenizer = fresh_model(hearts), tokenizers.make(hearts)
    initialize(model, *tokenizer.initial_embeddings())
    cosine = torch.nn.functional.cosine_similarity
    wte = model.transformer.wte.weight.detach()
    two, three = tokenizer.vocab.index("2C"), tokenizer.vocab.index("3C")
    king, ace = tokenizer.vocab.index("KH"), tokenizer.vocab.index("AH")
    assert cosine(wte[two], wte[three], dim=0) > cosine(wte[two], wte[ace], dim=0)
    assert cosine(wte[king], wte[ace], dim=0) > cosine(wte[king], wte[three], dim=0)


# ------------------------------------------------------------------------------------------------- metrics


class _Oracle(torch.nn.Module):
    """Answers as if it knew: the next token with probability 0.8 among all, the outcome for certain. actions: float
    [n, T, V], of each sequence."""

    def __init__(self, game, tokens, outcomes, actions=None):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.device, self.config, self.n_features = torch.device("cpu"), types.SimpleNamespace(), 0
        self.num_labels, self.actions = len(game.outcomes.labels), actions
        n, self.eos = len(tokenizers.make(game).vocab), tokenizers.make(game).eos
        self._answers = {}
        for i, (row, outcome) in enumerate(zip(tokens, outcomes)):
            logits = torch.zeros(len(row), n)
            logits[torch.arange(len(row) - 1), row[1:]] = float(np.log(0.8 / 0.2 * (n - 1)))
            values = torch.full((len(row), len(game.outcomes.labels)), -30.0)
            values[:, outcome] = 30.0
            self._answers[self._key(row)] = logits, values, None if actions is None else actions[i]

    def _key(self, row):
        return tuple(row[row != self.eos].tolist())

    def forward(self, tokens, features=None):
        found = zip(*(self._answers[self._key(row)] for row in tokens))
        logits, values, actions = (None if f[0] is None else torch.stack(f)[:, : tokens.shape[1]] for f in found)
        return types.SimpleNamespace(logits=logits, value_logits=values, action_values=actions)


def test_what_is_measured_of_one_who_knows(hearts):
    data = generate.cast_hands(hearts, ["random"], 5, 0, 60)
    tokenizer = tokenizers.make(hearts)
    found = metrics.measure(_Oracle(hearts, *tensors(data)), hearts, tokenizer, data)
    assert found["policy_loss"] == pytest.approx(-np.log(0.8), abs=1e-5)
    assert found["value_loss"] == pytest.approx(0, abs=1e-5)
    assert found["calibration_error"] == pytest.approx(0, abs=1e-4)
    legal, _ = metrics.own_turns(tokenizer, data.tokens)
    none, (rows, positions) = metrics.own_turns(tokenizer, data.tokens[:, :0])
    assert none.shape == (0, len(tokenizer.vocab)) and rows.shape == positions.shape == (0,)
    others = 0.2 / (len(tokenizer.vocab) - 1)
    assert found["legal_share"] == pytest.approx(0.8 + others * (legal.sum(axis=1) - 1).mean(), abs=1e-5)
    several = legal.sum(axis=1)[legal.sum(axis=1) > 1]
    high, low = 0.8 / (0.8 + others * (several - 1)), others / (0.8 + others * (several - 1))
    entropy = -(high * np.log(high) + (several - 1) * low * np.log(low))
    assert found["entropy"] == pytest.approx(entropy.mean(), abs=1e-5)
    assert "regret" not in found


def test_regret_is_what_the_best_action_is_better(hearts):
    data = generate.cast_hands(hearts, ["random"], 5, 0, 60, labels=Labels(0.3, 2))
    tokenizer = tokenizers.make(hearts)
    rows, positions, values, labelled = train.decisions(data, len(tokenizer.vocab))
    told = torch.full((*data.tokens.shape, len(tokenizer.vocab)), 9.0)  # others' actions are not to be chosen
    told[rows, positions] = torch.where(torch.from_numpy(labelled), torch.from_numpy(values), 9.0)

    def regret(sign):
        model = _Oracle(hearts, *tensors(data), sign * told)
        return metrics.measure(model, hearts, tokenizer, data)["regret"]

    assert regret(1) == 0
    spread = [row[may].max() - row[may].min() for row, may in zip(values, labelled)]
    assert regret(-1) == pytest.approx(np.mean(spread), rel=1e-5) and np.mean(spread) > 0.05


def test_calibration_is_the_distance_of_bins():
    rng = np.random.default_rng(0)
    expected = rng.uniform(0, 10, 40_000)
    came = rng.poisson(expected).astype(float)
    assert metrics.calibration_error(expected, came) < 0.1
    assert metrics.calibration_error(expected + 2, came) == pytest.approx(2, abs=0.1)
    assert metrics.calibration_error(rng.permutation(expected), came) == pytest.approx(2.5, abs=0.1)


def test_free_histories_of_an_untrained_model_are_illegal(hearts):
    tokenizer = tokenizers.make(hearts)
    backend = load_backend(fresh_model(hearts), hearts.outcomes.values)
    data = generate.cast_hands(hearts, ["random"], 5, 0, 40)
    assert metrics.illegal_rate(backend, tokenizer, data, 0) == 1
    assert backend.node_count == 0


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
    data = Sequences.without_labels(tokens.astype(np.int16), np.zeros(len(states), np.int32))
    backend: Any = None
    assert len(states) > 5 and metrics.illegal_rate(backend, tokenizer, data, 0) == 0


def test_free_histories_are_judged_by_the_tracker(hearts):
    """A backend that always knows the next token of the one hand there is makes no illegal history."""
    tokenizer = tokenizers.make(hearts)
    data = generate.cast_hands(hearts, ["random"], 5, 1, 1)
    row = data.tokens[0].astype(np.int32)

    class Reciting:
        n_features, has_masked_policy = 0, False

        def extend(self, nodes, tokens, counts=None, features=None):
            return np.cumsum(np.ones(len(tokens), np.int32)) - 1 if counts is not None else nodes + 1

        def policy(self, nodes):
            logits = np.full((len(nodes), len(tokenizer.vocab)), -1e9, dtype=np.float32)
            logits[np.arange(len(nodes)), row[nodes + 1]] = 0
            return logits

        def reset(self):
            pass

    assert metrics.illegal_rate(Reciting(), tokenizer, data, 0) == 0
