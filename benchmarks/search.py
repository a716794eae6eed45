"""Moves a second of the rollouts of `sparta`, against the same rollouts on OpenSpiel from Python.

The positions come from self-play of `smart` in two-player Hanabi. Each has a sampled hand and deck, and rollouts of
every legal action. The baseline queries the same scripted player with views of OpenSpiel's states, which takes most of
its time. Both must give the same scores. Every figure is CPU time of the process.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks import Row, arguments, emit, measure
from trickformer import _core, games, tokenizers
from trickformer.base import View
from trickformer.belief import sampler
from trickformer.search.hanabi.scripted import ScriptedPolicy


def main() -> None:
    options = arguments(__doc__ or "")
    positions, worlds = (6, 100) if options.quick else (20, 400)
    game, style = games.load("hanabi"), "smart"
    tokenizer, belief = tokenizers.make(game), sampler(game)
    bot = ScriptedPolicy(game, style)
    rng = np.random.default_rng(1)

    def turn(deal: int) -> View:
        """Return the view of the seat on turn, 10 to 39 moves into a game."""
        state = game.deal(1, deal)
        for _ in range(int(rng.integers(10, 40))):
            while state.is_chance_node():
                state.apply_action(game.chance(state, 1, deal))
            state.apply_action(int(bot.probs([game.view(state, state.current_player())])[0].argmax()))
            if state.is_terminal():
                return turn(deal + 1_000)
        while state.is_chance_node():
            state.apply_action(game.chance(state, 1, deal))
        return game.view(state, state.current_player())

    moves = slow = 0.0  # of the baseline: number of moves, and their CPU seconds
    cases = []
    for deal in range(positions):
        view = turn(deal)
        decision = _core.hanabi.Decision(tokenizer.codec, tokenizer.encode(view), _core.hanabi.BOTS.index(style))
        belief.reset(view)
        world = belief.sample(1, rng)
        decks, actions = decision.decks(world.hidden, deal), np.array(view.legal)
        scores: list[int] = []
        start, made = time.process_time(), 0
        for action in view.legal:
            state, deck = world.state(0), iter(decks[0].tolist())
            state.apply_action(action)
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(next(deck))
                else:
                    state.apply_action(int(bot.probs([game.view(state, state.current_player())])[0].argmax()))
                    made += 1
            scores.append(game.scores(state)[0])
        slow += time.process_time() - start
        moves += made
        if decision.play(world.hidden, decks, actions, 0)[0].tolist() != scores:
            raise SystemExit("the rollouts of the core and of OpenSpiel have different scores")
        cases.append((decision, world.hidden.repeat(worlds, 0), decks.repeat(worlds, 0), actions))

    def once() -> float:
        start = time.process_time()
        for decision, hands, decks, actions in cases:
            decision.play(hands, decks, actions, 0)
        return worlds * moves / (time.process_time() - start)

    ours, spread = measure(once, 3 if options.quick else 5)
    emit([Row("sparta rollouts", ours, moves / slow, "moves/s", spread)], options.json)


if __name__ == "__main__":
    main()
