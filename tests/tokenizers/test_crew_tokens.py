"""Tokens and the tracker of The Crew, against the rules and against every hidden history of an ending."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from support.crew_histories import explaining, lasting, left_of, playout
from support.gomcts_twin import Twin
from support.play import random_playout
from support.searches import FakeBackend

from trickformer import _core, games, tokenizers
from trickformer.base import CHANCE, PUBLIC
from trickformer.belief import sampler
from trickformer.games.crew import (
    APPOINT,
    ASK,
    COLOUR_CARDS,
    DRAFT,
    DRAW,
    NAME,
    NUM_ACTIONS,
    PASS,
    PLAY,
    RADIO,
    RADIO_CARD,
    REVEAL,
    SEAT,
    TILE,
    TILE_FROM,
    TILE_TO,
)
from trickformer.gomcts.options import SearchOptions
from trickformer.gomcts.search import search

CORE = _core.crew
DISTRESS = ("off", "left", "right")


@pytest.fixture(scope="module")
def crew():
    return games.load("crew")


@pytest.fixture(scope="module")
def tokenizer(crew):
    return tokenizers.make(crew)


def test_sizes(crew, tokenizer):
    assert (len(tokenizer.vocab), tokenizer.eos) == (217, 216)
    assert len(set(tokenizer.vocab)) == 217
    assert tokenizer.vocab[CORE.PLAY_TOKEN] == "left:P1" and tokenizer.vocab[215] == "right:R4"
    longest = [m.longest for d in DISTRESS for m in games.load(f"crew(distress={d})").missions.values()]
    assert max(longest) <= tokenizer.n_positions == CORE.MAX_LENGTH


# ---------------------------------------------------------------------------------------------- encode, decode, follow


def follow(game, tokenizer, states, where):
    """What seats are told of a game and what their trackers say, at every state; gives the phases met."""
    trackers, told, phases = [tokenizer.tracker([]) for _ in range(4)], [0] * 4, set()
    for state in states:
        core = state.core
        phases.add(core.phase)
        for seat, tracker in enumerate(trackers):
            view = game.view(state, seat)
            tokens = tokenizer.encode(view)
            assert tokens.dtype == np.int32
            assert tokenizer.decode(tokens) == view.events, where
            for at in range(told[seat], len(tokens)):
                assert not tracker.my_turn() or at == told[seat], where
                assert tracker.possible()[tokens[at]], f"{where}, seat {seat}: {tokens[: at + 1].tolist()}"
                tracker.push(int(tokens[at]))
            told[seat] = len(tokens)
            own = state.current_player() == seat
            assert tracker.is_legal() and tracker.my_turn() == own, where
            assert tuple(np.flatnonzero(tracker.legal())) == view.legal, where
            if own:
                assert np.array_equal(tracker.legal(), tracker.possible()), where
            for action in view.legal:
                assert tokenizer.action(tokenizer.token(action)) == action
            assert tracker.terminal() == state.is_terminal(), where
            if state.is_terminal():
                label = game.outcomes.labels[tracker.outcome()]
                assert label == tuple(map(int, state.returns())), where
                assert not tracker.possible().any()
            else:
                with pytest.raises(ValueError, match="only at its end"):
                    tracker.outcome()
    assert max(told) <= state.mission.longest, where
    return phases


@pytest.mark.slow
@pytest.mark.parametrize("distress", DISTRESS)
def test_seats_follow_every_mission(distress):
    """All missions: tokens and their inverse, that what came was possible, whose turn it is, what is legal, the
    outcome; at every state and seat."""
    game = games.load(f"crew(distress={distress})")
    tokenizer, phases = tokenizers.make(game), set()
    for number in game.missions:
        one = games.load(f"crew(mission={number},distress={distress})")
        rng = random.Random(number)
        states = random_playout(one.deal(5, number), rng)
        phases |= follow(one, tokenizer, states, f"mission {number}, distress {distress}")
    expected = {REVEAL, TILE_FROM, TILE_TO, NAME, DRAFT, ASK, APPOINT, RADIO, RADIO_CARD, PLAY}
    assert expected | ({PASS} if distress != "off" else set()) <= phases


@pytest.mark.parametrize(("mission", "distress"), [(1, "off"), (2, "off"), (3, "left"), (4, "right")])
def test_seats_follow_missions_that_last(tmp_path, mission, distress):
    game, rng = lasting(tmp_path, mission, distress), random.Random(3)
    tokenizer = tokenizers.make(game)
    lasted, phases = 0, set()
    for index in range(5):
        states = list(random_playout(game.deal(3, index), rng))
        phases |= follow(game, tokenizer, states, f"mission {mission}, {states[-1].history()}")
        lasted += len(states[-1].core.plays) > 28
    assert lasted > 0 and (DRAW in phases) == (mission in (2, 4))


def test_everybody_sees_what_the_public_sees():
    game, rng = games.load("crew(mission=3)"), random.Random(1)
    for state in playout(game, rng, 1):
        public = game.view(state, PUBLIC).events
        for seat in range(4):
            own = game.view(state, seat).events
            assert own[:2] + own[3:] == public


def test_tokens_that_no_view_encodes_to_are_refused(crew, tokenizer):
    state = crew.deal(1, 1)
    *_, final = random_playout(state, random.Random(1))
    tokens, whole = tokenizer.encode(crew.view(state, 0)), tokenizer.encode(crew.view(final, 0))
    hand = next(i for i, t in enumerate(tokens) if tokenizer.vocab[t].startswith("chair")) + 2
    swapped = tokens.copy()
    swapped[[hand, hand + 1]] = tokens[[hand + 1, hand]]
    for bad in (tokens[: hand + 5], swapped, [*tokens, 216], whole[:-1], [*whole, 216], [216], [], tokens[:1]):
        with pytest.raises(ValueError):
            tokenizer.decode(np.array(bad, dtype=np.int32))
    with pytest.raises(ValueError, match="public"):
        tokenizer.encode(crew.view(final, PUBLIC))
    for token in (-1, NUM_ACTIONS, tokenizer.eos):
        with pytest.raises(ValueError, match="no action"):
            tokenizer.action(token)
    with pytest.raises(ValueError, match="no deal explains"):
        CORE.SeatView(tokenizer.codec, np.array(swapped, dtype=np.int32))


def history_of(seen):
    """The actions of a game, from the events that each seat saw of it."""
    gained = [[e.seen[0] for e in events if e.actor == CHANCE and len(e.seen) == 1][1::2] for events in seen]
    actions = [seen[0][0].action, *(card for events in seen for card in events[2].seen)]
    for at, event in enumerate(seen[0][3:], start=3):
        if event.action is not None:
            actions.append(event.action)
        elif event.actor != CHANCE and not event.seen:
            actions.append(seen[event.actor][at].action)
        elif event.actor == CHANCE and gained[0]:
            actions += [cards.pop() for cards in gained]
    return actions


# ------------------------------------------------------------------------------------------------- what is possible


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mission", "distress", "most", "wanted"),
    [(1, "off", 8, 12), (3, "off", 8, 8), (1, "left", 4, 4), (3, "right", 4, 3), (2, "off", 4, 8), (4, "off", 4, 4)],
)
def test_possible_is_exactly_what_some_deal_allows(tmp_path, mission, distress, most, wanted):
    """On endings, against every hidden history: plays, and messages of each label."""
    game, rng, found, index = lasting(tmp_path, mission, distress), random.Random(8), Counter(), 0
    tokenizer, forced, labels = tokenizers.make(game), 0, Counter()
    while min(found[RADIO], found[RADIO_CARD], found[PLAY]) < wanted:
        for state in playout(game, rng, index, silence=0.85):
            core = state.core
            unseen = sum(sorted(len(core.hand(p)) for p in range(4))[1:])
            if state.is_terminal() or unseen > most or found[core.phase] >= wanted:
                continue
            if core.phase != RADIO_CARD and rng.random() < 0.7:
                continue
            viewer = left_of(state.current_player(), rng.randrange(1, 4))
            where = f"mission {mission}, distress {distress}, seat {viewer}, history {state.history()}"
            expected = {
                as_seen(state, viewer, a) for _, world in explaining(state, viewer) for a in world.legal_actions()
            }
            tracker = tokenizer.tracker(tokenizer.encode(game.view(state, viewer)))
            assert set(np.flatnonzero(tracker.possible()).tolist()) == expected, where
            found[core.phase] += 1
            forced += len(expected) == 1
            labels.update(m[0] for p, m in enumerate(core.messages) if m and p != viewer)
        index += 1
    assert len(labels) == (1 if mission in (3, 4) else 3), labels
    assert forced > 0


def as_seen(state, viewer, action):
    """The token of what the player on turn may do: a card is another one for each of the three others that plays it."""
    by = (state.current_player() - viewer) % 4
    return CORE.PLAY_TOKEN + 40 * (by - 1) + action if state.core.phase == PLAY and by else action


def settled(tokenizer, tokens):
    """The tokens with those that follow from the rules in a trick: who leads, who has spoken, the end."""
    tracker = tokenizer.tracker(tokens)
    while len(only := np.flatnonzero(tracker.possible())) == 1 and (
        only[0] in range(SEAT, TILE) or only[0] == tokenizer.eos
    ):
        tracker.push(int(only[0]))
        tokens = [*tokens, only[0]]
    assert tracker.is_legal()
    return np.array(tokens, dtype=np.int32)


@pytest.mark.parametrize(("mission", "distress"), [(1, "off"), (2, "off"), (3, "left"), (4, "off")])
def test_what_is_possible_has_worlds_and_what_worlds_allow_is_possible(tmp_path, mission, distress):
    """At any time: the sampled worlds go on with what is possible; and each of that leaves a deal."""
    game, rng, checked = lasting(tmp_path, mission, distress), random.Random(6), 0
    tokenizer, belief = tokenizers.make(game), sampler(game)
    for index in range(8):
        for state in playout(game, rng, index, silence=0.6):
            if state.is_terminal() or rng.random() < 0.7:
                continue
            viewer = left_of(state.current_player(), rng.randrange(1, 4))
            where = f"mission {mission}, seat {viewer}, history {state.history()}"
            view = game.view(state, viewer)
            tokens = tokenizer.encode(view)
            possible = set(np.flatnonzero(tokenizer.tracker(tokens).possible()).tolist())
            belief.reset(view)
            worlds = belief.sample(30, np.random.default_rng(index))
            if state.core.phase != PASS:
                for twin in belief.sampler_of(view).states(worlds.hidden):
                    assert {as_seen(state, viewer, action) for action in twin.legal_actions()} <= possible, where
            for token in possible if state.core.phase != PASS else ():
                grown = settled(tokenizer, [*tokens, token])
                assert CORE.DealSampler(CORE.SeatView(tokenizer.codec, grown)).count >= 1, where
            checked += 1
    assert checked > 60


def told_before(tokenizer, view, event):
    """The tokens of a view until that event."""
    return tokenizer.encode(replace(view, events=view.events[:event]))


def test_cards_that_a_seat_alone_sees(tmp_path):
    """The card received is any colour card that was not dealt here; the card gained is one that the right neighbour
    holds in some world, but for one that lies open."""
    game, rng = lasting(tmp_path, 1, "left"), random.Random(1)
    tokenizer = tokenizers.make(game)
    for index in range(10):
        state = next(s for s in playout(game, rng, index) if s.core.phase == RADIO)
        for viewer in range(4):
            view = game.view(state, viewer)
            at = next(
                i for i, e in enumerate(view.events) if e.actor == left_of(viewer, 3) and len(e.seen) == 1 and i > 2
            )
            possible = tokenizer.tracker(told_before(tokenizer, view, at)).possible()
            expected = set(range(COLOUR_CARDS)) - set(view.events[2].seen)
            assert set(np.flatnonzero(possible)) == expected, f"{state.history()}, seat {viewer}"
    game = lasting(tmp_path, 2)
    tokenizer = tokenizers.make(game)
    opened = 0
    for index in range(25):
        states = [s for s in playout(game, rng, index, silence=0.5) if len(s.core.plays) == 4]
        for viewer in range(4) if states and not states[0].is_terminal() else ():
            view = game.view(states[0], viewer)
            at = next(i for i, e in enumerate(view.events) if e.actor == CHANCE and len(e.seen) == 1)
            possible = tokenizer.tracker(told_before(tokenizer, view, at + 1)).possible()
            deals = CORE.DealSampler(CORE.SeatView(tokenizer.codec, told_before(tokenizer, view, at)))
            giver = left_of(viewer, 3)
            held = {c for twin in deals.states(deals.sample(index, 1500)) for c in twin.hand(giver)}
            message = states[0].core.messages[giver]
            if message and message[2] == 0:
                held.discard(message[1])
                opened += 1
            assert set(np.flatnonzero(possible)) == held, f"{states[0].history()}, seat {viewer}"
    assert opened > 5


# ----------------------------------------------------------------------------------------------------- the longest


def test_the_mission_that_can_be_longest_fits(tmp_path):
    """Every rule that lengthens a sequence, in one mission of one's own."""
    file = tmp_path / "long.toml"
    file.write_text(
        """
[[mission]]
id = 1
tasks = 10
tokens = ["1", "2", "3", "4", "5", ">", ">>", ">>>", ">>>>", "omega"]
allocation = "distribution"
rules = ["random_draw_after_trick1", "left_of_pink9_wins_all_pink"]
""",
        encoding="utf-8",
    )
    game = games.load(f"crew(file={file},distress=left)")
    assert game.missions[1].longest == CORE.MAX_LENGTH
    states = list(random_playout(game.deal(1, 1), random.Random(1)))
    assert follow(game, tokenizers.make(game), states, str(states[-1].history())) >= {PASS, ASK, APPOINT, REVEAL}


# ---------------------------------------------------------------------------------------------------------- search


@pytest.mark.slow
@pytest.mark.parametrize("bias", [0.0, 9.0])
def test_a_search_equals_its_twin_at_every_stage(crew, tokenizer, bias):
    options, stages, rng = SearchOptions(runs=12, steps=3), {}, random.Random(7)
    for index in range(30):
        for state in random_playout(crew.deal(3, index), rng):
            if state.current_player() >= 0 and len(state.legal_actions()) > 1:
                seat = state.current_player()
                stages.setdefault(state.core.phase, []).append(tokenizer.encode(crew.view(state, seat)))
    for found in stages.values():
        for number, tokens in enumerate(rng.sample(found, 1)):
            backend = FakeBackend(tokenizer, bias, seats=4)
            tracker, root = tokenizer.tracker(tokens), backend.root(tokens)
            (result,) = search(backend, crew.outcomes.values, [tracker], np.array([root]), [number], options)
            assert list(backend.sequences) == [root], "nodes were not given back"
            search_twin = Twin(tokenizer, backend.model, crew.outcomes.values, options, number)
            children = search_twin.run(tuple(tokens.tolist()))
            assert result.tokens.tolist() == list(children), tokens
            assert result.visits.tolist() == [visits for _, visits in children.values()], tokens
            np.testing.assert_allclose(result.values, [v for v, _ in children.values()], rtol=1e-9, atol=1e-9)
            assert result.illegal == search_twin.illegal
    assert set(stages) >= {DRAFT, ASK, APPOINT, RADIO, PLAY}


def test_a_search_of_a_model(crew, tokenizer, tiny_checkpoint_of):
    """A model of random weights at its own turn, all of it on the backend."""
    from trickformer.models.backend import load_backend

    backend = load_backend(tiny_checkpoint_of("crew"), crew.outcomes.values)
    state = crew.deal(1, 1)
    tokens = tokenizer.encode(crew.view(state, state.current_player()))
    root = backend.extend(np.array([-1], dtype=np.int32), tokens, np.array([len(tokens)], dtype=np.int32))[-1:]
    (result,) = search(
        backend, crew.outcomes.values, [tokenizer.tracker(tokens)], root, [3], SearchOptions(runs=10, threshold=0)
    )
    assert result.token in state.legal_actions()
