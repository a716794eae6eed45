"""Skat with open cards: conversion of a state to the solver's form, and the score of a game with a given end."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.games.skat import PLAYERS, card_points

ALL = 120  # card points of the whole deck


def position(state: Any) -> _core.skat_solver.Positions:
    """Return a state in the solver's form.

    Args:
        state: A state in which a card is to be played.
    """
    core, trick = state.core, [card for _, card in state.trick]
    hands = [core.hand(seat) for seat in range(PLAYERS)]
    soloists_points = core.soloists_points + card_points(core.skat)
    unplayed = card_points([*trick, *(card for hand in hands for card in hand)])
    # Arrays with one entry: kind of game, soloist, hands as bit sets, cards of the trick (-1: none), leader, and the
    # card points of the soloist and of the defenders.
    return _core.skat_solver.Positions(
        np.array([core.kind], dtype=np.int8),
        np.array([core.soloist], dtype=np.int8),
        np.array([[sum(1 << card for card in hand) for hand in hands]], dtype=np.uint32),
        np.array([(*trick, -1, -1)[:2]], dtype=np.int8),
        np.array([core.leader], dtype=np.int8),
        np.array([(soloists_points, ALL - soloists_points - unplayed)], dtype=np.int16),
    )


def settle_game(state: Any, soloists_points: int, tricks: int) -> _core.skat.Result:
    """Return the result of a declared game if the soloist ends with these card points and tricks.

    Args:
        state: A state after the declaration.
        soloists_points: Card points of the soloist at the end.
        tricks: Tricks of the soloist at the end.
    """
    core = state.core
    played = [card for seat, card in state.plays if seat == core.soloist]
    return _core.skat.settle(
        kind=core.kind,
        hand=core.is_hand,
        level=core.level,
        bid=core.bid,
        soloist=core.soloist,
        soloists_cards=[*core.hand(core.soloist), *core.skat, *played],
        points=soloists_points,
        tricks=tricks,
    )


def margin(result: _core.skat.Result, seat: int, seeger: bool) -> float:
    """Return a seat's score minus the mean of the others' scores.

    Args:
        result: Result of a game.
        seat: The seat.
        seeger: Whether scores are tournament points.
    """
    scores = result.scores(seeger)
    return scores[seat] - (sum(scores) - scores[seat]) / (PLAYERS - 1)
