"""The transformer belief: its sequences say what is seen and no more, and it is trained and judged as the LSTM is."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.belief.hanabi import estimators, networks
from trickformer.belief.hanabi.config import VARIANTS, BeliefTraining, Evaluation
from trickformer.belief.hanabi.learned import Seq2SeqSizes
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.belief.hanabi.seat_tokens import SeatTokens, initial_embeddings, longest
from trickformer.belief.hanabi.transformer import Transformer
from trickformer.games.hanabi import hint
from trickformer.studies.belief import evaluation, training

PAIR = ("smart", "piers")
SEED = 11
LEARN = {"model": "transformer", "hidden": 8, "heads": 2, "games": 2, "targets": 3, "steps": 4, "save_every": 2}


def rules(name: str) -> _core.hanabi.Rules:
    return _core.hanabi.Rules(**VARIANTS.get(name, {"colors": 2, "ranks": 3, "hand": 3}))


def tiny(process: HanabiProcess, seed: int = 1, hidden: int = 16, layers: int = 2) -> Transformer:
    torch.manual_seed(seed)
    p = process
    shape = Seq2SeqSizes(p.features, p.controls, p.slots, p.rules.kinds, p.traits, p.hint_bits, hidden, layers)
    return Transformer(shape, *initial_embeddings(p), heads=2)


def played(process: HanabiProcess, n: int):
    """Tables at every position of n games, and the moves between, int64 [T - 1, n]; -1 where a game was over."""
    tables, actions = [process.start(SEED, 0, n)], []
    mover = HanabiProcess(process.rules, Form.HMM, PAIR)
    while (tables[-1].current() >= 0).any():
        after, done = mover.move(tables[-1], None, SEED + len(tables))
        actions.append(np.where(tables[-1].current() >= 0, done, -1))
        tables.append(after)
    return tables, np.array(actions)


def sequences(process: HanabiProcess, tables, actions) -> SeatTokens:
    found = SeatTokens(process, tables[0])
    for before, done, after in zip(tables, actions, tables[1:]):
        found.move(before, done, after)
    return found


@pytest.mark.parametrize("name", [*VARIANTS, "few cards"])
@pytest.mark.parametrize("seat", [0, 1])
def test_the_sequence_of_a_seat_is_the_tokenizers(name, seat):
    """Of whole games; the end alone is left out, for nothing is hidden then that a belief should know."""
    r, n = rules(name), 8
    process = HanabiProcess(r, Form.POMDP, PAIR, seat)
    tables, actions = played(process, n)
    found = sequences(process, tables, actions)
    nobody = np.zeros(r.players, dtype=np.int8)
    decks, history, _ = _core.hanabi.scripted_games(r, nobody, SEED, 0, n)  # the same decks
    history[:] = 255
    history[:, : len(actions)] = np.where(actions < 0, 255, actions).T
    table = _core.hanabi.Codec(r)
    expected = table.encode(np.concatenate([decks, history], axis=1), np.full(n, seat, dtype=np.uint8))
    for i, length in enumerate(found.lengths):
        np.testing.assert_array_equal(found.tokens[i, :length], expected[i, :length], err_msg=f"seed {SEED} game {i}")
        assert expected[i, length] == table.end


def others(x, done: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """int8 [n, players, hand]: other hidden hands with which these moves show the same: the card that is played or
    discarded stays, and so do the slots that a hint names. Counts may forbid them."""
    hands, dealt = x.hands(), np.full_like(x.hands(), -1)
    for i, (action, actor) in enumerate(zip(done, x.current())):
        for p, s in zip(*np.nonzero(hands[i] >= 0)):
            may = np.flatnonzero(x.possible()[i, p, s])
            if action < 2 * x.rules.hand:
                may = may if (p, s) != (actor, action % x.rules.hand) else hands[i, p, s : s + 1]
            elif p != actor:
                _, colour, rank = hint(x.rules, int(action))
                named = [k % x.rules.ranks == rank if colour is None else k // x.rules.ranks == colour for k in may]
                may = may[np.array(named) == named[list(may).index(hands[i, p, s])]]
            dealt[i, p, s] = rng.choice(may)
    return dealt


@pytest.mark.parametrize("form", [Form.HMM, Form.FOSG])
def test_the_public_sequence_does_not_change_with_hidden_hands(form):
    """Every move of some games is told once more with other hands and another deck; the sequence of a seat shows that
    they are others."""
    r, rng, told, seen = rules("5-card-8-hint"), np.random.default_rng(SEED), 0, 0
    process, seat = HanabiProcess(r, form, PAIR), HanabiProcess(r, Form.POMDP, PAIR)
    tables, actions = played(process, 6)
    for t, (before, done) in enumerate(zip(tables, actions)):
        x, done = before.take(np.flatnonzero(done >= 0)), done[done >= 0]
        other = x.take(np.arange(len(x)))
        good = np.flatnonzero(other.redeal(others(x, done, rng), SEED + t))
        x, other, done = x.take(good), other.take(good), done[good]
        told += int((x.hands() != other.hands()).any(axis=(1, 2)).sum())
        found = []
        for system in (process, seat):
            for tables_ in (x, other):
                after = tables_.take(np.arange(len(good)))
                after.step(done)
                found.append(sequences(system, [tables_, after], [done]))
        np.testing.assert_array_equal(found[0].tokens, found[1].tokens, err_msg=f"seed {SEED} position {t}")
        seen += int((found[2].tokens != found[3].tokens).any(axis=1).sum())
    assert told > 50 and seen > 50


def test_the_public_sequence_has_every_move_card_and_hint():
    """Read back, it gives all actions, the card of each play and discard, and the slots of each hint."""
    r, n = rules("5-card-8-hint"), 8
    process = HanabiProcess(r, Form.HMM, PAIR)
    tables, actions = played(process, n)
    found, table = sequences(process, tables, actions), _core.hanabi.Codec(r)
    for i in range(n):
        expected = [table.seat]
        for x, action in zip(tables, actions[:, i]):
            if action < 0:
                break
            actor = int(x.current()[i])
            expected.append(int(action) if actor == 0 else table.token(int(action), 1))
            hands = x.hands()[i]
            if action < 2 * r.hand:
                expected.append(table.card + int(hands[actor, action % r.hand]))
            else:
                _, colour, rank = hint(r, int(action))
                cards = [(c // r.ranks, c % r.ranks) for c in hands[1 - actor] if c >= 0]
                expected.append(
                    table.slots + sum(1 << s for s, c in enumerate(cards) if colour == c[0] or rank == c[1])
                )
        assert found.tokens[i, : found.lengths[i]].tolist() == expected, f"seed {SEED} game {i}"


@pytest.mark.parametrize("name", VARIANTS)
def test_the_longest_sequences_have_room(name):
    """The core's own bound on the moves of a game is the one that counts."""
    r = rules(name)
    _, moves, _ = _core.hanabi.scripted_games(r, np.zeros(2, dtype=np.int8), 0, 0, 1)
    assert longest(HanabiProcess(r, Form.HMM, PAIR)) == 1 + 2 * moves.shape[1]


@pytest.mark.parametrize("form", list(Form))
def test_read_step_by_step_as_in_one_pass(form):
    """The estimator, one position after the other with games leaving as they end, says what the training pass says."""
    process = HanabiProcess(rules("few cards"), form, PAIR)
    model, n = tiny(process), 5
    games = training.play(process, SEED, 0, n)
    with torch.no_grad():
        whole = model.log_probs(model.weights(), model.summaries(games), games.known, games.cards)
    assert whole.shape == (*games.cards.shape, process.rules.kinds)
    each = estimators.TransformerEstimator(process, model)
    mover = HanabiProcess(process.rules, Form.HMM, PAIR)
    x, live, t = process.start(SEED, 0, n), np.arange(n), 0
    each.begin(x)
    while len(live):
        cards = games.cards[t, live].numpy()
        np.testing.assert_array_equal(process.hidden_cards(x)[live], cards, err_msg=f"seed {SEED}: not the same games")
        found = torch.from_numpy(each.log_probs(cards)).exp()
        torch.testing.assert_close(found, whole[t, live].exp(), atol=1e-4, rtol=0)
        t += 1
        after, actions = mover.move(x, None, SEED)  # as training.play draws
        each.observe(x.take(live), None, actions[live], after.take(live))
        stay = np.flatnonzero(after.current()[live] >= 0)
        each.keep(stay)
        x, live = after, live[stay]
    assert t == len(games.cards)


@pytest.mark.slow
@pytest.mark.parametrize("form", [Form.HMM, Form.POMDP])
def test_the_loss_falls(form):
    """On held-out games of few cards, after 60 steps with fresh ones."""
    process = HanabiProcess(rules("few cards"), form, ("smart", "smart"))
    model = tiny(process, hidden=32, layers=1)
    adam = torch.optim.Adam(model.parameters(), lr=5e-3)
    held_out = training.play(process, SEED, 0, 64)
    every = torch.arange(6).expand(64, 6).minimum(held_out.lengths.unsqueeze(1) - 1)
    with torch.no_grad():
        first = training.loss(model, held_out, every).mean().item()
    for step in range(60):
        games = training.play(process, SEED + 1, 32 * step, 32)
        at = (torch.rand(32, 6, generator=torch.Generator().manual_seed(step)) * games.lengths.unsqueeze(1)).long()
        adam.zero_grad()
        training.loss(model, games, at).mean().backward()
        adam.step()
    with torch.no_grad():
        last = training.loss(model, held_out, every).mean().item()
    assert last < first - 0.015, f"from {first}, seed {SEED}"


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return training.command(BeliefTraining(out=tmp_path_factory.mktemp("t") / "run", **LEARN), resume=False)


@pytest.fixture(scope="module")
def lstm(tmp_path_factory):
    options = {k: v for k, v in LEARN.items() if k != "heads"} | {"model": "lstm", "steps": 1}
    return training.command(BeliefTraining(out=tmp_path_factory.mktemp("l") / "run", **options), resume=False)


def test_both_networks_are_judged_on_the_same_games(network, lstm):
    config = Evaluation(
        estimators=["seq2seq", "transformer"], checkpoint=lstm, transformer=network, games=2, stack=2, form="fosg"
    )
    for record in evaluation.command(config, resume=False):
        one, two = record["estimators"].values()
        assert one["cards"] == two["cards"] > 0 and one["loss"] != two["loss"]
        assert 0 < two["loss"] / two["cards"] < 4 and two["missing"] == 0


def test_bad_input_is_refused(command, tmp_path, monkeypatch, network, lstm):
    """One line that names the fault, exit code 2, nothing written."""
    monkeypatch.chdir(tmp_path)
    for arguments, says in (
        (
            ["train", "--model", "transformer", "--hidden", "10", "--heads", "4"],
            "--hidden 10 is not a multiple of --heads 4",
        ),
        (["train", "--model", "rnn"], "rnn"),
        (["evaluate", "--estimators", "transformer"], "transformer needs a network: --transformer FILE"),
        (["evaluate", "--estimators", "transformer", "--transformer", lstm], "is an LSTM; give it as --checkpoint"),
        (["evaluate", "--estimators", "bft", "--checkpoint", network], "seq2seq and bft need an LSTM"),
        (["evaluate", "--estimators", "seq2seq", "--checkpoint", network], "give it as --transformer"),
        (
            ["evaluate", "--estimators", "transformer", "--transformer", network, "--variant", "5-card-2-hint"],
            "not for hmm on 5-card-2-hint",
        ),
    ):
        code, out, err = command("belief", *map(str, arguments), "--out", "run")
        assert code == 2 and out == "" and says in err, err
        assert not list(tmp_path.iterdir())


def test_weights_of_another_network_are_refused(tmp_path, network):
    file = tmp_path / "a.safetensors"
    model, config = networks.load(network)
    networks.save(model, config.model_copy(update={"layers": 1}), ["smart", "smart"], file)
    with pytest.raises(TrickformerError, match="weights of another network"):
        networks.load(file)
