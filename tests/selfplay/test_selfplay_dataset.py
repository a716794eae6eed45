"""The training data as a PyTorch dataset: items, batches, workers, and its export."""

from __future__ import annotations

import json
import pickle
import shutil
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from support.learning import fresh_model
from torch.utils.data import DataLoader, Dataset

from trickformer import games, tokenizers
from trickformer.base import TrickformerError
from trickformer.selfplay import generate, train
from trickformer.selfplay.data import DataWriter
from trickformer.selfplay.dataset import SequenceDataset, load_data
from trickformer.selfplay.generate import Labels
from trickformer.selfplay.train import IGNORE, FitOptions, Objective


def written(folder, name, labels=Labels(0.5, 2), n=12):  # noqa: B008 (frozen)
    """Hands of random players, as a run stores them."""
    game = games.load(name)
    data = generate.cast_hands(game, ["random"], 3, 0, n, labels=labels)
    with DataWriter(folder, game, tokenizers.make(game), {"who": "random"}) as writer:
        writer.append(data, n)
        writer.finish()
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "0"
    written(path, "hearts")
    return path


def test_items_are_sequences_without_padding(hearts, folder):
    data = load_data(folder)
    assert isinstance(data, Dataset) and len(data) == 12
    tokenizer, stored = tokenizers.make(hearts), data.sequences
    for i, item in enumerate(data[i] for i in range(len(data))):
        tokens = item["input_ids"]
        assert tokens.dtype == torch.int64
        assert tokens[-1] == tokenizer.eos and (tokens[:-1] != tokenizer.eos).all()
        assert np.array_equal(tokens[:-1], stored.tokens[i][: len(tokens) - 1])
        assert item["outcome"] == hearts.outcomes.classes[stored.outcomes[i]]
        labels = stored.labels[stored.starts[i] : stored.starts[i + 1]]
        assert np.array_equal(item["tokens"], labels["token"]) and len(labels)
        assert np.array_equal(item["values"], labels["value"].astype(np.float32))
    assert torch.equal(data[-1]["input_ids"], data[11]["input_ids"])
    for index in (12, -13):
        with pytest.raises(IndexError):
            data[index]
    everything = load_data(folder, value_classes=False)
    assert everything[3]["outcome"] == stored.outcomes[3] and len(everything.outcome_names) == 2234


@pytest.mark.parametrize("name", ["hearts", "skat"])
def test_the_losses_of_a_batch_are_those_of_a_run(tmp_path, name):
    data_of_run = written(tmp_path / "0", name)
    data = load_data(tmp_path / "0")
    game, model = data.game, fresh_model(data.game, rich=True)
    rows = [7, 2, 11, 0]
    batch = data.collate([data[i] for i in rows])
    assert batch["input_ids"].shape[1] <= data_of_run.tokens.shape[1]
    classes = game.outcomes.head_outputs(model.num_labels)[0]
    with torch.no_grad():
        objective = Objective(model, FitOptions(action_weight=1.0))
        _, parts = objective(train.batch_of(data_of_run[np.array(rows)], data.tokenizer, model, classes))
        out = model(batch["input_ids"], batch["attention_mask"], batch["features"])
        logits = out.logits.masked_fill(~batch["possible"], -1e9)
        policy = F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())
        value = F.cross_entropy(out.value_logits.flatten(0, 1), batch["outcomes"].flatten())
        decided = batch["action_mask"].any(dim=-1)
        found, worth = out.action_values[decided], batch["action_values"][decided]
        action = train.action_loss(found, worth, batch["action_mask"][decided])
    torch.testing.assert_close(torch.stack((policy, value, action)), parts, rtol=1e-5, atol=1e-6)


def test_a_batch_is_padded_and_masked(hearts, folder):
    data = load_data(folder)
    lengths = sorted(range(12), key=lambda i: len(data[i]["input_ids"]))
    short, long = data[lengths[0]], data[lengths[-1]]
    n, width = len(short["input_ids"]), len(long["input_ids"])
    assert n < width
    batch = data.collate([short, long])
    assert batch["attention_mask"].sum(dim=1).tolist() == [n, width]
    assert (batch["input_ids"][0, n:] == data.tokenizer.eos).all()
    assert torch.equal(batch["labels"][0, : n - 1], short["input_ids"][1:])
    assert (batch["labels"][0, n - 1 :] == IGNORE).all() and (batch["outcomes"][0, n - 1 :] == IGNORE).all()
    assert (batch["outcomes"][1, :-1] == long["outcome"]).all()
    ahead = batch["possible"].gather(2, batch["labels"].clamp(min=0)[..., None])[..., 0]
    assert ahead[batch["labels"] != IGNORE].all(), "what came was possible"
    assert batch["possible"][0, n - 1 :].all() and not batch["possible"][0, : n - 1].all()
    assert int(batch["action_mask"].sum()) == len(short["tokens"]) + len(long["tokens"])
    assert not batch["action_values"][~batch["action_mask"]].any()


def test_a_loader_with_workers_gives_the_same(folder):
    data = load_data(folder)
    copy = pickle.loads(pickle.dumps(data))
    assert type(copy) is SequenceDataset and copy.outcome_names == data.outcome_names
    loaders = [DataLoader(data, batch_size=5, collate_fn=data.collate, num_workers=workers) for workers in (0, 1)]
    here, there = (list(loader) for loader in loaders)
    assert [len(batch["labels"]) for batch in here] == [5, 5, 2]
    for a, b in zip(here, there, strict=True):
        assert a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def test_data_without_labels_has_empty_masks(tmp_path):
    written(tmp_path / "0", "hearts", labels=generate.NO_LABELS, n=3)
    data = load_data(tmp_path / "0")
    batch = data.collate([data[i] for i in range(3)])
    assert not batch["action_mask"].any() and not batch["action_values"].any()


def test_bad_folders_are_one_line(folder, tmp_path):
    with pytest.raises(TrickformerError, match="holds no training data"):
        load_data(tmp_path)
    copy = shutil.copytree(folder, tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text())
    for change, message in (
        ({"complete": False}, "is not complete"),
        ({"game": "skat"}, "holds data of another kind"),
        ({"game": "bridge"}, "unknown game 'bridge'"),
    ):
        (copy / "manifest.json").write_text(json.dumps(manifest | change))
        with pytest.raises(TrickformerError, match=message):
            load_data(copy)
    for text in ("[]", "{}", "{", json.dumps(manifest | {"about": []})):
        (copy / "manifest.json").write_text(text)
        with pytest.raises(TrickformerError, match=r"manifest\.json is damaged"):
            load_data(copy)


def test_the_export_holds_the_same(folder):
    datasets = pytest.importorskip("datasets")
    data = load_data(folder)
    exported = data.to_hf(chunk=5)
    assert isinstance(exported, datasets.Dataset) and len(exported) == len(data)
    assert exported.column_names == ["input_ids", "outcome", "positions", "tokens", "values"]
    assert exported.features["outcome"].names == data.outcome_names
    for row, item in zip(exported, (data[i] for i in range(len(data))), strict=True):
        assert row["outcome"] == item["outcome"]
        assert row["input_ids"] == item["input_ids"].tolist()
        assert (row["positions"], row["tokens"]) == (item["positions"].tolist(), item["tokens"].tolist())
        assert row["values"] == item["values"].tolist()


def test_without_the_package_the_export_is_one_line(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(TrickformerError, match=r"^to_hf needs the package datasets: pip install datasets$"):
        load_data(folder).to_hf()
