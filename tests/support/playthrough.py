"""Golden playthroughs: random hands of a game as a text that people can read, after OpenSpiel's playthroughs.

`python -m tests.support.playthrough [GAME ...]` writes those of the games given, or of all, anew: look at the
difference in git, for it is a change of rules, views, tokens or scores.
"""

from __future__ import annotations

import random
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from trickformer import games, tokenizers
from trickformer.base import Game, Tokenizer, View

FOLDER = Path(__file__).parents[1] / "playthroughs"
SEED, DEALS = 7, 2
VIEWS_EVERY = 16  # decisions between two looks at what every seat knows
_WIDTH = 110


def path(name: str) -> Path:
    return FOLDER / f"{name}.txt"


def text(name: str) -> str:
    """The playthrough of a game under its usual rules: a function of the game's name alone.

    A game without a tokenizer is described by the views of its seats and its final state."""
    game = games.load(name)
    if name not in tokenizers.NAMES:
        return _in_words(game)
    tokenizer = tokenizers.make(game)
    lines = [
        f"game             {game.spiel}",
        f"players          {game.players}",
        f"better scores    {'higher' if game.higher_is_better else 'lower'}",
        f"outcomes         {len(game.outcomes.labels)}, from {game.outcomes.labels[0]} to {game.outcomes.labels[-1]}",
        f"positions        {tokenizer.n_positions}",
        *_wrapped("tokens           ", tokenizer.vocab),
    ]
    for index in range(DEALS):
        lines += ["", f"== deal {index} of seed {SEED}", *_hand(game, tokenizer, index)]
    return "\n".join(lines) + "\n"


def _in_words(game: Game) -> str:
    lines = [
        f"game             {game.spiel}",
        f"players          {game.players}",
        f"better scores    {'higher' if game.higher_is_better else 'lower'}",
        f"outcomes         {len(game.outcomes.labels)}, from {game.outcomes.labels[0]} to {game.outcomes.labels[-1]}",
    ]
    for index in range(DEALS):
        lines += ["", f"== deal {index} of seed {SEED}", ""]
        rng, state = random.Random(index), game.deal(SEED, index)
        while not state.is_terminal():
            seat = state.current_player()
            if state.is_chance_node():
                action = game.chance(state, SEED, index)
            else:
                action = rng.choice(game.view(state, seat).legal)
                lines += [f"  seat {p} sees  {_events(game.view(state, p))}" for p in range(game.players)]
            lines.append(f"{'chance' if seat < 0 else f'seat {seat}'}  {state.action_to_string(action)}")
            state.apply_action(action)
        lines += [f"  seat {p} sees  {_events(game.view(state, p))}" for p in range(game.players)]
        lines += ["", str(state), "", f"scores  {' '.join(map(str, game.scores(state)))}"]
    return "\n".join(lines) + "\n"


def _events(view: View) -> str:
    """Format the events of a view: actor, action and shown cards."""
    return " ".join(f"{e.actor}:{e.action}:{','.join(map(str, e.seen))}" for e in view.events) or "nothing"


def _hand(game: Game, tokenizer: Tokenizer, index: int) -> Iterator[str]:
    rng = random.Random(index)
    state = game.deal(SEED, index)
    decisions = 0
    while not state.is_terminal():
        if state.is_chance_node():
            action = game.chance(state, SEED, index)
            yield f"  chance          {state.action_to_string(action)}"
            state.apply_action(action)
            continue
        if decisions % VIEWS_EVERY == 0:
            yield from _views(game, tokenizer, state)
        seat = state.current_player()
        legal = game.view(state, seat).legal
        action = rng.choice(legal)
        chosen, *choice = (tokenizer.vocab[tokenizer.token(a)] for a in (action, *legal))
        yield f"{decisions:3}  seat {seat}  {chosen}  of  {' '.join(choice)}"
        state.apply_action(action)
        decisions += 1
    yield from _views(game, tokenizer, state)
    scores = game.scores(state)
    yield f"scores  {' '.join(map(str, scores))}"
    for seat in range(game.players):
        outcome = tokenizer.tracker(tokenizer.encode(game.view(state, seat))).outcome()
        label, values = game.outcomes.labels[outcome], game.outcomes.values[outcome]
        told = " ".join(map(str, label))
        yield f"seat {seat}  outcome {outcome}: {told}; values {' '.join(f'{v:.3f}' for v in values)}"


def _views(game: Game, tokenizer: Tokenizer, state) -> Iterator[str]:
    """Every seat's tokens, and how many tokens some deal allows next."""
    yield ""
    for seat in range(game.players):
        tokens = tokenizer.encode(game.view(state, seat))
        next_ = int(np.count_nonzero(tokenizer.tracker(tokens).possible()))
        yield f"  seat {seat} sees {len(tokens)} tokens; {next_} may come next"
        yield from _wrapped("    ", [tokenizer.vocab[t] for t in tokens])
    yield ""


def _wrapped(label: str, words: Iterable[str]) -> list[str]:
    indent = " " * len(label)
    return textwrap.wrap(
        " ".join(words), _WIDTH, initial_indent=label, subsequent_indent=indent, break_on_hyphens=False
    )


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for _name in sys.argv[1:] or games.NAMES:
        path(_name).write_text(text(_name), encoding="utf-8")
        print(path(_name))
