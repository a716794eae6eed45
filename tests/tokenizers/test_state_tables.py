"""Hands as states of OpenSpiel: any game with tokens plays in step, is labelled and is learned from. Held equal to what
the core says of its games."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from trickformer import games, tokenizers
from trickformer.base import Event, SearchSettings, TrickformerError
from trickformer.belief import sampler
from trickformer.belief.samplers import DealtBelief
from trickformer.selfplay import generate
from trickformer.selfplay.config import SelfPlay
from trickformer.tokenizers import NONE, StateGame, StateTables, histories

SPECS = ["hearts", "hearts(pass_cards=False)", "skat", "crew", "hanabi", "hanabi(players=3)"]


@pytest.mark.parametrize("spec", SPECS)
def test_tables_are_games_of_their_own_deals(spec):
    game = games.load(spec)
    tokenizer, rng, n = tokenizers.make(game), np.random.default_rng(0), 5
    tables = StateTables(game, tokenizer, 3, 11, n)
    tokens, lengths, steps = tables.tokens, tables.lengths, 0
    states = [game.deal(3, 11 + i) for i in range(n)]
    while (current := tables.current()).max() >= 0:
        live = np.flatnonzero(current >= 0)[: 1 + steps % n].astype(np.int32)  # some tables, not all
        legal = tables.legal()
        assert legal.shape == (n, len(tokenizer.vocab)) and (legal.any(axis=1) == (current >= 0)).all()
        chosen = np.array([rng.choice(np.flatnonzero(legal[i])) for i in live], np.int32)
        for i, token in zip(live, chosen):
            assert states[i].current_player() == current[i]
            assert {tokenizer.action(int(t)) for t in np.flatnonzero(legal[i])} == set(states[i].legal_actions())
            states[i].apply_action(tokenizer.action(int(token)))
        tables.step(live, chosen)
        for i in live:  # chance has acted by now
            for action in tables.history()[i][len(states[i].history()) :]:
                if action != NONE:
                    assert states[i].is_chance_node()
                    states[i].apply_action(int(action))
        i, seat = live[-1], steps % game.players
        seen = tokenizer.encode(game.view(states[i], seat))
        assert tokens[i, seat, : lengths[i, seat]].tolist() == seen.tolist()
        assert (tokens[i, seat, lengths[i, seat] :] == tokenizer.eos).all()
        steps += 1
    assert (current == -1).all() and not tables.legal().any() and len(tables) == n
    scores = np.array([game.scores(s) for s in states])
    assert np.array_equal(tables.scores(), scores)
    for (i, seat), outcome in np.ndenumerate(tables.outcomes()):
        label = game.outcomes.labels[outcome]
        assert label == (*scores[i, seat:], *scores[i, :seat])


@pytest.mark.parametrize("spec", [*SPECS[:4], "crew(distress=left)"])
def test_whole_hands_are_encoded_as_the_core_encodes_them(spec):
    """Where the core's histories are OpenSpiel's actions."""
    game = games.load(spec)
    n = 12
    core, ours = tokenizers.fast(game).core_hands(["random"], 5, 0, n), StateGame(game, tokenizers.make(game))
    history = core.history.astype(np.int32)
    history[history == 255] = NONE
    seats = (np.arange(n) % game.players).astype(np.uint8)
    assert np.array_equal(ours.encode(history, seats), core.game.encode(core.history, seats))
    assert np.array_equal(ours.outcomes(core.scores, seats), core.game.outcomes(core.scores, seats))


def test_steps_that_are_none_are_refused(hearts):
    tables = StateTables(hearts, tokenizers.make(hearts), 1, 0, 2)
    for table, token, kind in ((2, 0, IndexError), (-1, 0, IndexError), (0, 60, ValueError)):
        with pytest.raises(kind):
            tables.step(np.array([table], np.int32), np.array([token], np.int32))
    illegal = int(np.flatnonzero(~tables.legal()[0][:52])[0])
    with pytest.raises(ValueError, match="no legal action at table 0"):
        tables.step(np.array([0], np.int32), np.array([illegal], np.int32))
    with pytest.raises(ValueError):
        tables.scores()
    assert histories([[1, 2], []]).tolist() == [[1, 2], [NONE, NONE]] and histories([]).shape == (0, 0)


class Counted:
    """The expected v(o) of each action by the whole tree of random play."""

    def __init__(self, game, seat):
        self.game, self.seat = game, seat

    def value(self, state):
        if state.is_terminal():
            index = self.game.outcomes.of(self.game.scores(state), self.seat)
            return float(self.game.outcomes.values[index, 0])
        return float(np.mean([self.value(state.child(a)) for a in state.legal_actions()]))


@pytest.mark.slow
def test_labels_are_the_means_of_random_play(installed):
    """Of all decisions of a seat in hands of two cards, against the whole tree; positions and tokens are the view's."""
    game = games.load("oh_hell(players=3,cards=2)")
    tokenizer = tokenizers.make(game)
    records = generate.play_hands(game, ["random"], 4, 0, 3)
    history = histories([list(r.history) for r in records])
    table, seats, streams = StateGame(game, tokenizer), np.array([0, 1, 2]), np.arange(3, dtype=np.uint64)
    count, position, token, value = table.labels(history, seats, 7, streams, 2000, 1.0)
    assert (count.dtype, position.dtype, token.dtype, value.dtype) == (np.int32, np.int16, np.int16, np.float32)
    found, expected = list(zip(position.tolist(), token.tolist(), value.tolist())), []
    for record, seat in zip(records, seats.tolist()):
        state, before = game.spiel.new_initial_state(), len(expected)
        for action in record.history:
            if state.current_player() == seat and len(state.legal_actions()) > 1:
                at = len(tokenizer.encode(game.view(state, seat))) - 1
                tree = Counted(game, seat)
                expected += [(at, tokenizer.token(a), tree.value(state.child(a))) for a in state.legal_actions()]
            state.apply_action(action)
        assert count[seat] == len(expected) - before > 0
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    # v(o) lies within 0.6 of 0, so a mean of 2000 is within 0.054 but once in 10,000 times.
    assert max(abs(a[2] - b[2]) for a, b in zip(found, expected)) < 0.054
    again = table.labels(history, seats, 7, streams, 3, 0.5)
    same = table.labels(history[1:], seats[1:], 7, streams[1:], 3, 0.5)
    skip = again[0][0]
    assert [a.tolist() for a in same] == [again[0][1:].tolist(), *(column[skip:].tolist() for column in again[1:])]
    assert 0 < len(again[1]) < len(position)
    with pytest.raises(ValueError, match="cannot use a rollout network or sampled worlds"):
        table.labels(history, seats, 7, streams, 1, 1.0, worlds=True)


def test_noise_is_a_share_of_random_moves_of_any_player(installed):
    """The script draws nothing: without noise it plays a deal as it always does."""
    game = games.load("oh_hell(players=3)")
    plain, again, noisy, random = (
        [r.history for r in generate.play_hands(game, ["bidder"], 4, 0, 30, noise)] for noise in (0.0, 0.0, 0.05, 0.999)
    )
    assert plain == again and 5 < sum(a != b for a, b in zip(plain, noisy)) < 30
    assert not set(plain) & set(random)


# ------------------------------------------------------------------------------------------------- settings


def test_settings_come_from_the_game(installed):
    for preset, spec in product(("tiny", "small"), ("oh_hell(players=3)", "oh_hell(players=5)")):
        config = SelfPlay(game=spec, preset=preset)
        assert (config.baseline, config.bootstrap) == ("random", ["random"])
        assert config.seats_kept == min(4, games.load(spec).players)
        assert config.label_share == 0.5 and config.action_weight == 100 and not config.rollout_network
    assert SelfPlay(game="oh_hell", preset="paper").bootstrap == ["random"]
    assert SelfPlay(game="hearts", preset="tiny").bootstrap == ["random", *["rules"] * 7]
    assert SelfPlay(game="hanabi", preset="tiny").bootstrap == ["partner"]
    assert SelfPlay(game="oh_hell(players=5)", preset="tiny", seats_kept=5).seats_kept == 5
    baselines = {name: games.load(name).baseline for name in games.NAMES}
    assert baselines == {"hearts": "rules", "skat": "rules", "crew": "rules", "hanabi": "partner", "mines": "random"}
    assert games.load("oh_hell").search == SearchSettings() == SearchSettings(100, 2, 0.4, 0.05)


def test_a_game_of_its_own_settings(installed, monkeypatch):
    kind = type(games.load("oh_hell"))
    monkeypatch.setattr(kind, "baseline", "bidder")
    monkeypatch.setattr(kind, "search", SearchSettings(runs=7))
    monkeypatch.setattr(kind, "training", {"tiny": {"bootstrap_hands": 777}})
    tiny, small = SelfPlay(game="oh_hell", preset="tiny"), SelfPlay(game="oh_hell", preset="small")
    assert tiny.bootstrap == small.bootstrap == ["random", *["bidder"] * 7] and tiny.baseline == "bidder"
    assert (tiny.bootstrap_hands, small.bootstrap_hands) == (777, 60_000)
    assert SelfPlay(game="oh_hell", preset="tiny", bootstrap_hands=50, baseline="random").bootstrap_hands == 50


# ----------------------------------------------------------------------------------- games of another kind


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("hearts", "chance does not deal from one deck"),
        ("skat", "has the number of a card that its seat was not dealt"),  # it lays away what it picked up
        ("crew", "chance does not deal from one deck"),
        ("hanabi", "chance does not deal from one deck"),
        ("mines(first_move=any)", "chance does not deal from one deck"),
        ("mines", "chance acts after the first decision"),
    ],
)
def test_deals_are_not_drawn_for_games_of_another_kind(spec, why):
    """They have samplers of their own; without one, this is what a newcomer is told."""
    with pytest.raises(TrickformerError, match=why) as caught:
        DealtBelief(games.load(spec))
    assert "\n" not in str(caught.value) and "write a belief for it" in str(caught.value)


def unseen_bids(view):
    return [e for e in view.events if e.action is None or e.actor in (-1, view.viewer) or e.action < 52]


def other_words(view):
    return [Event(-1, None, (60, 61)), *view.events]


def shared(view):
    shown = (5,) if view.viewer < 2 else ()
    return [*view.events[:2], Event(-1, None, shown), *view.events[2:]]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (unseen_bids, "a seat's view lacks an action"),
        (other_words, "a view of the deal shows something other than dealt cards"),
        (shared, "two seats see a card that a third does not"),
    ],
)
def test_a_view_that_does_not_fit_is_refused(installed, monkeypatch, change, why):
    game = games.load("oh_hell(players=3)")
    sound = type(game).view

    def view(self, state, viewer):
        found = sound(self, state, viewer)
        return replace(found, events=tuple(change(found)))

    monkeypatch.setattr(type(game), "view", view)
    with pytest.raises(TrickformerError, match=why):
        DealtBelief(game)


def test_kuhn_poker_is_refused_for_its_bets_bear_the_numbers_of_cards():
    from support.kuhn import Kuhn

    with pytest.raises(TrickformerError, match="has the number of a card that its seat was not dealt"):
        sampler(Kuhn())


def test_a_game_may_bring_its_belief_along(installed, monkeypatch):
    game = games.load("oh_hell")
    own = DealtBelief(game)
    monkeypatch.setattr(type(game), "belief", lambda self, log_odds=None: own)
    assert sampler(game) is own
    monkeypatch.undo()
    with pytest.raises(TrickformerError, match="oh_hell has no belief that a belief head can weight"):
        sampler(game, lambda views: np.zeros((len(views), 52, 3)))


def test_a_view_that_no_deal_explains_is_given_up(installed):
    game = games.load("oh_hell(players=3)")
    state = game.deal(1, 0)
    belief, view = DealtBelief(game, tries=50), game.view(state, 0)
    belief.reset(replace(view, legal=()))
    with pytest.raises(TrickformerError, match="none of 50 deals explains what seat 0 has seen"):
        belief.sample(1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="the view of a seat"):
        belief.reset(replace(view, viewer=-1))
