"""Turns of a seat of Hanabi whose partners play a scripted player, or of a team that searches, and hands by enumeration
on OpenSpiel."""

from __future__ import annotations

import itertools

import numpy as np
from support.play import decisions

from trickformer import _core, tokenizers
from trickformer.belief import sampler
from trickformer.belief.samplers.hanabi import HanabiWorlds
from trickformer.search.hanabi.scripted import ScriptedPolicy


def turns(game, style, seed, deals=3, own=None):
    """Yield state and view at every turn of one seat in games of the scripted player.

    At one turn in five, this seat moves at random. The seat changes with the deal.
    """
    rng, bot = np.random.default_rng(seed), ScriptedPolicy(game, style)
    for deal in range(deals):
        seat = deal % game.players
        for state, view in decisions(game, seed, deal):
            p = bot.probs([view])[0].astype(np.float64)
            action = int(rng.choice(len(p), p=p / p.sum()))
            if state.current_player() == seat:
                yield state.clone(), view
                action = int(rng.choice(view.legal)) if rng.random() < 0.2 else action
            state.apply_action(action)


def slow_chance(game, style, world, seat, slip=0.0):
    """Return the probability of the other seats' moves in a world, of which a share `slip` is random."""
    bot, state, product = ScriptedPolicy(game, style), game.spiel.new_initial_state(), 1.0
    for step in world.full_history():
        if step.player not in (-1, seat):
            p = float(bot.probs([game.view(state, step.player)])[0][step.action])
            product *= (1 - slip) * p + slip / len(state.legal_actions())
        state.apply_action(step.action)
    return product


def worlds_of(game, view, hands):
    """Worlds of these own hands."""
    n = len(hands)
    return HanabiWorlds(hands, np.zeros(n), np.ones(n, dtype=bool), view, game)


def listed(game, view):
    """Every own hand that explains a view, by kinds, from the belief's own weights."""
    rules, belief = game.rules, sampler(game)
    belief.reset(view)
    size = int((belief.sample(1, np.random.default_rng(0)).hidden >= 0).sum())
    rest = [-1] * (rules.hand - size)
    hands = np.array([[*h, *rest] for h in itertools.product(range(rules.kinds), repeat=size)], dtype=np.int16)
    weights = np.exp(belief.log_prob(worlds_of(game, view, hands)))
    return {tuple(hand): weight for hand, weight in zip(hands.tolist(), weights) if weight > 0}


def decision_of(game, view, style):
    """The core's decision of a view."""
    tokenizer = tokenizers.make(game)
    return _core.hanabi.Decision(tokenizer.codec, tokenizer.encode(view), _core.hanabi.BOTS.index(style))


def slow_score(game, world, deck, action, style):
    """A game on OpenSpiel, played on from a world by the scripted player; cards come in the order of the deck."""
    bot, state, cards = ScriptedPolicy(game, style), world.clone(), iter(deck.tolist())
    state.apply_action(action)
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(next(cards))
        else:
            state.apply_action(int(bot.probs([game.view(state, state.current_player())])[0].argmax()))
    return game.scores(state)[0]


def turns_by(game, player, deal, seed=3):
    """States of a game that both seats play by one player, with the view of who is on turn."""
    for state, view in decisions(game, seed, deal):
        yield state.clone(), view
        state.apply_action(decided(player, view).action)


def decided(player, view):
    return player.act([view], [np.random.default_rng(1)], [{}])[0]


def explained(game, player, state, seat):
    """Return the hands of a seat, with their weights, that explain every move of the other seat, which sees them."""
    view, found = game.view(state, seat), {}
    for hand, weight in listed(game, view).items():
        world, asked = worlds_of(game, view, np.array([hand], dtype=np.int16)).state(0), game.spiel.new_initial_state()
        for step in world.full_history():
            if step.player == 1 - seat and decided(player, game.view(asked, 1 - seat)).action != step.action:
                break
            asked.apply_action(step.action)
        else:
            found[hand] = weight
    return found
