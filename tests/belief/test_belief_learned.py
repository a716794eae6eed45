"""The Seq2Seq network: its LSTM is PyTorch's, its probabilities are what counting and the network say, its samples
follow them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from trickformer import _core
from trickformer.belief.hanabi.learned import CardConstraints, Seq2Seq, Seq2SeqSizes, mean_loss, select_cards
from trickformer.belief.hanabi.recurrence import lstm
from trickformer.plumbing.snapshot import Snapshots

SHAPE = Seq2SeqSizes(features=7, controls=3, slots=3, kinds=4, traits=2, hint_bits=2, hidden=16, layers=2)


@pytest.fixture
def model() -> Seq2Seq:
    torch.manual_seed(3)
    return Seq2Seq(SHAPE)


def known(n: int) -> CardConstraints:
    possible = torch.ones(n, 3, 4, dtype=torch.bool)
    possible[:, 1, 0] = False
    traits = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    return CardConstraints(
        possible,
        torch.tensor([1.0, 2.0, 1.0, 1.0]).expand(n, 4),
        traits.expand(n, 4, 2),
        torch.eye(3, 2).expand(n, 3, 2),
    )


def test_a_snapshot_of_version_0_2_names_the_hint_bits_told(tmp_path):
    @dataclass(frozen=True, slots=True)
    class Former:
        possible: torch.Tensor
        counts: torch.Tensor
        traits: torch.Tensor
        told: torch.Tensor

    k = known(2)
    Snapshots((Former,), {}).save(tmp_path / "old.npz", Former(k.possible, k.counts, k.traits, k.hint_bits), {})
    read = Snapshots((), {}, {"Former": CardConstraints}).load(tmp_path / "old.npz", {})
    assert torch.equal(read.hint_bits, k.hint_bits) and torch.equal(read.possible, k.possible)


def test_the_encoder_is_torchs_lstm(model):
    lstm = torch.nn.LSTM(SHAPE.features + SHAPE.controls, SHAPE.hidden, SHAPE.layers)
    weights = model.weights()
    with torch.no_grad():
        for i in range(SHAPE.layers):
            getattr(lstm, f"weight_ih_l{i}").copy_(weights[f"encoder.{i}.input"].T)
            getattr(lstm, f"weight_hh_l{i}").copy_(weights[f"encoder.{i}.state"].T)
            getattr(lstm, f"bias_ih_l{i}").copy_(weights[f"encoder.{i}.bias"])
            getattr(lstm, f"bias_hh_l{i}").zero_()
    steps, n = 6, 5
    emission, control = torch.randn(steps, n, SHAPE.features), torch.randint(-1, SHAPE.controls, (steps, n))
    one_hot = torch.nn.functional.one_hot(control + 1, SHAPE.controls + 1)[..., 1:].float()
    expected, _ = lstm(torch.cat([emission, one_hot], dim=-1))
    state = model.start(n)
    for t in range(steps):
        state = model.encode(weights, emission[t], control[t], state)
        torch.testing.assert_close(state[-1][0], expected[t])


def test_probabilities_are_of_hands_that_can_be(model):
    """Over all hands they add up to 1; those that counts or hints rule out have none, where no card written can leave a
    later slot without any."""
    hands = torch.cartesian_prod(*[torch.arange(4)] * 3)
    summary = torch.randn(1, SHAPE.hidden).expand(len(hands), -1)
    log_p = select_cards(model.log_probs(model.weights(), summary, known(len(hands)), hands), hands).sum(dim=-1)
    counted = torch.stack([(hands == k).sum(dim=1) for k in range(4)], dim=1)
    can_be = (counted <= torch.tensor([1, 2, 1, 1])).all(dim=1) & (hands[:, 1] != 0)
    assert torch.isinf(log_p[~can_be]).all() and torch.isfinite(log_p[can_be]).all()
    assert log_p.exp().sum().item() == pytest.approx(1, abs=1e-5)


def test_samples_follow_the_probabilities(model):
    n = 40_000
    summary = torch.randn(1, SHAPE.hidden).expand(n, -1)
    cards = model.sample(model.weights(), summary, known(n), torch.Generator().manual_seed(1))
    hands, counts = torch.unique(cards, dim=0, return_counts=True)
    log_p = select_cards(model.log_probs(model.weights(), summary[: len(hands)], known(len(hands)), hands), hands).sum(
        dim=-1
    )
    expected = n * log_p.exp().detach().numpy()
    assert expected.sum() == pytest.approx(n, rel=1e-3)
    chi = ((counts.numpy() - expected) ** 2 / expected).sum()
    assert chi < len(hands) + 5 * np.sqrt(2 * len(hands))


def test_a_network_that_knows_nothing_counts(model):
    """With all weights 0 a card has the probability of drawing it from what is left and allowed."""
    model.set_weights({name: torch.zeros_like(w) for name, w in model.weights().items()})
    cards = torch.tensor([[1, 1, 3]])
    p = select_cards(model.log_probs(model.weights(), torch.zeros(1, SHAPE.hidden), known(1), cards), cards).exp()
    torch.testing.assert_close(p, torch.tensor([[2 / 5, 1 / 3, 1 / 3]]))


def test_missing_cards_count_for_nothing(model):
    k = known(1)
    k.possible[:, 2] = False
    cards = torch.tensor([[1, 3, -1]])
    log_p = model.log_probs(model.weights(), torch.zeros(1, SHAPE.hidden), k, cards)
    assert select_cards(log_p, cards)[0, 2] == 0
    assert mean_loss(log_p, cards).item() == pytest.approx(-select_cards(log_p, cards).sum().item() / 2)
    drawn = model.sample(model.weights(), torch.zeros(1, SHAPE.hidden), k, torch.Generator().manual_seed(0))
    assert drawn[0, 2] == -1


def test_a_stack_of_networks_equals_each_alone():
    """Every function takes one network for each of many games, and gives what each gives by itself."""
    torch.manual_seed(5)
    models = [Seq2Seq(SHAPE) for _ in range(3)]
    stack = {name: torch.stack([m.weights()[name] for m in models]) for name in models[0].weights()}
    emission, control = torch.randn(3, 4, SHAPE.features), torch.randint(-1, SHAPE.controls, (3, 4))
    cards = torch.tensor([[0, 1, 2], [1, 2, 3], [3, 1, 0], [2, 1, 1]]).expand(3, 4, 3)
    start = tuple((out.unsqueeze(1), cell.unsqueeze(1)) for out, cell in models[0].start(3))
    summary = models[0].encode(stack, emission, control, start)[-1][0]
    k = known(4)
    both = CardConstraints(
        k.possible.expand(3, 4, 3, 4),
        k.counts.expand(3, 4, 4),
        k.traits.expand(3, 4, 4, 2),
        k.hint_bits.expand(3, 4, 3, 2),
    )
    log_p = models[0].log_probs(stack, summary, both, cards)
    for i, m in enumerate(models):
        alone = m.encode(m.weights(), emission[i], control[i], m.start(4))[-1][0]
        torch.testing.assert_close(summary[i], alone)
        torch.testing.assert_close(log_p[i], m.log_probs(m.weights(), alone, known(4), cards[i]))


def test_weights_of_another_network_are_refused(model):
    other = Seq2Seq(Seq2SeqSizes(7, 3, 3, 4, 2, 2, hidden=8)).weights()
    with pytest.raises(ValueError, match="another network"):
        model.set_weights(other)


def layer(stacked: bool) -> list[torch.Tensor]:
    """What a layer of 6 units reads: 3 batches of 5 sequences of 4, with one network or one a batch. Some sums are far
    out."""
    generator = torch.Generator().manual_seed(11)
    sizes = (3, 4, 5, 24), (3, 5, 6), ((3, 6, 24) if stacked else (6, 24))
    gates, out, weight = (torch.randn(size, generator=generator) for size in sizes)
    return [
        (gates * torch.tensor([1.0, 1.0, 100.0]).view(3, 1, 1, 1)).requires_grad_(),
        out.requires_grad_(),
        weight.requires_grad_(),
    ]


@pytest.mark.parametrize("stacked", [False, True])
def test_the_cores_layer_is_its_cells_one_after_the_other(stacked):
    """Values and gradients, against the same in float64, cell by cell under autograd."""
    given = layer(stacked)
    plain = [x.detach().double().requires_grad_() for x in given]
    ours, theirs = lstm(*given), lstm(*plain)
    assert torch.allclose(ours.double(), theirs, atol=1e-5)
    goal = torch.randn(ours.shape, generator=torch.Generator().manual_seed(12))
    for a, b in zip(torch.autograd.grad((ours * goal).sum(), given), torch.autograd.grad((theirs * goal).sum(), plain)):
        assert torch.allclose(a.double(), b, atol=1e-5 * float(b.abs().max())), (a - b).abs().max()


@pytest.mark.parametrize("stacked", [False, True])
def test_a_layer_in_bfloat16_is_near(stacked):
    given = layer(stacked)
    exact = lstm(*given)
    with torch.autocast("cpu", torch.bfloat16):
        near = lstm(*given)
    assert near.dtype == torch.float32 and not torch.equal(near, exact)
    assert torch.allclose(near, exact, atol=0.05)
    for a, b in zip(torch.autograd.grad(near.sum(), given), torch.autograd.grad(exact.sum(), given)):
        assert torch.allclose(a, b, atol=0.05 * float(b.abs().max())), (a - b).abs().max()


def test_arrays_of_a_layer_that_do_not_fit_are_refused():
    acts, cells, outs, product, out = (
        np.zeros(s, np.float32) for s in ((2, 3, 4, 8), (2, 4, 4, 2), (2, 3, 4, 2), (2, 4, 8), (2, 4, 2))
    )
    with pytest.raises(IndexError):
        _core.lstm.forward(3, acts, product, acts, cells, outs, out)
    with pytest.raises(ValueError, match="incompatible"):
        _core.lstm.forward(0, acts, product, acts, outs, outs, out)
    for other in (outs.astype(np.float64), np.asfortranarray(outs)):  # which would be written into a copy
        with pytest.raises(TypeError, match="incompatible"):
            _core.lstm.forward(0, acts, product, acts, cells, other, out)
