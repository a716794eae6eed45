"""Training data as a PyTorch dataset, for training loops outside this package, and as a Hugging Face dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from trickformer import checkpoints, games, tokenizers
from trickformer.base import TrickformerError
from trickformer.plumbing.text import json_object, read_text
from trickformer.selfplay import data as stored
from trickformer.selfplay.data import LABEL, MANIFEST, Sequences, crop, lengths_of, starts_of
from trickformer.selfplay.train import IGNORE, decisions


def load_data(folder: str | PathLike[str], *, value_classes: bool = True) -> SequenceDataset:
    """Load the training data of an iteration, such as `out/run/data/3`. The files are mapped into memory.

    Args:
        folder: Folder of training data; its manifest names the game.
        value_classes: Whether the outcomes of items are classes of equal own value, as in the presets small and tiny.
            Otherwise they are all outcomes of the game.

    Raises:
        TrickformerError: The folder is missing, damaged or unfinished, or its game has other tokens now.
    """
    return SequenceDataset(Path(folder), value_classes)


class SequenceDataset(Dataset[dict[str, Any]]):
    """Sequences of one iteration of a run; `collate` makes batches for a DataLoader.

    An item is a dictionary: `input_ids` int64 [T] with the end token, `outcome` int, and the L labels of actions. These
    are `positions` int64 [L] of the tokens before the decisions, the actions as `tokens` int64 [L], and `values`
    float32 [L] in units of v(o). Items are in the order of the hands. The last items are those that the run held out.

    Attributes:
        game: The game.
        tokenizer: Its tokenizer.
        sequences: The data as the run stores it.
        outcome_names: Name of each outcome.
    """

    def __init__(self, folder: Path, value_classes: bool = True):
        """Load a folder.

        Args:
            folder: Folder of training data.
            value_classes: See `load_data`.

        Raises:
            TrickformerError: As `load_data`.
        """
        self._folder, self._value_classes = folder, value_classes
        self.game = games.load(_game_of(folder))
        self.tokenizer = tokenizers.make(self.game)
        self.sequences = stored.load(folder, self.game, self.tokenizer)
        outcomes = self.game.outcomes
        n_outcomes = len(outcomes.class_values if value_classes else outcomes.labels)
        self.outcome_names = checkpoints.outcome_names(self.game, n_outcomes)
        self._classes = outcomes.head_outputs(n_outcomes)[0]

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker process of a DataLoader gets the folder instead of the arrays, and maps the files itself.
        return type(self), (self._folder, self._value_classes)

    def __len__(self) -> int:
        return len(self.sequences)

    def __getitem__(self, index: int) -> dict[str, Any]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"no sequence {index}: there are {len(self)} sequences")
        row = index % len(self)
        item = self.sequences[row : row + 1]
        return {
            "input_ids": torch.from_numpy(crop(item.tokens, self.tokenizer.eos)[0].astype(np.int64)),
            "outcome": int(self._classes[item.outcomes[0]]),
            "positions": torch.from_numpy(item.labels["position"].astype(np.int64)),
            "tokens": torch.from_numpy(item.labels["token"].astype(np.int64)),
            "values": torch.from_numpy(item.labels["value"].astype(np.float32)),
        }

    def collate(self, items: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Make a batch of items, padded on the right with the end token.

        Args:
            items: B items.

        Returns:
            Tensors by name; V is the size of the vocabulary, F the number of features.

            - `input_ids` int64 [B, T]
            - `attention_mask` int64 [B, T]: 1 up to the end token of each sequence
            - `features` float32 [B, T, F]: input of a model with features
            - `labels` int64 [B, T]: the token after each position; -100 from the end token on
            - `outcomes` int64 [B, T]: the outcome at each position; -100 from the end token on
            - `possible` bool [B, T, V]: tokens that some deal allows next; all of them from the end token on
            - `action_values` float32 [B, T, V]: labels of the actions after each position, in units of v(o)
            - `action_mask` bool [B, T, V]: where `action_values` has a label
        """
        data, eos = self._join(items), self.tokenizer.eos
        features, possible = tokenizers.follow(self.tokenizer, data.tokens, possible=True)
        tokens = torch.from_numpy(data.tokens.astype(np.int64))
        ended = tokens == eos
        labels = torch.full_like(tokens, IGNORE)
        labels[:, :-1] = tokens[:, 1:]
        outcomes = torch.from_numpy(data.outcomes)[:, None].expand_as(tokens)
        size = (*tokens.shape, len(self.tokenizer.vocab))
        values, has_label = torch.zeros(size), torch.zeros(size, dtype=torch.bool)
        labelled = decisions(data, size[-1])
        values[labelled.rows, labelled.positions] = torch.from_numpy(labelled.labels)
        has_label[labelled.rows, labelled.positions] = torch.from_numpy(labelled.labelled)
        return {
            "input_ids": tokens,
            "attention_mask": (ended.cumsum(dim=1) <= ended).long(),
            "features": torch.from_numpy(features),
            "labels": labels.masked_fill(ended, IGNORE),
            "outcomes": outcomes.masked_fill(ended, IGNORE),
            "possible": torch.from_numpy(possible) | ended[..., None],
            "action_values": values,
            "action_mask": has_label,
        }

    def _join(self, items: Sequence[dict[str, Any]]) -> Sequences:
        """Join items into sequences, as a run stores them, except that outcomes stay classes."""
        tokens = np.full((len(items), max(len(item["input_ids"]) for item in items)), self.tokenizer.eos, np.int16)
        for row, item in zip(tokens, items):
            row[: len(item["input_ids"])] = item["input_ids"].numpy()
        starts = starts_of(np.array([len(item["tokens"]) for item in items]))
        labels = np.empty(starts[-1], LABEL)
        for field, key in (("position", "positions"), ("token", "tokens"), ("value", "values")):
            labels[field] = torch.cat([item[key] for item in items]).numpy()
        return Sequences(tokens, np.array([item["outcome"] for item in items]), starts, labels)

    def to_hf(self, chunk: int = 100_000) -> Any:
        """Convert to a `datasets.Dataset` over Arrow, in memory.

        Args:
            chunk: Number of sequences that are converted at once. The result does not depend on it.

        Returns:
            A dataset with the columns `input_ids`, `outcome` (a ClassLabel), `positions`, `tokens` and `values`.

        Raises:
            TrickformerError: The package `datasets` is not installed.
        """
        try:
            import datasets  # pyright: ignore[reportMissingImports]
            import pyarrow as arrow  # pyright: ignore[reportMissingImports]
        except ModuleNotFoundError:
            raise TrickformerError("to_hf needs the package datasets: pip install datasets") from None
        tables = [self._arrow(arrow, self.sequences[at : at + chunk]) for at in range(0, len(self), chunk)]
        table = arrow.concat_tables(tables)
        features = datasets.Features.from_arrow_schema(table.schema)
        features["outcome"] = datasets.ClassLabel(names=self.outcome_names)
        # The manifest has checksums of the data, so its own hash identifies this dataset.
        content = (self._folder / MANIFEST).read_bytes() + str(self._value_classes).encode()
        name = hashlib.sha256(content).hexdigest()[:16]
        return datasets.Dataset(table, info=datasets.DatasetInfo(features=features), fingerprint=name)

    def _arrow(self, arrow: Any, data: Sequences) -> Any:
        """Convert sequences to an Arrow table; `arrow` is the module pyarrow."""
        lengths = lengths_of(data.tokens, self.tokenizer.eos) + 1  # with the end token
        is_token = np.arange(data.tokens.shape[1]) < lengths[:, None]
        labels, starts = data.labels, arrow.array(data.starts.astype(np.int32))
        columns = {
            "input_ids": (starts_of(lengths).astype(np.int32), np.asarray(data.tokens)[is_token]),
            "positions": (starts, labels["position"]),
            "tokens": (starts, labels["token"]),
            "values": (starts, labels["value"].astype(np.float32)),
        }
        lists = {
            name: arrow.ListArray.from_arrays(arrow.array(at), arrow.array(np.ascontiguousarray(values)))
            for name, (at, values) in columns.items()
        }
        outcome = arrow.array(self._classes[data.outcomes].astype(np.int64))
        return arrow.table({"input_ids": lists.pop("input_ids"), "outcome": outcome, **lists})


def _game_of(folder: Path) -> str:
    """Read the game string of a manifest. Raises TrickformerError if there is none."""
    try:
        return str(json_object(read_text(folder / MANIFEST))["game"])
    except OSError:
        raise TrickformerError(f"{folder} holds no training data: there is no {MANIFEST}") from None
    except (ValueError, KeyError):
        raise TrickformerError(f"{folder / MANIFEST} is damaged; restore it from a copy") from None
