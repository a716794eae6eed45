"""Training and fine-tuning of Seq2Seq beliefs on a Hanabi of few cards."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from trickformer import _core
from trickformer.belief.hanabi import estimators, networks
from trickformer.belief.hanabi.finetune import FineTunedBelief, Finetuning
from trickformer.belief.hanabi.last_step import LastStepEncoder, squared_norm
from trickformer.belief.hanabi.learned import Seq2Seq, Seq2SeqSizes
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.studies.belief import training

RULES = _core.hanabi.Rules(colors=3, ranks=3, hand=3, hints=5)
PAIR = ("smart", "smart")


def trained(form: Form, steps: int, seed: int = 1) -> tuple[HanabiProcess, Seq2Seq, list[float]]:
    """A small network after so many gradient steps of 32 fresh games, and its loss on others before and after."""
    process = HanabiProcess(RULES, form, PAIR)
    torch.manual_seed(seed)
    model = Seq2Seq(
        Seq2SeqSizes(
            process.features, process.controls, process.slots, RULES.kinds, process.traits, process.hint_bits, hidden=32
        )
    )
    adam = torch.optim.Adam(model.parameters(), lr=5e-3)
    held_out = training.play(process, seed + 1, 0, 64)
    everywhere = torch.arange(8).expand(64, 8).minimum(held_out.lengths.unsqueeze(1) - 1)
    losses = [float(training.loss(model, held_out, everywhere).mean().detach())]
    for step in range(steps):
        games = training.play(process, seed, 32 * step, 32)
        at = (torch.rand(32, 6, generator=torch.Generator().manual_seed(step)) * games.lengths.unsqueeze(1)).long()
        loss = training.loss(model, games, at).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    losses.append(float(training.loss(model, held_out, everywhere).mean().detach()))
    return process, model, losses


@pytest.fixture(scope="module")
def hmm():
    return trained(Form.HMM, 50)


def walk(process: HanabiProcess, seed: int, games: int, cast: dict, draw=None, positions: int = 60) -> dict[str, float]:
    """Mean cross entropy per card of each estimator over the first positions of games; draw(x) is the control."""
    x, sums, cards = process.start(seed, 0, games), dict.fromkeys(cast, 0.0), 0
    for each in cast.values():
        each.begin(x)
    for step in range(positions):
        hidden = process.hidden_cards(x)
        cards += (hidden >= 0).sum()
        for name, each in cast.items():
            at = np.maximum(hidden, 0).astype(np.int64)[..., None]
            log_p = np.take_along_axis(each.log_probs(hidden), at, axis=-1)[..., 0]
            sums[name] -= np.where(hidden >= 0, log_p, 0).sum()
        control = None if draw is None else draw(x)
        after, actions = process.move(x, control, seed + step)
        for each in cast.values():
            each.observe(x, control, actions, after)
        rows = np.flatnonzero(after.current() >= 0)
        if len(rows) == 0:
            break
        x = after.take(rows)
        for each in cast.values():
            each.keep(rows)
    return {name: total / cards for name, total in sums.items()}


@pytest.mark.slow
def test_training_learns_more_than_counting(hmm):
    process, model, losses = hmm
    assert losses[1] < losses[0] - 0.01, losses
    found = walk(process, 77, 20, {"v0": estimators.V0(process), "seq2seq": estimators.Recurrent(process, model)})
    assert found["seq2seq"] < found["v0"] - 0.05


def test_a_stream_of_games_is_a_function_of_seed_and_number():
    """Games 8 .. 15 of a series are the same whether played with others or not: what a run that goes on relies on."""
    process = HanabiProcess(RULES, Form.POMDP, ("flawed", "flawed"))  # who draw their moves
    both, alone = training.play(process, 5, 0, 16), training.play(process, 5, 8, 8)
    assert torch.equal(both.lengths[8:], alone.lengths)
    for g, length in enumerate(alone.lengths.tolist()):
        for name in ("emission", "control", "cards"):
            assert torch.equal(getattr(both, name)[:length, 8 + g], getattr(alone, name)[:length, g]), name
    assert not torch.equal(both.cards[0, :8], both.cards[0, 8:])


def test_controls_are_the_actions_of_the_seat():
    """In a pomdp: the action before the emission where the seat made it, else -1; no other form has any."""
    games = training.play(HanabiProcess(RULES, Form.POMDP, PAIR), 3, 0, 16)
    assert (games.control[0] == -1).all()
    for g, length in enumerate(games.lengths.tolist()):
        own = games.control[1:length, g]
        assert (own[::2] >= 0).all() and (own[1::2] == -1).all()  # seat 0 begins, of two
    for form in (Form.HMM, Form.FOSG):
        assert (training.play(HanabiProcess(RULES, form, PAIR), 3, 0, 4).control == -1).all()


@pytest.mark.slow
@pytest.mark.parametrize("part", ["encoder", "full"])
def test_fine_tuning_is_better_than_the_network(hmm, part):
    process, model, _ = hmm
    tuning = Finetuning(steps=20, batch=16, worlds=320, learning_rate=1e-2, part=part)
    cast = {"seq2seq": estimators.Recurrent(process, model), "bft": estimators.BFT(process, model, tuning, 1)}
    found = walk(process, 78, 16, cast, positions=12)
    assert found["bft"] < found["seq2seq"] - 0.005, found
    notes = cast["bft"].notes()
    assert notes["worlds"] > 0 and notes["infeasible_worlds"] < notes["worlds"] / 4


@pytest.mark.slow
def test_in_a_fosg_fine_tuning_knows_who_acts(hmm):
    """Seats play as the network never saw. Told so, fine-tuning gains more than when it believes the old policy."""
    _, model, _ = hmm
    process = HanabiProcess(RULES, Form.FOSG, PAIR)
    other = _core.hanabi.BOTS.index("iggi")
    tuning = Finetuning(steps=30, batch=16, worlds=400, learning_rate=1e-2, part="full")

    class Misled(estimators.BFT):
        def observe(self, before, control, actions, after):
            super().observe(before, process.players[before.current()], actions, after)

    cast = {
        "seq2seq": estimators.Recurrent(process, model),
        "misled": Misled(process, model, tuning, 1),
        "bft": estimators.BFT(process, model, tuning, 1),
    }
    found = walk(process, 81, 16, cast, lambda x: np.full(len(x), other), positions=8)
    assert found["bft"] < found["misled"] - 0.02 and found["bft"] < found["seq2seq"], found


@pytest.mark.parametrize("part", ["encoder", "full"])
def test_gradients_are_clipped_game_by_game(hmm, part):
    """A norm that none reaches changes nothing; one that all exceed leaves Adam's direction, but for its epsilon."""
    process, model, _ = hmm
    x, found = process.start(82, 0, 3), []
    for clip in (None, 1e6, 1e-2):
        belief = FineTunedBelief(model, process, Finetuning(steps=4, worlds=64, part=part, clip=clip), 1)
        after, _ = process.move(x, None, 5)
        step = belief.observe(belief.begin(x), None, after)
        found.append(belief.log_probs(step, process.hidden_cards(after)))
    np.testing.assert_array_equal(found[0], found[1])
    there = np.isfinite(found[0])
    assert not np.array_equal(found[0], found[2])
    np.testing.assert_allclose(found[2][there], found[0][there], atol=0.05)


def test_without_steps_nothing_changes(hmm):
    process, model, _ = hmm
    tuning = Finetuning(steps=0, worlds=8)
    cast = {"seq2seq": estimators.Recurrent(process, model), "bft": estimators.BFT(process, model, tuning, 1)}
    found = walk(process, 80, 4, cast)
    assert found["bft"] == pytest.approx(found["seq2seq"], abs=1e-6)


def test_hidden_cards_are_not_read(hmm):
    """Two games that look alike, with other cards hidden, are tuned alike."""
    process, model, _ = hmm
    x = process.start(81, 0, 1)
    rng = np.random.default_rng(81)
    counts = process.card_constraints(x)[1][0].astype(int)
    hidden = rng.permutation(np.repeat(np.arange(RULES.kinds), counts))[None, : process.slots].astype(np.int8)
    twin, feasible = process.worlds(x, np.zeros(1, np.int64), hidden, 3)
    assert feasible.all() and not np.array_equal(process.hidden_cards(twin), process.hidden_cards(x))
    found = []
    for table in (x, twin):
        belief = FineTunedBelief(model, process, Finetuning(steps=5, worlds=64), 1)
        # Nothing was done that tells the two apart: the same table stands for what was seen after it.
        step = belief.observe(belief.begin(table), None, table)
        found.append(belief.log_probs(step, hidden))
    np.testing.assert_array_equal(*found)


def test_files(tmp_path, hmm):
    from trickformer.base import TrickformerError
    from trickformer.belief.hanabi.config import BeliefTraining

    config = BeliefTraining(hidden=8, out=tmp_path)
    model = networks.network_of(config)
    networks.save(model, config, config.players, tmp_path / "a.safetensors")
    again, known = networks.load(tmp_path / "a.safetensors")
    assert known.model_dump(exclude={"out"}) == config.model_dump(exclude={"out"})
    for name, w in model.weights().items():
        torch.testing.assert_close(w, again.weights()[name], atol=0, rtol=0)
    assert networks.policies_of(tmp_path / "a.safetensors") == ["smart", "smart"]
    # Version 0.2.0 named the players in the config alone.
    weights = {name: w.detach() for name, w in model.weights().items()}
    save_file(weights, tmp_path / "old.safetensors", {"trickformer_belief": config.model_dump_json(exclude={"out"})})
    assert networks.policies_of(tmp_path / "old.safetensors") == ["smart", "smart"]
    (tmp_path / "b.safetensors").write_bytes(b"nothing")
    # 16 TiB of weights, by a config that lies.
    huge = config.model_copy(update={"hidden": 65_536, "layers": 1_024})
    networks.save(model, huge, config.players, tmp_path / "c.safetensors")
    for name in ("b.safetensors", "none.safetensors", "c.safetensors"):
        with pytest.raises(TrickformerError, match="no belief network"):
            networks.load(tmp_path / name)


def test_an_infinite_clip_is_refused():
    """JSON has no infinity, so the network's file could not hold the config."""
    from trickformer.belief.hanabi.config import BeliefTraining

    with pytest.raises(ValueError, match="clip"):
        BeliefTraining(clip=float("inf"))


@pytest.mark.parametrize("form", [Form.HMM, Form.POMDP])
def test_the_near_encoder_is_tuned_as_all_weights_are(form):
    """Against Adam on every weight of the encoder, a copy a game; and what is seen need not be like any world."""
    seed = 7
    process, model, _ = trained(form, 2, seed)
    games, n, steps, generator = 3, 48, 12, torch.Generator().manual_seed(seed)
    offline = {name: w.detach() for name, w in model.weights().items()}
    state = tuple(
        (torch.randn(games, 32, generator=generator), torch.randn(games, 32, generator=generator)) for _ in "12"
    )
    emission = torch.rand(games, n, process.features, generator=generator) < 0.3
    emission &= torch.rand(games, 1, process.features, generator=generator) < 0.3  # never seen
    emission |= torch.rand(games, 1, process.features, generator=generator) < 0.2  # always seen
    control = torch.tensor([3, -1, 0]) if process.controls else None
    goal = torch.randn(games, n, 32, generator=generator)
    batches = [torch.randperm(n, generator=generator)[:8] for _ in range(steps)]

    near = LastStepEncoder(model, offline, emission, control, state)
    adam, norms = torch.optim.Adam(near.parameters(), lr=3e-3, eps=1e-20), []
    for at in batches:
        adam.zero_grad()
        (near.worlds(at) - goal[:, at]).square().mean(dim=(1, 2)).sum().backward()
        norms.append(near.squared_norm())
        adam.step()

    own = {k: w.expand(games, *w.shape).clone().requires_grad_(k.startswith("encoder")) for k, w in offline.items()}
    adam = torch.optim.Adam([w for w in own.values() if w.requires_grad], lr=3e-3, eps=1e-20)
    before = tuple((out.unsqueeze(1), cell.unsqueeze(1)) for out, cell in state)
    control = None if control is None else control.unsqueeze(1)

    def plainly(y: torch.Tensor) -> torch.Tensor:
        read = None if control is None else control.expand(-1, y.shape[1])
        return model.encode(own, y.float(), read, before)[-1][0]

    assert torch.allclose(plainly(emission[:, :1]), plainly(emission)[:, :1], atol=1e-6)
    for at, norm in zip(batches, norms):
        adam.zero_grad()
        (plainly(emission[:, at]) - goal[:, at]).square().mean(dim=(1, 2)).sum().backward()
        torch.testing.assert_close(norm, squared_norm(w for w in own.values() if w.requires_grad), rtol=1e-3, atol=1e-6)
        adam.step()
    seen = torch.rand(games, process.features, generator=generator) < 0.5
    for y in (seen, emission[:, 0], seen & emission[:, 1]):
        expected = plainly(y.unsqueeze(1))
        assert torch.allclose(near.encode_emission(y.float()), expected, atol=1e-4), (
            (near.encode_emission(y.float()) - expected).abs().max()
        )
    moved = plainly(seen.unsqueeze(1)) - model.encode(
        offline, seen.float(), None if control is None else control[:, 0], state
    )[-1][0].unsqueeze(1)
    assert moved.abs().max() > 0.05  # or there was nothing to compare
