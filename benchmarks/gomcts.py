"""Moves a second of GO-MCTS and ArgmaxVal* with a model of the paper's size, on one core.

Our search runs in bfloat16. The baseline is a plain sequential search, with a full Hugging Face forward pass (float32)
for every new sequence. Both play five fixed positions within tricks of Hearts or The Crew (`--game`), with the paper's
settings, `legal=true` and random weights.

With float32 weights and the same seed, our search must give the visit counts of the baseline exactly. The timed search
is the one in bfloat16, whose rounding sometimes changes a sampled token. A turn of ArgmaxVal* starts from the cached
sequence of the seat's previous turn, as in play. Rows `features` compare our search on a model that also reads the
game's features with our search on the model without. The features have weight 0, so that both search alike.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks import Row, arguments, emit
from trickformer.base import Game
from trickformer.gomcts.options import SearchOptions, default_options

WAVES = (4, 8, 16, 32)  # numbers of simulations that share a forward pass; the fastest is reported
POSITIONS = {"hearts": (4, 5, 6, 7, 6), "crew": (2, 3, 4, 5, 4)}  # trick of each position, from 1
NUM_CARDS = {"hearts": 52, "crew": 40}


def main() -> None:
    options = arguments(__doc__ or "", game=tuple(POSITIONS))
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch

    from tests.support.gomcts_twin import Twin
    from trickformer import games, tokenizers
    from trickformer.gomcts.search import search
    from trickformer.models import presets
    from trickformer.models.backend import Backend, Prefix, advance, load_backend
    from trickformer.models.decide import argmax_val, legal_policy
    from trickformer.models.gpt2 import GPT2PolicyValueModel

    torch.set_num_threads(1)
    torch.manual_seed(0)
    game = games.load(options.game)
    tokenizer = tokenizers.make(game)
    sizes = len(tokenizer.vocab), tokenizer.n_positions, len(game.outcomes.labels), tokenizer.eos
    model = GPT2PolicyValueModel(presets.config("paper", *sizes)).eval()
    informed_model = GPT2PolicyValueModel(presets.config("paper", *sizes, n_features=tokenizer.n_features)).eval()
    informed_model.load_state_dict(
        {"features.weight": torch.zeros(tokenizer.n_features, model.config.n_embd), **model.state_dict()}
    )
    values = game.outcomes.values
    fast, exact = load_backend(model, values), load_backend(model, values, "float32")
    informed = load_backend(informed_model, values)

    @torch.inference_mode()
    def full_pass(sequence: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        out = model(torch.tensor([sequence]))
        outcomes = torch.softmax(out.value_logits[0, -1], 0).numpy()
        return out.logits[0, -1].numpy(), outcomes @ values

    def make_cached_pass() -> Callable:
        known: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}

        def cached_pass(sequence: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
            if sequence not in known:
                known[sequence] = full_pass(sequence)
            return known[sequence]

        return cached_pass

    tricks = POSITIONS[game.name]
    views = [_position(game, n, trick) for n, trick in enumerate(tricks[1:2] if options.quick else tricks)]
    settings = search_settings(game, options.quick)

    def ours(backend: Backend, view, seed: int, wave: int):
        tokens = tokenizer.encode(view)
        prefix = Prefix(backend, tokenizer.tracker(np.empty(0, np.int32)))
        start = time.perf_counter()
        root = advance([prefix], [tokens])
        trackers = [tokenizer.tracker(tokens)]
        (result,) = search(backend, values, trackers, root, [seed], replace(settings, wave=wave))
        return time.perf_counter() - start, result

    def argmax(view) -> float:
        tokens = tokenizer.encode(view)
        legal = np.zeros((1, len(tokenizer.vocab)), dtype=bool)
        legal[0, list(view.legal)] = True
        prefix = Prefix(fast)
        advance([prefix], [tokens[:-4]])  # one trick earlier: the cache holds the seat's previous turn
        start = time.perf_counter()
        node = advance([prefix], [tokens])
        decision = argmax_val(fast, node, fast.policy(node), legal, 0.05)
        seconds = time.perf_counter() - start
        fast.release(decision.nodes)
        return seconds

    def plain_argmax(view) -> float:
        sequence = tuple(int(t) for t in tokenizer.encode(view))
        start = time.perf_counter()
        probs = legal_policy(full_pass(sequence)[0][None, list(view.legal)], np.ones((1, len(view.legal)), bool))[0]
        max(full_pass((*sequence, a))[1][0] for a, p in zip(view.legal, probs) if p >= 0.05)
        return time.perf_counter() - start

    baseline = []
    for number, view in enumerate(views):
        twin = Twin(tokenizer, make_cached_pass(), values, settings, number)
        start = time.perf_counter()
        children = twin.run(tuple(int(t) for t in tokenizer.encode(view)))
        baseline.append(time.perf_counter() - start)
        _, same = ours(exact, view, number, 1)
        expected = {a: visits for a, (_, visits) in children.items()}
        assert dict(zip(same.tokens.tolist(), same.visits.tolist())) == expected, f"position {number}: visits differ"

    def time_move(backend: Backend, wave: int) -> tuple[float, float]:
        """Return the median seconds of a move, and their spread as in Row."""
        repeats = [statistics.mean(ours(backend, v, n, wave)[0] for n, v in enumerate(views)) for _ in range(4)][1:]
        return statistics.median(repeats), (max(repeats) - min(repeats)) / statistics.median(repeats)

    rows = []
    plain = statistics.mean(baseline)
    by_wave = {wave: time_move(fast, wave) for wave in (1, *WAVES)}
    best = min(WAVES, key=lambda wave: by_wave[wave][0])
    for name, wave in (("wave=1", 1), ("best wave", best)):
        seconds, spread = by_wave[wave]
        rows.append(Row(name, 1 / seconds, 1 / plain, f"moves/s (wave={wave}, {seconds:.3f} s a move)", spread))
    for name, wave in (("features wave=1", 1), ("features best wave", best)):
        # The two take turns, so that other load on the machine affects both.
        pairs = [(time_move(informed, wave), time_move(fast, wave)) for _ in range(2)]
        spread = pairs[-1][0][1]
        without = statistics.mean(b for _, (b, _) in pairs)
        seconds = statistics.mean(a for (a, _), _ in pairs)
        rows.append(Row(name, 1 / seconds, 1 / without, f"moves/s (wave={wave}, {seconds:.3f} s a move)", spread))
    turns = [[argmax(v) for v in views] for _ in range(6)][1:]
    means = [statistics.mean(t) for t in turns]
    plain_turn = statistics.median(statistics.mean(plain_argmax(v) for v in views) for _ in range(3))
    turn = statistics.median(means)
    spread = (max(means) - min(means)) / turn
    rows.append(Row("argmax", 1 / turn, 1 / plain_turn, f"moves/s ({1000 * turn:.2f} ms a move)", spread))
    emit(rows, options.json)


def search_settings(game: Game, quick: bool) -> SearchOptions:
    """Return the paper's settings for a game, with possible tokens only; a quarter of the simulations if `quick`."""
    settings = default_options(game, masked=False, action_values=False, overrides={"legal": True})
    return replace(settings, runs=settings.runs // 4) if quick else settings


def _position(game, number: int, trick: int):
    """Return a view within trick `trick` (from 1) of a random hand, with at least four legal cards."""
    rng = random.Random(number)
    for index in range(1000):
        state = game.deal(number, index)
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(game.chance(state, number, index))
                continue
            view = game.view(state, state.current_player())
            cards = len(view.legal) >= 4 and max(view.legal) < NUM_CARDS[game.name]
            plays = _plays(game, state)
            if cards and plays // 4 == trick - 1 and plays % 4:
                return view
            state.apply_action(rng.choice(state.legal_actions()))
    raise RuntimeError("no such position")


def _plays(game, state) -> int:
    """Return the number of cards played so far."""
    if game.name == "crew":
        return len(state.core.plays)
    # The history begins with the pass direction, 52 dealt cards and 12 passed cards, if cards are passed.
    return len(state.history()) - 53 - (12 if state.history()[0] else 0)


if __name__ == "__main__":
    main()
