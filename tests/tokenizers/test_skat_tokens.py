"""Tokens and the tracker of Skat, against the plain Python twin of the rules."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support import skat_oracle as oracle
from support.gomcts_twin import Twin
from support.play import random_playout
from support.searches import FakeBackend
from support.skat_games import ACTION, games_of

from trickformer import _core, games, tokenizers
from trickformer.base import PUBLIC
from trickformer.games.skat import ACTIONS, CALLS, CARDS, NUM_CARDS
from trickformer.gomcts.options import SearchOptions
from trickformer.gomcts.search import search

CORE = _core.skat


@pytest.fixture(scope="module")
def skat():
    return games.load("skat")


@pytest.fixture(scope="module")
def tokenizer(skat):
    return tokenizers.make(skat)


def numbered(tokenizer, words):
    return [tokenizer.vocab.index(w) for w in words]


def marked(tokenizer, mask):
    return {tokenizer.vocab[t] for t in np.flatnonzero(mask)}


def test_sizes(skat, tokenizer):
    assert (len(tokenizer.vocab), tokenizer.eos, tokenizer.n_positions) == (114, 113, 193)
    assert len(set(tokenizer.vocab)) == 114
    assert CORE.MAX_LENGTH == 193
    assert list(CALLS) == oracle.BIDS and list(CARDS) == oracle.DECK


# ---------------------------------------------------------------------------------------------- encode, decode


def test_a_seat_is_told_what_the_twin_tells_it(skat, tokenizer):
    """At every decision, for every seat: tokens, their inverse, and what each has yet to say."""
    stages = set()
    for where, twin, state in games_of(skat, range(12)):
        for seat in range(3):
            view = skat.view(state, seat)
            tokens = tokenizer.encode(view)
            assert tokens.dtype == np.int32
            assert [tokenizer.vocab[t] for t in tokens] == twin.seen[seat], where
            assert tokenizer.decode(tokens) == view.events, where
            assert view.legal == (tuple(sorted(ACTION[a] for a in twin.legal)) if twin.player == seat else ()), where
            for action in view.legal:
                assert tokenizer.action(tokenizer.token(action)) == action
        stages.add((twin.stage, twin.hand, twin.kind == "null-ouvert" or twin.level == "ouvert"))
    for hand, ouvert in ((False, False), (False, True), (True, False), (True, True)):
        assert ("play", hand, ouvert) in stages


def test_everybody_sees_what_the_public_sees(skat):
    for where, twin, state in games_of(skat, range(3)):
        public = skat.view(state, PUBLIC).events
        for seat in range(3):
            own = skat.view(state, seat).events
            if seat == twin.soloist or (twin.stage == "discard" and seat == twin.player):
                continue
            assert own[1:] == public, where  # a defender knows the own hand, and no more


def test_tokens_that_no_view_encodes_to_are_refused(skat, tokenizer):
    tokens = tokenizer.encode(skat.view(skat.deal(1, 1), 0))
    *_, final = random_playout(skat.deal(1, 1), random.Random(1))
    whole = tokenizer.encode(skat.view(final, 0))
    swapped = tokens[[0, 2, 1, *range(3, 11)]]
    for bad in (tokens[:7], swapped, [*tokens, tokens[1]], whole[:-1], [*whole, tokenizer.eos], [tokenizer.eos], []):
        with pytest.raises(ValueError):
            tokenizer.decode(np.array(bad, dtype=np.int32))
    with pytest.raises(ValueError, match="public"):
        tokenizer.encode(skat.view(final, PUBLIC))
    for token in (-1, len(ACTIONS), tokenizer.eos):
        with pytest.raises(ValueError, match="no action"):
            tokenizer.action(token)


# ------------------------------------------------------------------------------------------------- the tracker


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["seeger", "value"])
def test_the_tracker_follows_the_twin(setting):
    """Over a thousand games: that what came was possible, whose turn it is, what is legal, and the outcome."""
    game = games.load(f"skat(scores={setting})")
    tokenizer = tokenizers.make(game)
    count = 0
    for policy in oracle.POLICIES:
        for seed in range(100, 190):
            trackers, told = [tokenizer.tracker([]) for _ in range(3)], [0] * 3
            where = f"policy {policy}, seed {seed}"
            for twin, _ in oracle.playout(policy, seed):
                for seat, tracker in enumerate(trackers):
                    for word in twin.seen[seat][told[seat] :]:
                        if word == "eos":
                            assert tracker.terminal()
                        token = tokenizer.vocab.index(word)
                        assert tracker.possible()[token], f"{where}, seat {seat}: {word} after {twin.seen[seat]}"
                        tracker.push(token)
                    told[seat] = len(twin.seen[seat])
                    assert tracker.my_turn() == (twin.player == seat), where
                    own = set(twin.legal) if twin.player == seat else set()
                    assert marked(tokenizer, tracker.legal()) == own, where
                    assert tracker.terminal() == (twin.result is not None), where
                    if twin.result is None:
                        with pytest.raises(ValueError, match="only at its end"):
                            tracker.outcome()
            for seat, tracker in enumerate(trackers):
                scores = twin.result.scores(setting == "seeger")
                assert game.outcomes.labels[tracker.outcome()] == scores[seat:] + scores[:seat], where
                assert not tracker.possible().any()
                count += 1
    assert count == 6 * 90 * 3


def next_words(world, viewer):
    """What the viewer may hear or say next in a world, hidden discards aside."""
    if world.result is not None:
        return {"eos"}
    while world.stage == "discard" and viewer != world.player:
        world.apply(sorted(world.legal)[0])
    return set(world.legal)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "seeds"), [("modest", 20), ("null", 200), ("hand", 20), ("strong", 14)])
def test_possible_is_exactly_what_some_deal_allows(skat, tokenizer, policy, seeds):
    """On endings with at most three cards a hand, against every deal that explains the view."""
    rng = random.Random(policy)
    checked = forced = seen_hidden = 0
    for seed in range(seeds):
        for twin, _ in oracle.playout(policy, seed):
            left = 30 - len(twin.played)
            if twin.result is not None or twin.stage != "play" or left > 8 or rng.random() < 0.65:
                continue
            viewer = rng.choice([p for p in range(3) if p != twin.player])
            where = f"policy {policy}, seed {seed}, seat {viewer} after {twin.seen[viewer]}"
            expected, worlds = set(), 0
            for world in oracle.explaining(twin, viewer, every=False):
                worlds += 1
                expected |= next_words(world, viewer)
            tracker = tokenizer.tracker(numbered(tokenizer, twin.seen[viewer]))
            assert marked(tokenizer, tracker.possible()) == expected, where
            assert worlds >= 1
            checked += 1
            forced += len(expected) == 1
            seen_hidden += worlds > 20
    assert checked > 20
    assert forced > 0
    assert seen_hidden > 3


def laid(twin, viewer, player, card):
    """Hands and skat in which everything that the viewer has seen holds, and `player` may play `card` now; None
    where there are none. Cards are matched to places one by one, along augmenting paths."""
    unseen, places = oracle.hidden_places(twin, viewer)
    lead = twin.played[len(twin.played) // 3 * 3][1] if len(twin.played) % 3 else None
    cannot = {p: set() for p in (*range(3), 3)}
    for k, (seat, played) in enumerate(twin.played):
        led = twin.played[k // 3 * 3][1]
        if not oracle.follows(twin.kind, led, played):
            cannot[seat] |= {c for c in oracle.DECK if oracle.follows(twin.kind, led, c)}
    if card in cannot[player]:
        return None
    if lead is not None and not oracle.follows(twin.kind, lead, card):
        cannot[player] |= {c for c in oracle.DECK if oracle.follows(twin.kind, lead, c)}
    rest = [c for c in unseen if c != card]
    room = places | {player: places[player] - 1}
    held: dict[int, list[str]] = {p: [] for p in room}

    def place(one, tried):
        for p in room:
            if one in cannot[p] or p in tried:
                continue
            tried.add(p)
            if len(held[p]) < room[p]:
                held[p].append(one)
                return True
            for other in list(held[p]):
                held[p].remove(other)
                held[p].append(one)
                if place(other, tried):
                    return True
                held[p].remove(one)
                held[p].append(other)
        return False

    if not all(place(c, set()) for c in rest):
        return None
    held[player].append(card)
    return held


@pytest.mark.slow
def test_possible_at_every_play_has_a_deal_that_shows_it(tokenizer):
    """From the first lead on: a card may come exactly where the cards can be laid so; and the deal that shows it
    is replayed through the rules."""
    rng = random.Random(5)
    shown = refused = 0
    for policy in ("modest", "hand", "null", "strong"):
        for seed in range(200, 225):
            for twin, _ in oracle.playout(policy, seed):
                if twin.stage != "play" or twin.result is not None or rng.random() < 0.85:
                    continue
                viewer = (twin.player + rng.choice((1, 2))) % 3
                unseen, places = oracle.hidden_places(twin, viewer)
                if places[twin.player] == 0:  # an ouvert hand: its owner's cards are known
                    continue
                where = f"policy {policy}, seed {seed}, seat {viewer} after {twin.seen[viewer]}"
                found = marked(tokenizer, tokenizer.tracker(numbered(tokenizer, twin.seen[viewer])).possible())
                assert found <= set(unseen), where
                for card in unseen:
                    held = laid(twin, viewer, twin.player, card)
                    assert (held is not None) == (card in found), f"{card}: {where}"
                    if held is None:
                        refused += 1
                        continue
                    world = first_of(twin, viewer, held)
                    assert world.seen[viewer] == twin.seen[viewer] and card in world.legal, f"{card}: {where}"
                    shown += 1
    assert shown > 1000 and refused > 150


def first_of(twin, viewer, held):
    """The game in which the unseen cards lie so; another soloist was dealt the cards that it kept."""
    words, hands = twin.seen[viewer], []
    for p in range(3):
        played = {c for seat, c in twin.played if seat == p}
        if p == viewer:
            hands.append(words[1:11])
        elif p == twin.soloist and not held[p]:  # shown
            hands.append(set(twin.hands[p]) | played)
        else:
            hands.append(set(held[p]) | played)
    own = twin.soloist == viewer and not twin.hand
    at = words.index("pick-up") + 1 if own else 0
    skat = words[at : at + 2] if own else held[3]
    away = twin.laid if own else [] if twin.hand else sorted(held[3])
    said = oracle.sayings(words)
    return oracle.replayed(hands, skat, said, away, [c for _, c in twin.played])


def test_possible_before_the_first_card(tokenizer):
    """Deal, auction, skat, declaration, an ouvert hand as it is shown: cards come ascending, and must leave room for
    those to come; what is said is what the twin allows."""
    for policy in ("modest", "hand", "null"):
        for seed in range(40):
            told, saying = [0] * 3, [None] * 3
            trackers = [tokenizer.tracker([]) for _ in range(3)]
            for twin, _ in oracle.playout(policy, seed):
                if twin.played:
                    break
                for seat, tracker in enumerate(trackers):
                    for at in range(told[seat], len(twin.seen[seat])):
                        words = twin.seen[seat][:at]
                        expected = expected_before_play(twin, seat, words) or saying[seat]
                        assert marked(tokenizer, tracker.possible()) == expected, f"{policy} {seed}: {words}"
                        tracker.push(tokenizer.vocab.index(twin.seen[seat][at]))
                    told[seat] = len(twin.seen[seat])
                    if twin.stage != "discard" or twin.player == seat:
                        saying[seat] = set(twin.legal)


def expected_before_play(twin, seat, words):
    """What can come where cards are told in ascending order, and at the end; else None."""
    if not words:
        return {"seat0", "seat1", "seat2"}
    if twin.stage == "play" and words == twin.seen[seat][:-1]:
        return {"seat0"}
    if words == twin.seen[seat][:-1] and twin.result is not None:
        return {"eos"}
    cards = [w for w in words if w in oracle.DECK]
    dealt, taken = len(cards) < 10, words[-1] == "pick-up" or words[-2:-1] == ["pick-up"]
    if dealt:
        pool, run, total = oracle.DECK, cards, 10
    elif taken and twin.soloist == seat:
        pool, run, total = [c for c in oracle.DECK if c not in cards[:10]], cards[10:], 2
    elif seat != twin.soloist and len(cards) < 20 and ("null-ouvert" in words or "ouvert" in words):
        pool, run, total = [c for c in oracle.DECK if c not in cards[:10]], cards[10:], 10
    else:
        return None
    after = [c for c in pool if not run or pool.index(c) > pool.index(run[-1])]
    return set(after[: len(after) - (total - len(run) - 1)])


# --------------------------------------------------------------------------------------- histories that cannot be


def test_calls_that_never_stop_end_in_time(tokenizer):
    """The longest auctions a model can make up: of whatever it says, nothing goes on beyond all positions."""
    rng = random.Random(3)
    for bias in range(40):
        tracker, length = tokenizer.tracker([]), 0
        while not tracker.terminal():
            possible = np.flatnonzero(tracker.possible())
            keep = [t for t in possible if tokenizer.vocab[t] != "pass"] or list(possible) or [0]
            tracker.push(int(keep[0] if rng.random() < 0.9 else rng.randrange(114) if bias % 2 else keep[-1]))
            length += 1
        assert length < tokenizer.n_positions


def test_the_longest_sequence_has_all_positions(skat, tokenizer):
    """A defender hears every call made and held, and sees an ouvert hand: 193 tokens, and no view has more."""
    *_, (other, _) = oracle.playout("modest", 1)
    deck = [*other.seen[0][1:11], *other.seen[1][1:11], *other.seen[2][1:11]]
    deck += [c for c in oracle.DECK if c not in deck]
    state = skat.spiel.new_initial_state()
    for card in deck:
        state.apply_action(ACTION[card])
    said = [w for bid in oracle.BIDS for w in (str(bid), "hold")]
    for word in [*said, "pass", "pass", "hand", "clubs", "ouvert"]:
        state.apply_action(ACTION[word])
    rng = random.Random(2)
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
    lengths = [len(tokenizer.encode(skat.view(state, seat))) for seat in range(3)]
    assert lengths == [183, 193, 193]
    for seat in range(3):
        tokens = tokenizer.encode(skat.view(state, seat))
        assert tokenizer.decode(tokens) == skat.view(state, seat).events
        tracker = tokenizer.tracker(tokens)
        assert tracker.is_legal() and tracker.outcome() is not None
    history, _ = CORE.random_games(True, 4, 0, 20_000)
    bulk = tokenizer.codec.encode(history, (np.arange(20_000) % 3).astype(np.uint8))
    assert (bulk != tokenizer.eos).sum(axis=1).max() < 193


def test_turns_are_those_of_the_rules(skat, tokenizer):
    """Replayed: who acts with the token after each, in seats from the own one, hidden discards passed over."""
    for policy in oracle.POLICIES:
        for seed in range(300, 312):
            expected = [[-1] * 193 for _ in range(3)]
            for twin, action in oracle.playout(policy, seed):
                for seat in range(3):
                    if action:
                        expected[seat][len(twin.seen[seat]) - 1] = (twin.player - seat) % 3
            rows = np.full((3, 193), tokenizer.eos)
            for seat in range(3):
                rows[seat, : len(twin.seen[seat])] = numbered(tokenizer, twin.seen[seat])
            assert CORE.turns(rows.astype(np.int16)).tolist() == expected, f"policy {policy}, seed {seed}"
            chairs = CORE.turns(rows.astype(np.int16), absolute=True)
            own = np.array(expected)
            assert np.array_equal(chairs, np.where(own < 0, -1, (own + np.arange(3)[:, None]) % 3))


def test_what_is_asked_for_one_card_is_what_is_asked_for_all(tokenizer):
    """A token keeps a history legal exactly where it is among those possible: cards that are alike are asked about
    once there, each by itself when it is pushed."""
    refused = 0
    for policy in oracle.POLICIES:
        for seed in range(500, 508):
            *_, (twin, _) = oracle.playout(policy, seed)
            tracker = tokenizer.tracker([])
            for token in numbered(tokenizer, twin.seen[seed % 3]):
                possible = tracker.possible()
                for other in range(len(tokenizer.vocab)):
                    branch = tracker.copy()
                    branch.push(other)
                    assert branch.is_legal() == possible[other], (policy, seed, other)
                refused += not tracker.my_turn() and not possible[:NUM_CARDS].all()
                tracker.push(token)
    assert refused > 500


# --------------------------------------------------------------------------------------------------- GO-MCTS


@pytest.mark.slow
@pytest.mark.parametrize("bias", [0.0, 9.0])
def test_a_search_equals_its_twin_at_every_stage(skat, tokenizer, bias):
    options = SearchOptions(runs=25, steps=3)
    stages = {}
    for policy in oracle.POLICIES:
        for seed in range(400, 410):
            for twin, _ in oracle.playout(policy, seed):
                if twin.player >= 0 and len(twin.legal) > 1:
                    stages.setdefault((twin.stage, twin.hand), []).append(list(twin.seen[twin.player]))
    rng = random.Random(7)
    for found in stages.values():
        for number, words in enumerate(rng.sample(found, 2)):
            tokens = np.array(numbered(tokenizer, words), dtype=np.int32)
            backend = FakeBackend(tokenizer, bias, seats=3)
            tracker, root = tokenizer.tracker(tokens), backend.root(tokens)
            (result,) = search(backend, skat.outcomes.values, [tracker], np.array([root]), [number], options)
            assert list(backend.sequences) == [root], "nodes were not given back"
            search_twin = Twin(tokenizer, backend.model, skat.outcomes.values, options, number)
            children = search_twin.run(tuple(tokens.tolist()))
            assert result.tokens.tolist() == list(children), words
            assert result.visits.tolist() == [visits for _, visits in children.values()], words
            np.testing.assert_allclose(result.values, [v for v, _ in children.values()], rtol=1e-9, atol=1e-9)
            assert result.illegal == search_twin.illegal
    assert {stage for stage, _ in stages} == {"auction", "pick-up", "discard", "declare", "announce", "play"}


def test_a_search_of_a_model(skat, tokenizer, tiny_checkpoint_of):
    """A model of random weights at its own turn, all of it on the backend."""
    from trickformer.models.backend import load_backend

    backend = load_backend(tiny_checkpoint_of("skat"), skat.outcomes.values)
    state = skat.deal(1, 1)
    tokens = tokenizer.encode(skat.view(state, 1))
    root = backend.extend(np.array([-1], dtype=np.int32), tokens, np.array([len(tokens)], dtype=np.int32))[-1:]
    (result,) = search(
        backend, skat.outcomes.values, [tokenizer.tracker(tokens)], root, [3], SearchOptions(runs=10, threshold=0)
    )
    assert result.token in state.legal_actions()
    assert result.visits.sum() > len(result.tokens)
