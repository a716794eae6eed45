"""What a state of Skat tells bots and their authors."""

import random

import pytest

from trickformer import games
from trickformer.games import skat


def test_a_state_tells_bots_what_they_need():
    """Random games: each property against the history, action by action."""
    game, contracts = games.load("skat"), set()
    for seed in range(60):
        rng, state = random.Random(seed), game.spiel.new_initial_state()
        where = f"seed {seed}"
        deck = rng.sample(range(32), 32)
        for n, card in enumerate(deck):
            assert (state.phase, state.bid, state.soloist, state.contract, state.leader) == (
                "deal",
                0,
                None,
                None,
                None,
            )
            assert [*state.hand(0), *state.hand(1), *state.hand(2), *state.skat] == [
                c for at in (0, 10, 20, 30) for c in sorted(deck[at : min(n, at + 10)] if at < 30 else deck[30:n])
            ], where
            state.apply_action(card)
        held = [set(deck[:10]), set(deck[10:20]), set(deck[20:30])]
        lies, said, plays, phases = set(deck[30:]), [], [], []
        while not state.is_terminal():
            seat = state.current_player()
            assert [set(state.hand(p)) for p in range(3)] == held and set(state.skat) == lies, where
            assert state.auction == said and state.plays == plays, where
            assert state.trick == plays[len(plays) // 3 * 3 :], where
            assert state.bid == max((skat.CALLS[a - skat.CALL] for _, a in said if a < skat.PASS), default=0), where
            phase = state.phase
            phases.append(phase)
            assert (state.soloist is None) == (phase == "auction"), where
            assert (state.contract is None) == (phase not in ("announce", "play")), where
            # A random game is soon out of hand: bids stay low, and hands are played ouvert now and then.
            legal = state.legal_actions()
            action = skat.PASS if phase == "auction" and state.bid > 30 and skat.PASS in legal else rng.choice(legal)
            if phase == "auction":
                said.append((seat, action))
            elif phase == "pick-up" and action == skat.PICK_UP:
                held[seat] |= lies
                lies = set()
            elif phase == "discard":
                held[seat].remove(action)
                lies.add(action)
            elif phase == "play":
                if not state.trick:
                    assert state.leader == seat, where
                held[seat].remove(action)
                plays.append((seat, action))
            state.apply_action(action)
            if phase in ("declare", "announce"):
                hand = "discard" not in phases
                game_, _, ouvert = skat.ACTIONS[action].partition("-") if phase == "declare" else ("", "", "")
                if phase == "declare":
                    declared = game_
                level = skat.ACTIONS[action] if phase == "announce" else ouvert or "plain"
                assert state.contract == (declared, hand, level), where
                contracts.add(state.contract)
        assert state.phase == "over"
        if state.soloist is None:
            assert not state.plays and state.leader is None and state.contract is None, where
            continue
        result = state.result
        assert (state.soloist, state.soloists_tricks) == (result.soloist, result.tricks), where
        skats = sum(skat.POINTS[skat.CARDS[c][1]] for c in state.skat)
        assert state.contract.game == "null" or state.soloists_points + skats == result.points, where
    assert {c.game for c in contracts} == {"diamonds", "hearts", "spades", "clubs", "grand", "null"}
    assert {c.level for c in contracts} == set(skat.LEVELS) and {c.hand for c in contracts} == {True, False}
    with pytest.raises(ValueError, match="seats of Skat are 0, 1 and 2, not 3"):
        state.hand(3)
