"""What a model has learned, measured on hands that it was not trained on."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from trickformer import tokenizers
from trickformer.base import Game, Tokenizer
from trickformer.models.backend import Backend
from trickformer.models.decide import draw, legal_policy
from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.selfplay.data import Sequences, crop
from trickformer.selfplay.train import Batch, batch_of

_BATCH = 50  # sequences in a forward pass: the value head's answers fill 33 MB of float32
_BINS = 20


def measure(model: GPT2PolicyValueModel, game: Game, tokenizer: Tokenizer, data: Sequences) -> dict[str, float]:
    """Of a model on `data`:

    observation_loss, outcome_loss   nats a token, of the policy head and of the value head
    calibration_error                in units of v(o): mean distance between the own value that the value head expects
                                     and the mean of what came, over 20 equal bins of the expected value
    legal_share                      the policy's probability on legal actions at own turns
    entropy                          nats, of the policy over the legal actions where there are several
    regret                           of labelled decisions, in units of v(o): the best label less that of the action of
                                     highest Q; labels are noisy, so it does not fall to 0
    """
    device = next(model.parameters()).device
    classes, values = game.outcomes.told_by(model.num_labels)
    worth = torch.from_numpy(values[:, 0].astype(np.float32)).to(device)
    observation, outcome, expected, came = [], [], [], []
    shares, entropies, errors = [], [], []
    model.eval()
    for start in range(0, len(data), _BATCH):
        part = data[start : start + _BATCH]
        cropped = crop(part.tokens, tokenizer.eos)
        batch = batch_of(part, tokenizer, model, classes)
        tokens, outcomes = batch.tokens, batch.outcomes
        with torch.no_grad():
            found = model(tokens, features=batch.features)
        assert found.logits is not None and found.value_logits is not None
        counted = tokens[:, :-1] != tokenizer.eos
        logits, value_logits = found.logits[:, :-1].float(), found.value_logits[:, :-1].float()
        if batch.possible is not None:
            logits = logits.masked_fill(~batch.possible[:, :-1], -1e9)
        if found.action_values is not None and len(batch.rows):
            errors.append(_regret(found.action_values[batch.rows, batch.positions].float(), batch))
        observation.append(F.cross_entropy(logits[counted], tokens[:, 1:][counted], reduction="none"))
        told = value_logits[counted]
        labels = outcomes[:, None].expand_as(counted)[counted]
        outcome.append(F.cross_entropy(told, labels, reduction="none"))
        expected.append(told.softmax(-1) @ worth)
        came.append(worth[labels])
        legal, where = own_turns(tokenizer, cropped)
        at = logits[where].double().cpu().numpy()
        probs = np.exp(at - at.max(axis=1, keepdims=True))
        shares.append((probs * legal).sum(axis=1) / probs.sum(axis=1))
        several = legal.sum(axis=1) > 1
        policy = legal_policy(at[several], legal[several])
        entropies.append(-(policy * np.log(np.where(policy > 0, policy, 1))).sum(axis=1))
    return {
        "observation_loss": float(torch.cat(observation).mean()),
        "outcome_loss": float(torch.cat(outcome).mean()),
        "calibration_error": calibration_error(torch.cat(expected).cpu().numpy(), torch.cat(came).cpu().numpy()),
        "legal_share": float(np.concatenate(shares).mean()),
        "entropy": float(np.concatenate(entropies).mean()),
    } | ({"regret": float(torch.cat(errors).mean())} if errors else {})


def _regret(found: torch.Tensor, batch: Batch) -> torch.Tensor:
    """float [D]: how much less than a decision's best label that of the action of highest Q is."""
    none = -torch.inf
    chosen = found.masked_fill(~batch.labelled, none).argmax(dim=1, keepdim=True)
    return batch.labels.masked_fill(~batch.labelled, none).amax(dim=1) - batch.labels.gather(1, chosen)[:, 0]


def own_turns(tokenizer: Tokenizer, tokens: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Legal tokens bool [k, V] at the k own turns of the sequences, and where they are: (row [k], position [k])."""
    legal, rows, positions = [], [], []
    for row, sequence in enumerate(tokens.astype(np.int32)):
        tracker = tokenizer.tracker(sequence[:0])
        for position, token in enumerate(sequence):
            if token == tokenizer.eos:
                break
            tracker.push(int(token))
            if tracker.my_turn():
                legal.append(tracker.legal())
                rows.append(row)
                positions.append(position)
    return np.array(legal), (np.array(rows), np.array(positions))


def calibration_error(expected: np.ndarray, came: np.ndarray) -> float:
    """Compute the mean distance of expected and actual results, both float [n], over bins of the expected ones."""
    order = np.argsort(expected, kind="stable")
    return float(
        sum(abs(expected[b].mean() - came[b].mean()) * len(b) for b in np.array_split(order, _BINS) if len(b))
        / len(expected)
    )


def illegal_rate(backend: Backend, tokenizer: Tokenizer, data: Sequences, seed: int) -> float:
    """The share of histories that no deal explains, of ones that the model goes on with, to their end, from the first
    own decision of each sequence of `data` that has one; 0 where none has. A model whose policy was learned over
    possible tokens is held to them."""
    rng = np.random.default_rng(seed)
    trackers, prefixes = [], []
    for sequence in data.tokens.astype(np.int32):
        tracker, length = tokenizer.tracker(sequence[:0]), 0
        while not tracker.my_turn() and not tracker.terminal():
            tracker.push(int(sequence[length]))
            length += 1
        if tracker.my_turn():  # a game may end before a seat's first
            trackers.append(tracker)
            prefixes.append(sequence[:length])
    if not prefixes:
        return 0.0
    lengths = np.array([len(p) for p in prefixes], dtype=np.int32)
    features = None
    if backend.n_features:
        features = np.concatenate([tokenizers.features_of(tokenizer, p) for p in prefixes])
    fed = backend.extend(np.full(len(prefixes), -1, dtype=np.int32), np.concatenate(prefixes), lengths, features)
    nodes, live = fed[np.cumsum(lengths) - 1], np.arange(len(trackers))
    while True:
        going = np.array([not trackers[i].terminal() for i in live])
        live, nodes = live[going], nodes[going]
        if not len(live):
            break
        logits = backend.policy(nodes)
        allowed = np.ones(logits.shape, dtype=bool)
        if backend.has_masked_policy:
            allowed = np.array([trackers[i].possible() for i in live])
        tokens = draw(legal_policy(logits, allowed), rng.random(len(live)))
        for i, token in zip(live, tokens):
            trackers[i].push(int(token))
        nodes = backend.extend(
            nodes, tokens, None, np.array([trackers[i].features() for i in live]) if features is not None else None
        )
    backend.reset()
    return float(np.mean([not tracker.is_legal() for tracker in trackers]))
