"""Fit the value head of a model to other hands: `python runs/value_head.py CHECKPOINT DATA OUT [EPOCHS]`.

DATA is a folder of training data, such as `out/run/data/0`. Only the two matrices of the value head learn, so policy
and action values stay as they are. The last 1,000 sequences are held out. The script prints the loss on them before the
training and after each epoch, and writes the model to OUT.
"""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Subset

from trickformer import checkpoints
from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.selfplay.dataset import SequenceDataset, load_data

HELD_OUT = 1_000


def loss_of(model: GPT2PolicyValueModel, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return the cross-entropy of the outcome over all positions, in nats."""
    with torch.no_grad():
        hidden = model.hidden_states(batch["input_ids"], batch["features"], batch["attention_mask"])
    return F.cross_entropy(model.value_logits(hidden).flatten(0, 1), batch["outcomes"].flatten(), ignore_index=-100)


def fit(checkpoint: str, folder: str, out: str, epochs: int) -> None:
    """Train the value head of a checkpoint on a folder of data, and save the model to `out`."""
    torch.manual_seed(0)
    model = GPT2PolicyValueModel.from_pretrained(checkpoint)
    data = load_data(folder)
    if len(data.outcome_names) != model.num_labels:
        data = load_data(folder, value_classes=False)
    held_out = _batches(data, range(len(data) - HELD_OUT, len(data)))

    def held_out_loss() -> float:
        with torch.no_grad():
            return sum(float(loss_of(model, batch)) for batch in held_out) / len(held_out)

    print(f"held-out loss before: {held_out_loss():.4f} nats")
    model.requires_grad_(False)
    head = [*model.val_hidden.parameters(), *model.val_head.parameters()]
    for parameter in head:
        parameter.requires_grad_(True)
    batches = _batches(data, range(len(data) - HELD_OUT), shuffle=True)
    optimizer = torch.optim.AdamW(head, lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=epochs * len(batches))
    for epoch in range(epochs):
        for batch in batches:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()
            schedule.step()
        print(f"held-out loss after epoch {epoch + 1}: {held_out_loss():.4f} nats", flush=True)
    model.to(torch.bfloat16).save_pretrained(out)


def _batches(data: SequenceDataset, rows: range, shuffle: bool = False) -> DataLoader:
    return DataLoader(Subset(data, rows), batch_size=64, shuffle=shuffle, collate_fn=data.collate)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", help="name or folder of the model")
    parser.add_argument("data", help="folder of training data")
    parser.add_argument("out", help="folder of the new model")
    parser.add_argument("epochs", type=int, nargs="?", default=2, help="number of epochs (default: %(default)s)")
    options = parser.parse_args()
    fit(str(checkpoints.find(options.checkpoint)), options.data, options.out, options.epochs)
