"""Fresh models, and data of self-play checked."""

from __future__ import annotations

import numpy as np
import torch
from accelerate import Accelerator

from trickformer import tokenizers
from trickformer.models import presets
from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.plumbing.training import mixed_precision
from trickformer.tokenizers.hearts import POSITION


def cpu_accelerator():
    """Return an accelerator as self-play uses it on this CPU. All accelerators of a process have the same precision."""
    return Accelerator(cpu=True, mixed_precision=mixed_precision(bf16=True, cpu=True))


def sequences(data, eos):
    """Yield each sequence with one end token, and assert that only end tokens pad it."""
    for row in data.tokens.astype(np.int32):
        end = int(np.argmax(row == eos))
        assert (row[end:] == eos).all()
        yield row[: end + 1]


def check(game, data):
    """Assert that sequences are legal and have the right outcome. Return the pairs (seat, pass direction)."""
    tokenizer = tokenizers.make(game)
    assert data.tokens.shape == (len(data), tokenizer.n_positions)
    seen = set()
    for tokens, outcome in zip(sequences(data, tokenizer.eos), data.outcomes):
        events = tokenizer.decode(tokens)  # raises on a hand that no deal explains
        assert tokenizer.tracker(tokens).outcome() == outcome
        seen.add((int(tokens[0]) - POSITION, events[0].action))
    return seen


def fresh_model(game, seed=0, rich=False):
    """rich: with features, action values, a masked policy and value classes."""
    tokenizer = tokenizers.make(game)
    torch.manual_seed(seed)
    results = game.outcomes.class_values if rich else game.outcomes.labels
    sizes = len(tokenizer.vocab), tokenizer.n_positions, len(results), tokenizer.eos
    more = (tokenizer.n_features, True, True) if rich else ()
    return GPT2PolicyValueModel(presets.config("tiny", *sizes, *more)).eval()
