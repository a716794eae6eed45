"""Measurements of a model on hands that it was not trained on."""

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

_BATCH = 50  # sequences in a forward pass: the value head's outputs fill 33 MB of float32
_BINS = 20  # number of bins of the calibration error


def measure(model: GPT2PolicyValueModel, game: Game, tokenizer: Tokenizer, data: Sequences) -> dict[str, float]:
    """Measure a model on sequences.

    Args:
        model: The model.
        game: The game.
        tokenizer: Its tokenizer.
        data: The sequences.

    Returns:
        Measurements by name.

        - `policy_loss`, `value_loss`: cross entropy of the policy head and of the value head, in nats a token.
        - `calibration_error`: difference between the mean expected value and the mean true value, averaged over 20
            equally large bins of the expected value; own values in units of v(o).
        - `legal_share`: the policy's probability of legal actions at own turns.
        - `entropy`: entropy of the policy over legal actions, in nats, at turns with several of them.
        - `regret`: the best label of a decision minus the label of the action with the highest action value, in units
            of v(o); only with labels. Labels are noisy, so it does not fall to 0.
    """
    device = next(model.parameters()).device
    classes, values = game.outcomes.head_outputs(model.num_labels)
    own_values = torch.from_numpy(values[:, 0].astype(np.float32)).to(device)
    policy_losses: list[torch.Tensor] = []
    value_losses: list[torch.Tensor] = []
    expected: list[torch.Tensor] = []
    true_values: list[torch.Tensor] = []
    regrets: list[torch.Tensor] = []
    shares: list[np.ndarray] = []
    entropies: list[np.ndarray] = []
    model.eval()
    for start in range(0, len(data), _BATCH):
        part = data[start : start + _BATCH]
        cropped = crop(part.tokens, tokenizer.eos)
        batch = batch_of(part, tokenizer, model, classes)
        tokens, outcomes = batch.tokens, batch.outcomes
        with torch.no_grad():
            out = model(tokens, features=batch.features)
        assert out.logits is not None and out.value_logits is not None
        is_token = tokens[:, :-1] != tokenizer.eos
        logits, value_logits = out.logits[:, :-1].float(), out.value_logits[:, :-1].float()
        if batch.possible is not None:
            logits = logits.masked_fill(~batch.possible[:, :-1], -1e9)
        if out.action_values is not None and len(batch.rows):
            regrets.append(_regret(out.action_values[batch.rows, batch.positions].float(), batch))
        policy_losses.append(F.cross_entropy(logits[is_token], tokens[:, 1:][is_token], reduction="none"))
        predicted = value_logits[is_token]
        labels = outcomes[:, None].expand_as(is_token)[is_token]
        value_losses.append(F.cross_entropy(predicted, labels, reduction="none"))
        expected.append(predicted.softmax(-1) @ own_values)
        true_values.append(own_values[labels])
        legal, turns = own_turns(tokenizer, cropped)
        turn_logits = logits[turns].double().cpu().numpy()
        probs = np.exp(turn_logits - turn_logits.max(axis=1, keepdims=True))
        shares.append((probs * legal).sum(axis=1) / probs.sum(axis=1))
        has_choice = legal.sum(axis=1) > 1
        policy = legal_policy(turn_logits[has_choice], legal[has_choice])
        entropies.append(-(policy * np.log(np.where(policy > 0, policy, 1))).sum(axis=1))
    return {
        "policy_loss": float(torch.cat(policy_losses).mean()),
        "value_loss": float(torch.cat(value_losses).mean()),
        "calibration_error": calibration_error(torch.cat(expected).cpu().numpy(), torch.cat(true_values).cpu().numpy()),
        "legal_share": float(np.concatenate(shares).mean()),
        "entropy": float(np.concatenate(entropies).mean()),
    } | ({"regret": float(torch.cat(regrets).mean())} if regrets else {})


def _regret(predicted: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Return each decision's best label minus the label of the action with the highest predicted value: float [D]."""
    chosen = predicted.masked_fill(~batch.labelled, -torch.inf).argmax(dim=1, keepdim=True)
    return batch.labels.masked_fill(~batch.labelled, -torch.inf).amax(dim=1) - batch.labels.gather(1, chosen)[:, 0]


def own_turns(tokenizer: Tokenizer, tokens: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Find the own turns of sequences.

    Args:
        tokenizer: Tokenizer of their game.
        tokens: Integers [n, T], padded with the end token.

    Returns:
        Legal tokens, bool [k, V], at the k own turns, and the indices of the turns: (row [k], position [k]).
    """
    legal: list[np.ndarray] = []
    rows: list[int] = []
    positions: list[int] = []
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
    masks = np.array(legal, bool).reshape(-1, len(tokenizer.vocab))  # no sequence may have an own turn
    return masks, (np.array(rows, np.int64), np.array(positions, np.int64))


def calibration_error(expected: np.ndarray, actual: np.ndarray) -> float:
    """Compute the mean absolute difference of expected and actual means, over equally large bins of `expected`.

    Args:
        expected: float [n].
        actual: float [n].
    """
    order = np.argsort(expected, kind="stable")
    return float(
        sum(abs(expected[b].mean() - actual[b].mean()) * len(b) for b in np.array_split(order, _BINS) if len(b))
        / len(expected)
    )


def illegal_rate(backend: Backend, tokenizer: Tokenizer, data: Sequences, seed: int) -> float:
    """Measure how often the model imagines a history that no deal allows.

    Args:
        backend: The model. If its policy covers possible tokens only, the histories consist of possible tokens.
        tokenizer: Tokenizer of the game.
        data: Sequences. The model continues each from its first own decision to the end of the game.
        seed: Seed of the draws.

    Returns:
        The share of histories that no deal allows; 0 if no sequence has an own decision.
    """
    rng = np.random.default_rng(seed)
    trackers, prefixes = [], []
    for sequence in data.tokens.astype(np.int32):
        tracker, length = tokenizer.tracker(sequence[:0]), 0
        while not tracker.my_turn() and not tracker.terminal():
            tracker.push(int(sequence[length]))
            length += 1
        if tracker.my_turn():  # a game may end before a seat's first turn
            trackers.append(tracker)
            prefixes.append(sequence[:length])
    if not prefixes:
        return 0.0
    lengths = np.array([len(p) for p in prefixes], dtype=np.int32)
    features = None
    if backend.n_features:
        features = np.concatenate([tokenizers.features_of(tokenizer, p) for p in prefixes])
    all_nodes = backend.extend(np.full(len(prefixes), -1, dtype=np.int32), np.concatenate(prefixes), lengths, features)
    nodes, live = all_nodes[np.cumsum(lengths) - 1], np.arange(len(trackers))
    while True:
        continues = np.array([not trackers[i].terminal() for i in live])
        live, nodes = live[continues], nodes[continues]
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
