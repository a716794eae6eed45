"""The rollout network: in torch, in the core, on disk, learning, and playing whole hands."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from support.learning import check

from trickformer import _core, games, tokenizers
from trickformer.base import BulkHands, TrickformerError
from trickformer.selfplay import generate, rollout_network
from trickformer.selfplay.data import Sequences
from trickformer.selfplay.generate import Labels
from trickformer.selfplay.train import action_loss


@pytest.fixture(scope="module")
def tokenizer(hearts):
    return tokenizers.make(hearts)


def fresh(tokenizer, seed=0, hidden=128):
    torch.manual_seed(seed)
    return rollout_network.RolloutNetwork(tokenizer.n_features, len(tokenizer.vocab), hidden)


@pytest.fixture(scope="module")
def data(hearts):
    return generate.cast_hands(hearts, ["random", "rules"], 1, 0, 60, 4, labels=Labels(0.5, 4))


@pytest.fixture(scope="module")
def features(data, tokenizer):
    """Of every position of ten sequences, float32 [n, F]."""
    return tokenizers.follow(tokenizer, data.tokens[:10])[0].reshape(-1, tokenizer.n_features)


@pytest.mark.parametrize("hidden", [64, 256, 512])
def test_the_cores_values_are_those_of_torch(tokenizer, features, hidden):
    model = fresh(tokenizer, 3, hidden)
    with torch.no_grad():
        expected = model(torch.from_numpy(features)).numpy()
    found = rollout_network.core(model).values(features)
    assert np.std(expected) > 0.05
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)


def test_the_core_chooses_what_the_trackers_features_say(tokenizer):
    """Of a network with large random weights: what is played is worth the most, but for the spread of 0.05."""
    model, n = fresh(tokenizer, 1), 30
    with torch.no_grad():
        model.first.weight.mul_(10)
    net = rollout_network.core(model)
    hands = BulkHands(tokenizer.codec, *played(tokenizer, net, 0, n)[:2])
    tokens, _ = hands.encode_hands(*(a.ravel() for a in np.indices((n, 4))))
    spread = []
    for row, features in zip(tokens.astype(np.int32), tokenizers.follow(tokenizer, tokens)[0]):
        tracker, values = tokenizer.tracker(row[:0]), net.values(features)
        for position, token in enumerate(row[row != tokenizer.eos]):
            if position and tracker.my_turn():
                legal = values[position - 1][tracker.legal()]
                assert values[position - 1, token] > legal.max() - 0.1
                spread.append(legal.max() - legal.min())
            tracker.push(int(token))
    assert np.mean(np.array(spread) > 0.5) > 0.5 and len(spread) > n * 4 * 13


def test_a_network_comes_back_from_its_file(tokenizer, features, tmp_path):
    model, file = fresh(tokenizer), tmp_path / "q.safetensors"
    rollout_network.save(model, file)
    again = rollout_network.read(file)
    assert model.state_dict().keys() == again.state_dict().keys()
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), again.state_dict().values()))
    assert np.array_equal(rollout_network.load(file).values(features), rollout_network.core(model).values(features))
    rollout_network.save(again, tmp_path / "r.safetensors")
    assert (tmp_path / "r.safetensors").read_bytes() == file.read_bytes()


def test_a_damaged_file_is_one_line(tokenizer, tmp_path):
    model, file = fresh(tokenizer), tmp_path / "q.safetensors"

    def refused():
        for use in (rollout_network.read, rollout_network.load):
            with pytest.raises(TrickformerError) as error:
                use(file)
            assert str(file) in str(error.value) and "\n" not in str(error.value)
        return str(error.value)

    refused()  # there is none
    rollout_network.save(model, file)
    whole = file.read_bytes()
    for content in (whole[:-9], whole[:100], b"", b"nonsense" * 40, whole + b"more"):
        file.write_bytes(content)
        refused()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert refused().endswith("is damaged: its checksum differs; train it again")
    weights = model.weights()
    wrong = {"second": weights["second"][:, :-1].copy(), "third": weights["third"][:-1].copy(), "first": np.zeros(5)}
    for name, tensor in wrong.items():
        save_file(weights | {name: tensor.astype(np.float32)}, file)
        assert "holds no rollout network (" in refused() and refused().endswith("train it again")
    save_file({name: weights[name] for name in ("first", "third")}, file)
    assert "second" in refused()


def loss_of(model, data, tokenizer):
    inputs, values, labelled = rollout_network.decision_tensors(data, tokenizer)
    with torch.no_grad():
        return action_loss(model(inputs.float()), values.float(), labelled).item()


def test_a_fit_lowers_the_loss_and_is_reproducible(tokenizer, data):
    start, models = fresh(tokenizer), []
    for seed in (5, 5, 6):
        model = copy.deepcopy(start)
        told = rollout_network.fit(model, data, tokenizer, seed, epochs=6, batch=128)
        models.append(model)
    weights = [torch.cat([p.flatten() for p in m.state_dict().values()]) for m in models]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])
    before, after = loss_of(start, data, tokenizer), loss_of(models[2], data, tokenizer)
    assert after < 0.7 * before
    assert abs(told - after) < 0.3 * after
    model = copy.deepcopy(start)
    rollout_network.fit(model, data, tokenizer, 5, epochs=6, batch=128, piece=37)
    assert torch.equal(torch.cat([p.flatten() for p in model.state_dict().values()]), weights[0])


# ----------------------------------------------------------------------------------------------- whole hands


def played(tokenizer, net, first, n, noise=0.0, random=0.0, share=1.0, seed=4):
    return _core.hearts.mixed_hands(tokenizer.rules, seed, first, n, random, noise, net, share)


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("options", ["", "(pass_cards=False)", "(jd_bonus=True,must_break_hearts=False)"])
def test_hands_of_the_network_are_legal(options, noise):
    """Each action among OpenSpiel's, the scores OpenSpiel's; and as sequences they end as they say."""
    game, n = games.load(f"hearts{options}"), 24
    tokenizer = tokenizers.make(game)
    history, scores, seated = played(tokenizer, rollout_network.core(fresh(tokenizer, 1)), 0, n, noise)
    assert (seated == 2).all()
    for row, score in zip(history.tolist(), scores.tolist()):
        state = game.spiel.new_initial_state()
        for action in row:
            if action != 255:
                assert action in state.legal_actions()
                state.apply_action(action)
        assert state.is_terminal() and list(game.scores(state)) == score
    tokens, outcomes = BulkHands(tokenizers.fast(game), history, scores).encode_hands(
        *(a.ravel() for a in np.indices((n, 4)))
    )
    assert len(check(game, Sequences.without_labels(tokens, outcomes))) == (16 if game.rules["pass_cards"] else 4)


def test_hands_of_the_network_are_the_same_however_they_are_split(tokenizer):
    net = rollout_network.core(fresh(tokenizer, 1))
    whole = played(tokenizer, net, 3, 40, 0.1, 0.2, 0.5)
    assert set(whole[2].ravel().tolist()) == {0, 1, 2}
    for sizes in ([40], [1] * 40, [7, 20, 13]):
        firsts = 3 + np.cumsum([0, *sizes[:-1]])
        parts = [played(tokenizer, net, int(first), n, 0.1, 0.2, 0.5) for first, n in zip(firsts, sizes)]
        for column, pieces in zip(whole, zip(*parts)):
            assert np.array_equal(np.concatenate(pieces), column)
    assert not np.array_equal(played(tokenizer, net, 3, 40, 0.1, 0.2, 0.5, seed=5)[0], whole[0])
    assert not np.array_equal(
        played(tokenizer, rollout_network.core(fresh(tokenizer, 2)), 3, 40, 0.1, 0.2, 0.5)[0], whole[0]
    )


def test_what_was_learned_plays_better_than_random(tokenizer, data):
    """Points a hand of its seats among random ones; of the network that has learned nothing they are no fewer."""
    points, n = {}, 4_000
    model = fresh(tokenizer)
    for name in ("fresh", "learned"):
        if name == "learned":
            rollout_network.fit(model, data, tokenizer, 0, epochs=8, batch=128)
        _, scores, seated = played(tokenizer, rollout_network.core(model), 0, n, random=0.5, share=0.5)
        by_hand = [s[at == 2].mean() - s[at == 0].mean() for s, at in zip(scores, seated) if 0 < (at == 2).sum() < 4]
        points[name] = np.mean(by_hand), np.std(by_hand) / len(by_hand) ** 0.5
    print(points)
    assert points["learned"][0] < -2
    assert points["learned"][0] + 6 * points["learned"][1] < points["fresh"][0] - 6 * points["fresh"][1]


def test_what_the_core_refuses(tokenizer):
    rules, net = tokenizer.rules, rollout_network.core(fresh(tokenizer))
    with pytest.raises(ValueError, match="needs a network"):
        _core.hearts.mixed_hands(rules, 1, 0, 1, 0.0, 0.0, None, 1.0)
    other = rollout_network.core(rollout_network.RolloutNetwork(7, len(tokenizer.vocab), 64))
    with pytest.raises(ValueError, match="trained for another game"):
        _core.hearts.mixed_hands(rules, 1, 0, 1, 0.0, 0.0, other, 1.0)
    with pytest.raises(ValueError, match="trained for another game"):
        generate.cast_hands(games.load("hearts"), ["random"], 1, 0, 1, labels=Labels(1, 1, other))
    with pytest.raises(ValueError, match="must have the length"):
        net.values(np.zeros((2, 7), np.float32))
    with pytest.raises(ValueError, match="a multiple of 64"):
        rollout_network.core(rollout_network.RolloutNetwork(7, 9, 100))
