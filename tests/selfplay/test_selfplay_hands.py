"""Hands for self-play: who sits where, what is kept, and what is written down."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from support.learning import check, fresh_model, sequences
from support.play import hearts_with

from trickformer import games, players, tokenizers
from trickformer.base import Decision, Player, TrickformerError, View, replay
from trickformer.models.backend import load_backend
from trickformer.selfplay import data as stored
from trickformer.selfplay import generate, schedule
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.generate import Roles
from trickformer.tokenizers.hearts import POSITION
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

# --------------------------------------------------------------------------------- random and named players


@pytest.mark.parametrize("options", [{}, {"pass_cards": False}, {"jd_bonus": True, "avoid_all_tricks_bonus": True}])
def test_random_hands_are_legal_and_end_as_they_say(options):
    game = hearts_with(**options)
    data = generate.cast_hands(game, ["random"], 7, 0, 64)
    directions = range(4) if game.rules["pass_cards"] else (0,)
    assert check(game, data) == {(seat, direction) for seat in range(4) for direction in directions}
    again, other = generate.cast_hands(game, ["random"], 7, 0, 64), generate.cast_hands(game, ["random"], 8, 0, 64)
    assert np.array_equal(again.tokens, data.tokens)
    assert not np.array_equal(other.tokens, data.tokens)
    rest = generate.cast_hands(game, ["random"], 7, 40, 24)
    assert np.array_equal(rest.tokens, data.tokens[40:])


@pytest.mark.parametrize("seats", [1, 2, 4])
def test_several_seats_of_a_hand_may_be_kept(hearts, seats):
    data = generate.cast_hands(hearts, ["random"], 7, 4, 12, seats)
    assert len(data) == 12 * seats
    check(hearts, data)
    for start in range(0, len(data), seats):
        hand = data.tokens[start : start + seats]
        assert len(set(hand[:, 0].tolist())) == seats
        assert len(set(hand[:, 1:14].flatten().tolist())) == 13 * seats
        scores = [np.roll(hearts.outcomes.labels[o], t[0] - POSITION) for t, o in zip(hand, data.outcomes[start:])]
        assert all(np.array_equal(s, scores[0]) for s in scores)


def test_hands_of_named_players(hearts):
    cast = ["rules", "random"]
    data = generate.cast_hands(hearts, cast, 3, 4, 40, 4)
    assert len(data) == 160
    assert {seat for seat, _ in check(hearts, data)} == {0, 1, 2, 3}
    assert np.array_equal(generate.cast_hands(hearts, cast, 3, 4, 40, 4).tokens, data.tokens)
    alone = generate.cast_hands(hearts, cast[:1], 3, 4, 40, 4)
    points = lambda d: np.mean([sum(hearts.outcomes.labels[o]) for o in d.outcomes])  # noqa: E731
    assert not np.array_equal(alone.tokens, data.tokens)
    assert points(alone) > 0


# ------------------------------------------------------------------------------------------------- models


@pytest.fixture(scope="module")
def backends(hearts, tiny_checkpoint):
    """A model of not too flat weights, and another that plays otherwise."""
    return [load_backend(m, hearts.outcomes.values) for m in (tiny_checkpoint, fresh_model(hearts, 5))]


@pytest.fixture(scope="module")
def roles():
    """Model and manner of each seat in 24 hands: all four seats greedy, none, or some; all greedy ones are kept."""
    rng = np.random.default_rng(1)
    seats, greedy = rng.integers(2, size=(24, 4)), rng.random((24, 4)) < 0.5
    greedy[0], greedy[1] = True, False
    return Roles(seats, greedy, greedy)


@pytest.fixture(scope="module")
def played(hearts, backends, roles):
    return generate.model_hands(hearts, backends, roles, seed=3, first=4)


def test_model_hands_keep_what_they_should_and_are_legal(hearts, backends, played, roles):
    tokenizer = tokenizers.make(hearts)
    data, scores = played
    hand, seat = np.nonzero(roles.kept)
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
    one = roles.kept & (np.cumsum(roles.kept, axis=1) == 1)
    fewer, same = generate.model_hands(hearts, backends, Roles(roles.model, roles.greedy, one), seed=3, first=4)
    assert np.array_equal(same, scores)
    assert np.array_equal(fewer.tokens, data.tokens[one[roles.kept]])


def test_greedy_choices_are_those_of_the_player(hearts, played, roles, tiny_checkpoint):
    """ArgmaxVal* of the first model, asked again for each decision with the view alone."""
    tokenizer = tokenizers.make(hearts)
    player = players.make(f"argmax:checkpoint={tiny_checkpoint},threshold=0.05", hearts)
    model_of = roles.model[np.nonzero(roles.greedy)]
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


def test_model_hands_follow_from_the_seed(hearts, backends, played, roles):
    again, scores = generate.model_hands(hearts, backends, roles, seed=3, first=4)
    assert np.array_equal(again.tokens, played[0].tokens)
    assert np.array_equal(scores, played[1])
    other, _ = generate.model_hands(hearts, backends, roles, seed=4, first=4)
    assert not np.array_equal(other.tokens, again.tokens)
    assert all(backend.node_count == 0 for backend in backends)


def test_greedy_hands_do_not_depend_on_the_tables_beside_them(hearts, backends):
    every = np.ones((12, 4), dtype=bool)
    roles = Roles(np.zeros((12, 4), dtype=int), every, every)
    part = Roles(roles.model[:4], every[:4], every[:4])
    whole, _ = generate.model_hands(hearts, backends, roles, seed=9, first=0)
    some, _ = generate.model_hands(hearts, backends, part, seed=9, first=8)
    assert np.array_equal(whole.tokens[32:], some.tokens)


# ------------------------------------------------------------------------------------------- another game: Skat


@pytest.fixture(scope="module")
def skat():
    return games.load("skat")


def check_skat(game, data):
    """Every sequence is legal and ends as it says. -> the seats met"""
    tokenizer = tokenizers.make(game)
    assert data.tokens.shape == (len(data), tokenizer.n_positions)
    for tokens, outcome in zip(sequences(data, tokenizer.eos), data.outcomes):
        tokenizer.decode(tokens)  # raises on a hand that no deal explains
        assert tokenizer.tracker(tokens).outcome() == outcome
    return set((data.tokens[:, 0] - tokenizer.vocab.index("seat0")).tolist())


@pytest.mark.parametrize("options", ["", "(scores=value)"])
def test_random_hands_of_skat(options):
    game = games.load(f"skat{options}")
    data = generate.cast_hands(game, ["random"], 7, 0, 64)
    assert check_skat(game, data) == {0, 1, 2}
    assert np.array_equal(generate.cast_hands(game, ["random"], 7, 0, 64).tokens, data.tokens)
    assert not np.array_equal(generate.cast_hands(game, ["random"], 8, 0, 64).tokens, data.tokens)
    assert np.array_equal(generate.cast_hands(game, ["random"], 7, 40, 24).tokens, data.tokens[40:])


@pytest.mark.parametrize("seats", [1, 2, 3])
@pytest.mark.parametrize("cast", [["random"], ["random", "random"]], ids=["core", "players"])
def test_several_seats_of_a_hand_of_skat_may_be_kept(skat, seats, cast):
    """By the core, and by players who are asked one by one: a cast that names one twice is not for the core."""
    data = generate.cast_hands(skat, cast, 7, 4, 12, seats)
    assert len(data) == 12 * seats
    first = tokenizers.make(skat).vocab.index("seat0")
    assert len(check_skat(skat, data)) == 3
    for start in range(0, len(data), seats):
        hand = data.tokens[start : start + seats]
        assert len(set(hand[:, 0].tolist())) == seats
        assert len(set(hand[:, 1:11].flatten().tolist())) == 10 * seats
        scores = [np.roll(skat.outcomes.labels[o], t[0] - first) for t, o in zip(hand, data.outcomes[start:])]
        assert all(np.array_equal(s, scores[0]) for s in scores)


def test_model_hands_of_skat(skat, tiny_checkpoint_of):
    backends = [load_backend(m, skat.outcomes.values) for m in (tiny_checkpoint_of("skat"), fresh_model(skat, 5))]
    rng = np.random.default_rng(1)
    seats, greedy = rng.integers(2, size=(16, 3)), rng.random((16, 3)) < 0.5
    roles = Roles(seats, greedy, np.ones((16, 3), dtype=bool))
    data, scores = generate.model_hands(skat, backends, roles, seed=3, first=5)
    assert scores.shape == (16, 3) and len(data) == 48
    assert check_skat(skat, data) == {0, 1, 2}
    for i, outcome in enumerate(data.outcomes):
        hand, seat = divmod(i, 3)
        assert skat.outcomes.labels[outcome] == tuple(np.roll(scores[hand], -seat).tolist())
    again, same = generate.model_hands(skat, backends, roles, seed=3, first=5)
    assert np.array_equal(again.tokens, data.tokens) and np.array_equal(same, scores)
    fewer, _ = generate.model_hands(skat, backends, Roles(seats, greedy, greedy), seed=3, first=5)
    assert np.array_equal(fewer.tokens, data.tokens[greedy.ravel()])
    assert all(backend.node_count == 0 for backend in backends)


def test_crop_keeps_one_end_token():
    rows = np.array([[1, 2, 9, 9, 9, 9], [3, 4, 5, 9, 9, 9]])
    assert stored.crop(rows, 9).tolist() == [[1, 2, 9, 9], [3, 4, 5, 9]]
    full = np.array([[1, 2, 3]])
    assert stored.crop(full, 9).tolist() == [[1, 2, 3]]
    assert stored.crop(rows[:0], 9).shape == (0, 1)


def anchor_config(**changes):
    given = {"game": "skat", "preset": "tiny", "seed": 5, "bootstrap": ["random"], "sequences": 60, "held_out": 8}
    given |= {"roles": "one", "seats_kept": 1, "noise": 0, "label_share": 0, "action_weight": 0}
    return SelfPlay(**given | {"tables": 16, "iterations": 4, "anchor": 0.3} | changes)


def sequence(data, row):
    return (*data.tokens[row].tolist(), int(data.outcomes[row]))


@pytest.mark.parametrize("tables", [16, 1])
@pytest.mark.parametrize("iteration", [1, 2])
def test_the_bootstraps_players_play_their_share_of_later_hands(skat, tmp_path, iteration, tables):
    config = anchor_config(tables=tables, seats_kept=3)
    for i in range(iteration):
        fresh_model(skat, i).save_pretrained(tmp_path / f"model-{i}")
    hands = 24
    job = schedule.Job(config, iteration, tmp_path, "cpu", range(0, hands, tables), hands)
    pieces = list(schedule.play_pieces(job))
    assert [p.hands for p in pieces] == ([16, 8] if tables == 16 else [1] * hands)
    kept, deals = 3 if iteration == 1 else 1, schedule.series(config, iteration)
    shares = [schedule.count_anchor_hands(config, 1, p.first, p.hands) for p in pieces]
    assert sum(shares) == round(0.3 * hands) == 7
    for piece, share in zip(pieces, shares):
        check_skat(skat, piece.data)
        assert len(piece.data) == kept * piece.hands
        anchors = generate.cast_hands(skat, ["random"], deals, piece.first, share, kept)
        expected = {sequence(anchors, i) for i in range(len(anchors))}
        found = [sequence(piece.data, i) in expected for i in range(len(piece.data))]
        assert sum(found) == len(expected) == share * kept
        hands = np.reshape(found, (piece.hands, kept))
        assert (hands == hands[:, :1]).all(), "a hand's sequences are torn apart"
        first_ones_first = hands[:share].all()
        assert not (1 < share < piece.hands and first_ones_first), "anchored hands are not mixed with the others"
        assert ("greedy_points" in piece.points) == (share < piece.hands)
    again = list(schedule.play_pieces(job))
    assert all(np.array_equal(a.data.tokens, b.data.tokens) for a, b in zip(pieces, again))


def test_without_an_anchor_no_hand_is_the_bootstraps(skat, tmp_path):
    config = anchor_config(anchor=0.0)
    fresh_model(skat).save_pretrained(tmp_path / "model-0")
    (piece,) = schedule.play_pieces(schedule.Job(config, 1, tmp_path, "cpu", range(0, 16, 16), 16))
    assert schedule.count_anchor_hands(config, 1, 0, 16) == 0
    dealt = tokenizers.fast(skat).tables(schedule.series(config, 1), 0, 16).tokens
    rows = {tuple(row) for row in dealt[:, :, :11].reshape(-1, 11).tolist()}
    assert {tuple(row) for row in piece.data.tokens[:, :11].tolist()} <= rows
    random_hands = generate.cast_hands(skat, ["random"], schedule.series(config, 1), 0, 16)
    assert not set(map(bytes, piece.data.tokens)) & set(map(bytes, random_hands.tokens))


def test_it_is_said_who_plays():
    config = anchor_config()
    assert schedule.describe_players(config, 0) == "each seat one of: random"
    assert (
        schedule.describe_players(config, 1)
        == "ArgmaxVal* of model 0 in all seats; in 30% of the hands as in iteration 0"
    )
    assert schedule.describe_players(config, 2).endswith(
        "models 0 to 1 in the others; in 30% of the hands as in iteration 0"
    )
    assert schedule.describe_players(anchor_config(anchor=0.0), 1) == "ArgmaxVal* of model 0 in all seats"
    assert SelfPlay(game="skat").anchor == 0.25 and SelfPlay(game="skat", preset="paper").anchor == 0


# ---------------------------------------------------------------------------------------------- who plays

BASE = {"game": "hearts", "preset": "tiny", "seed": 5, "sequences": 64, "held_out": 8, "tables": 16, "iterations": 4}
BASE |= {"roles": "one", "seats_kept": 1}


def test_the_roles_of_an_iteration():
    config = SelfPlay(**BASE)
    first = schedule.roles(config, 1, 16, 16, 4)
    assert (first.model == 0).all() and first.greedy.all()
    assert (first.kept.sum(axis=1) == 1).all()
    assert (schedule.roles(SelfPlay(**BASE | {"seats_kept": 4}), 1, 0, 8, 4).kept).all()
    later = schedule.roles(config, 3, 0, 4000, 4)
    assert np.array_equal(later.greedy, later.kept)
    assert (later.greedy.sum(axis=1) == 1).all() and (later.greedy.sum(axis=0) == 1000).all()
    assert (later.model[later.greedy] == 2).all()
    counts = np.bincount(later.model[~later.greedy])
    assert len(counts) == 3 and abs(counts - 4000).max() < 5 * (12000 * 2 / 9) ** 0.5
    pairs = {(int(np.argmax(g)), h % 4) for h, g in enumerate(later.greedy[:16])}
    assert len(pairs) == 16  # each seat with each pass direction
    older = schedule.roles(SelfPlay(**BASE | {"pool_newest": False}), 3, 0, 400, 4)
    assert set(older.model[~older.greedy].tolist()) == {0, 1} and (older.model[older.greedy] == 2).all()
    recent = schedule.roles(SelfPlay(**BASE | {"pool": 2}), 4, 0, 400, 4)
    assert set(recent.model[~recent.greedy].tolist()) == {2, 3}
    every = schedule.roles(SelfPlay(**BASE | {"roles": "all"}), 3, 0, 8, 4)
    assert (every.model == 2).all() and every.greedy.all() and (every.kept.sum(axis=1) == 1).all()
    again = schedule.roles(config, 3, 0, 4000, 4)
    assert np.array_equal(again.model, later.model)


def test_how_many_hands_an_iteration_plays():
    config = SelfPlay(**BASE | {"seats_kept": 4, "bootstrap_hands": 100})
    assert schedule.sequences_of(config, 0) == 400
    assert [schedule.hands_of(config, i) for i in range(3)] == [102, 18, 72]
    config = SelfPlay(**BASE | {"roles": "all", "bootstrap_hands": 100})
    assert [schedule.hands_of(config, i) for i in range(3)] == [108, 72, 72]


def test_what_an_iteration_learns_from():
    """The window, but labels by searches and by playouts apart."""

    def learned(n, **given):
        config = SelfPlay(**BASE | {"window": 3, "action_weight": 1, "label_share": 0.5, "label_playouts": 1} | given)
        return [schedule.learned_from(config, i) for i in range(n)]

    assert learned(5) == [[0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert learned(7, search_share=0.5, search_from=3) == [[0], [0, 1], [0, 1, 2], [3], [3, 4], [3, 4, 5], [4, 5, 6]]
    assert learned(4, expert_iteration=True) == [[0], [1], [1, 2], [1, 2, 3]]
    assert learned(4, expert_iteration=True, search_share=0.5) == [[0], [0, 1], [0, 1, 2], [1, 2, 3]]


# ------------------------------------------------------------------------------------------------ on disk


@pytest.fixture
def pieces(hearts):
    data = generate.cast_hands(hearts, ["random"], 2, 0, 30)
    return [data[:12], data[12:25], data[25:]]


def write(folder, game, parts, finish=True):
    with stored.DataWriter(folder, game, tokenizers.make(game), {"seed": 1}) as writer:
        for part in parts:
            writer.append(part, len(part))
        if finish:
            writer.finish()


def test_data_comes_back_mapped(hearts, pieces, tmp_path):
    write(tmp_path / "d", hearts, pieces)
    found = stored.load(tmp_path / "d", hearts, tokenizers.make(hearts))
    assert isinstance(found.tokens, np.memmap) and isinstance(found.outcomes, np.memmap)
    assert np.array_equal(found.tokens, np.concatenate([p.tokens for p in pieces]))
    assert np.array_equal(found.outcomes, np.concatenate([p.outcomes for p in pieces]))
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    assert (manifest["hands"], manifest["sequences"], manifest["game"]) == (30, 30, "hearts()")
    assert len(manifest["vocabulary"]) == 64


def test_writing_goes_on_where_the_manifest_stands(hearts, pieces, tmp_path):
    folder = tmp_path / "d"
    write(folder, hearts, pieces[:2], finish=False)
    with pytest.raises(TrickformerError, match=r"^.* is not complete: 25 sequences so far$"):
        stored.load(folder, hearts, tokenizers.make(hearts))
    for name in (
        "tokens.bin",
        "outcomes.bin",
        "counts.bin",
        "labels.bin",
    ):  # a piece that was cut off before it was counted
        with (folder / name).open("ab") as file:
            file.write(b"\x07" * 33)
    write(folder, hearts, pieces[2:])
    found = stored.load(folder, hearts, tokenizers.make(hearts))
    assert np.array_equal(found.tokens, np.concatenate([p.tokens for p in pieces]))
    assert np.array_equal(found.outcomes, np.concatenate([p.outcomes for p in pieces]))


def test_foreign_and_damaged_data_are_refused_by_name(hearts, pieces, tmp_path):
    folder, tokenizer = tmp_path / "d", tokenizers.make(hearts)
    with pytest.raises(TrickformerError, match=r"d holds no training data: there is no manifest.json$"):
        stored.load(folder, hearts, tokenizer)
    write(folder, hearts, pieces)
    other = games.load("hearts(jd_bonus=True)")
    with pytest.raises(TrickformerError, match=r"game is hearts\(\), not hearts\("):
        stored.load(folder, other, tokenizers.make(other))
    with pytest.raises(TrickformerError, match=r"another kind: seed is 1, not 2$"):
        stored.DataWriter(folder, hearts, tokenizer, {"seed": 2})
    with stored.DataWriter(folder, hearts, tokenizer, {"seed": 1}, who="a player at another path") as writer:
        assert writer.complete
    whole = (folder / "tokens.bin").read_bytes()
    (folder / "tokens.bin").write_bytes(whole[:-1])
    with pytest.raises(TrickformerError, match=r"tokens.bin has 2249 bytes, not the 2250"):
        stored.load(folder, hearts, tokenizer)
    with pytest.raises(TrickformerError, match=r"tokens.bin has 2249 bytes"):
        stored.DataWriter(folder, hearts, tokenizer, {"seed": 1})
    (folder / "tokens.bin").write_bytes(whole)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"vocabulary": "0" * 64}))
    with pytest.raises(TrickformerError, match=r"another kind: vocabulary is 0000"):
        stored.load(folder, hearts, tokenizer)
    (folder / "manifest.json").write_text(json.dumps(manifest)[:-9])
    with pytest.raises(TrickformerError, match=r"manifest.json is damaged; restore"):
        stored.load(folder, hearts, tokenizer)


def test_data_larger_than_what_is_touched_streams(hearts, tmp_path):
    """A sparse file of four million hands opens at once; rows are read where they are asked for."""
    folder, tokenizer, n = tmp_path / "d", tokenizers.make(hearts), 4_000_000
    write(folder, hearts, [])
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"hands": n, "sequences": n}))
    for name, size in (("tokens.bin", 75), ("outcomes.bin", 4), ("counts.bin", 4)):
        with (folder / name).open("r+b") as file:
            file.truncate(n * size)
    data = stored.load(folder, hearts, tokenizer)
    assert len(data) == n and data[n - 2 :].tokens.shape == (2, 75)
    assert isinstance(data[n - 1000 :].tokens, np.memmap)
    assert data[np.array([5, n - 1])].outcomes.tolist() == [0, 0]


def test_guests_play_as_elsewhere(hearts, backends):
    """Four scripted guests play the hands that a tournament plays; one beside models plays its part."""
    nobody, every = np.full((12, 4), -1), np.ones((12, 4), dtype=bool)
    rules = [players.make("rules", hearts)]
    data, _ = generate.model_hands(hearts, backends, Roles(nobody, ~every, every), 9, 40, guests=rules)
    tokenizer = tokenizers.make(hearts)
    for record in play(hearts, rules, [Hand(40 + i, (0,) * 4) for i in range(12)], 9, 12):
        state = replay(hearts.spiel, record.history)
        for seat in range(4):
            tokens = tokenizer.encode(hearts.view(state, seat))
            row = 4 * (record.deal - 40) + seat
            assert data.tokens[row, : len(tokens)].tolist() == tokens.tolist()
            assert data.outcomes[row] == hearts.outcomes.of(record.scores, seat)
    mixed = np.tile([-2, 0, 1, -1], (12, 1))
    guests = [*rules, players.make("random", hearts)]
    whole = generate.model_hands(hearts, backends, Roles(mixed, mixed >= 0, every), 9, 40, guests=guests)
    again = generate.model_hands(hearts, backends, Roles(mixed, mixed >= 0, every), 9, 40, guests=guests)
    np.testing.assert_array_equal(whole[1], again[1])
    own = 0
    for row in whole[0].tokens[3::4].astype(np.int32):  # of the scripted seat
        tracker = tokenizer.tracker(row[:0])
        for at, token in enumerate(row.tolist()):
            if tracker.my_turn() and not tracker.terminal():
                view = View(3, tokenizer.decode(row[:at]), tuple(np.flatnonzero(tracker.legal()).tolist()))
                assert rules[0].act([view], [], [{}])[0].action == token
                own += 1
            if token == tokenizer.eos:
                break
            tracker.push(token)
    assert own > 12 * 13 - 1


class OneByOne(Player):
    """Plays its lowest legal action, decides one view in a call, and remembers the ends of hands."""

    batch = 1

    def __init__(self):
        self.ends = []

    def act(self, views, rng, memo):
        (view,) = views
        memo[0]["decisions"] = memo[0].get("decisions", 0) + 1
        return [Decision(view.legal[0])]

    def end(self, views, scores, memo):
        self.ends.append((views, scores, memo))


def test_guests_get_as_many_views_as_they_take_and_the_ends_of_their_hands(hearts, backends):
    guest, nobody = OneByOne(), np.zeros((6, 4), dtype=bool)
    models = np.tile([-1, 0, 1, -1], (6, 1))
    models[5] = 0
    _, scores = generate.model_hands(hearts, backends, Roles(models, nobody, ~nobody), 9, 40, guests=[guest])
    assert [end[1] for end in guest.ends] == [tuple(row) for row in scores[:5].tolist()]
    for views, _, memos in guest.ends:
        assert [view.viewer for view in views] == [0, 3] and not any(view.legal for view in views)
        for view, memo in zip(views, memos):
            own = sum(event.actor == view.viewer and event.action is not None for event in view.events)
            assert 0 < memo["decisions"] <= own  # forced actions are no decisions


def test_guests_take_seats_that_are_not_kept():
    config = SelfPlay(game="hearts", preset="tiny", guests=["rules", "random"], guest_share=0.5, seats_kept=1)
    found = schedule.roles(config, 2, 100, 4_000, 4)
    sits = found.model < 0
    assert set(np.unique(found.model)) == {-2, -1, 1}
    assert (found.kept.sum(axis=1) == 1).all() and not (sits & found.kept).any()
    assert abs(sits[~found.kept].mean() - 0.5) < 0.02 and (found.greedy == ~sits).all()
    assert "50% of the seats that are not kept by rules, random" in schedule.describe_players(config, 2)
    with pytest.raises(ValueError, match="lower --seats-kept"):
        SelfPlay(game="hearts", preset="tiny", guests=["rules"])


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_a_bootstrap_player_gets_the_calls_it_asks_for(hearts, noise, monkeypatch):
    """No call of more views than it makes use of, and word of how each hand ended, with random moves and without."""
    calls, ended = [], []

    class Spy(Player):
        batch = 3

        def __init__(self):
            self.player = make("rules", hearts)

        def act(self, views, rng, memo):
            calls.append(len(views))
            return self.player.act(views, rng, memo)

        def end(self, views, scores, memo):
            ended.append(len(views))

    make = players.make
    monkeypatch.setattr(players, "make", lambda spec, game: Spy())
    generate.play_hands(hearts, ["spy"], 3, 0, 20, noise)
    assert max(calls) == 3 and ended == [4] * 20
    monkeypatch.setattr(Spy, "act", lambda self, views, *_: [Decision(v.legal[0], math.nan) for v in views])
    with pytest.raises(TrickformerError, match=r"^Spy gave the value nan"):
        generate.play_hands(hearts, ["spy"], 3, 0, 1, noise)
