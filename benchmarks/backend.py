"""Tokens a second through the paper's Hearts model, one CPU thread: our backend (bfloat16) against Hugging Face.

Hugging Face runs its own key-value cache in float32, its fastest type on the CPU. Weights are random. The clock
is this thread's CPU time, so that other programs on the machine blur the figures less.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np

from benchmarks import Row, arguments, emit, measure

# Sizes of Hearts: GO-MCTS paper, Table 5.
VOCAB = 61
POSITIONS = 75
OUTCOMES = 2237
CONTEXT = 45  # tokens of a prefix, which are computed before the clock starts
STEPS = 10  # tokens of a continuation, which are timed
UNIT = "tokens/s"


def main() -> None:
    options = arguments(__doc__ or "")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch
    from transformers import DynamicCache

    from trickformer.models import presets
    from trickformer.models.backend import Backend, load_backend
    from trickformer.models.gpt2 import GPT2PolicyValueModel

    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    model = GPT2PolicyValueModel(presets.config("paper", VOCAB, POSITIONS, OUTCOMES, VOCAB - 1)).eval()
    values = rng.uniform(-1, 1, (OUTCOMES, 4)).astype(np.float32)
    fast = load_backend(model, values)
    exact = load_backend(model, values, "float32")

    def draw(rows: int, columns: int) -> np.ndarray:
        return rng.integers(0, VOCAB, (rows, columns)).astype(np.int32)

    def decode(backend: Backend, rows: int, branches: int = 1) -> float:
        """Return tokens a second: STEPS tokens of `branches` continuations of each of `rows` prefixes."""
        backend.reset()
        tokens, more = draw(rows, CONTEXT), draw(STEPS, rows * branches)
        new = np.full(rows, -1, np.int32)
        nodes = backend.extend(new, tokens.ravel(), np.full(rows, CONTEXT, np.int32)).reshape(rows, CONTEXT)
        last = np.repeat(nodes[:, -1], branches)
        start = time.thread_time()
        for step in more:
            last = backend.extend(last, step)
        return more.size / (time.thread_time() - start)

    def prefill(backend: Backend, rows: int) -> float:
        backend.reset()
        tokens = draw(rows, POSITIONS)
        new, lengths = np.full(rows, -1, np.int32), np.full(rows, POSITIONS, np.int32)
        start = time.thread_time()
        backend.extend(new, tokens.ravel(), lengths)
        return tokens.size / (time.thread_time() - start)

    @torch.inference_mode()
    def decode_theirs(rows: int) -> float:
        cache = DynamicCache(config=model.config)
        model.transformer(torch.from_numpy(draw(rows, CONTEXT)).long(), past_key_values=cache, use_cache=True)
        more = torch.from_numpy(draw(STEPS, rows)).long()
        start = time.thread_time()
        for step in more:
            model.transformer(step[:, None], past_key_values=cache, use_cache=True)
        return more.numel() / (time.thread_time() - start)

    @torch.inference_mode()
    def prefill_theirs(rows: int) -> float:
        tokens = torch.from_numpy(draw(rows, POSITIONS)).long()
        start = time.thread_time()
        model.transformer(tokens, use_cache=False)
        return tokens.numel() / (time.thread_time() - start)

    def head(backend: Backend, name: str) -> float:
        backend.reset()
        nodes = backend.extend(np.full(128, -1, np.int32), draw(1, 128)[0])
        start = time.thread_time()
        getattr(backend, name)(nodes)
        return 128 / (time.thread_time() - start)

    @torch.inference_mode()
    def head_theirs(name: str) -> float:
        hidden, worth = torch.randn(128, model.config.n_embd), torch.from_numpy(values)
        start = time.thread_time()
        if name == "policy":
            model.lm_head(torch.nn.functional.gelu(model.lm_hidden(hidden)))
        else:
            model.val_head(torch.nn.functional.gelu(model.val_hidden(hidden))).softmax(-1) @ worth
        return 128 / (time.thread_time() - start)

    def row(name: str, ours: Callable[[], float], theirs: float, unit: str = UNIT) -> Row:
        median, spread = measure(ours, 5 if options.quick else 31)
        return Row(name, median, theirs, unit, spread)

    def baseline(theirs: Callable[[], float]) -> float:
        return measure(theirs, 2 if options.quick else 9)[0]

    decoded = {rows: baseline(lambda rows=rows: decode_theirs(rows)) for rows in (1, 8, 128)}
    prefilled = baseline(lambda: prefill_theirs(64))
    policy, value = (baseline(lambda name=name: head_theirs(name)) for name in ("policy", "values"))

    emit(
        [
            row("one by one", lambda: decode(fast, 1), decoded[1]),
            row("batch 8", lambda: decode(fast, 8), decoded[8]),
            row("batch 128", lambda: decode(fast, 128), decoded[128]),
            row("batch 128, one prefix", lambda: decode(fast, 1, 128), decoded[128]),
            row("prefill 64 x 75", lambda: prefill(fast, 64), prefilled),
            row("one by one, float32", lambda: decode(exact, 1), decoded[1]),
            row("batch 128, float32", lambda: decode(exact, 128), decoded[128]),
            row("policy of 128", lambda: head(fast, "policy"), policy, "nodes/s"),
            row("values of 128", lambda: head(fast, "values"), value, "nodes/s"),
        ],
        options.json,
    )


if __name__ == "__main__":
    main()
