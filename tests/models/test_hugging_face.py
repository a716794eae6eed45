"""The model in transformers: its model type, names of checkpoints, outcomes in the configuration, and padding."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from support.learning import fresh_model
from support.shipped import TRANSFORMERS
from transformers import AutoConfig, AutoModel, GPT2Model

from trickformer import checkpoints, games, tokenizers
from trickformer.base import TrickformerError
from trickformer.models.configuration import TrickformerConfig
from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.plumbing import digests
from trickformer.selfplay import generate

OLD = Path(__file__).parents[1] / "fixtures" / "v0_2_0" / "train" / "expert" / "model-0"


def inputs(game, n=3):
    """Sequences of unequal lengths, and their features."""
    tokenizer = tokenizers.make(game)
    tokens = generate.cast_hands(game, ["random"], 5, 0, n).tokens
    features, _ = tokenizers.follow(tokenizer, tokens)
    return torch.from_numpy(tokens.astype(np.int64)), torch.from_numpy(features)


def same(a, b):
    return a.keys() == b.keys() >= {"logits", "value_logits"} and all(torch.equal(a[key], b[key]) for key in a)


# ------------------------------------------------------------------------------------------------- model type


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_auto_model_loads_a_checkpoint_with_features_and_heads(name):
    folder = checkpoints.find(name)
    ours, auto = GPT2PolicyValueModel.from_pretrained(folder).eval(), AutoModel.from_pretrained(folder).eval()
    assert type(auto) is GPT2PolicyValueModel and type(auto.config) is TrickformerConfig
    assert auto.dtype == torch.float32
    tokens, features = inputs(games.load(ours.config.trickformer["game"]))
    with torch.no_grad():
        if not ours.n_features:
            assert same(ours(tokens), auto(tokens))
            return
        assert same(ours(tokens, features=features), auto(tokens, features=features))
        other = auto(tokens, features=torch.zeros_like(features))
    assert not torch.equal(other.logits, ours(tokens, features=features).logits)


def test_auto_model_makes_and_keeps_models_of_the_type(hearts, tmp_path):
    model = fresh_model(hearts, rich=True)
    again = AutoModel.from_config(model.config)
    assert type(again) is GPT2PolicyValueModel and again.n_features == model.n_features
    model.save_pretrained(tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    assert (written["model_type"], written["architectures"]) == ("trickformer", ["GPT2PolicyValueModel"])
    assert AutoConfig.from_pretrained(tmp_path).n_features == model.n_features
    tokens, features = inputs(hearts)
    with torch.no_grad():
        assert same(AutoModel.from_pretrained(tmp_path)(tokens, features=features), model(tokens, features=features))


IMPORTS = (  # what a program imports before it asks AutoModel
    "import trickformer.models; from transformers import AutoModel",
    "from transformers import AutoModel; import trickformer.models",
    "import trickformer.models; import transformers; from transformers import GPT2Config, AutoModel",
    "import trickformer.models.gpt2; from transformers import AutoModel",
    "import trickformer.models.configuration; from transformers import AutoModel",
    "import torch, accelerate; from trickformer.models.backend import load_backend; from transformers import AutoModel",
)


@pytest.mark.slow
@pytest.mark.parametrize("imports", IMPORTS)
def test_the_type_is_registered_whatever_is_imported_first(imports):
    program = f"{imports}; model = AutoModel.from_pretrained({str(checkpoints.find('hearts-small'))!r})"
    program += "; print(type(model).__name__, model.n_features)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["GPT2PolicyValueModel", "440"]), done.stderr


def test_importing_the_package_is_light():
    program = "import sys, trickformer.models; assert not {'torch', 'transformers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.fixture
def warnings():
    """Messages that transformers logs."""
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    logger = logging.getLogger("transformers")
    logger.addHandler(handler)
    yield messages
    logger.removeHandler(handler)


def test_plain_gpt2_warns_of_another_model_type(warnings):
    GPT2Model.from_pretrained(checkpoints.find("hearts-small"))
    assert any("a model of type `trickformer` to instantiate a model of type `gpt2`" in text for text in warnings)


def test_checkpoints_of_version_0_2_load_without_a_warning(warnings, tmp_path):
    assert json.loads((OLD / "config.json").read_text())["model_type"] == "gpt2"
    model = GPT2PolicyValueModel.from_pretrained(OLD)
    assert model.n_features == 440 and model.config.masked and model.config.trickformer["features"] == "hearts-1"
    assert not [text for text in warnings if "model of type" in text or "newly initialized" in text]
    model.save_pretrained(tmp_path)
    tokens, features = inputs(games.load("hearts"))
    again = AutoModel.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        assert same(model.eval()(tokens, features=features), again(tokens, features=features))


def test_the_weights_of_shipped_checkpoints_are_those_of_version_0_2():
    """Their config.json was replaced, and run folders of version 0.2 accept the new one."""
    for name, (former, today) in digests.REPLACED.items():
        file = checkpoints.find(name) / "config.json"
        assert hashlib.sha256(file.read_bytes()).hexdigest() == today != former
    assert set(digests.REPLACED) == {name for name in TRANSFORMERS if "paper" not in name}  # those came later


def test_a_replaced_file_is_accepted_in_one_direction_alone(tmp_path):
    former, today = digests.REPLACED["hearts-small"]
    digests.must_be_same(tmp_path, {"a": former, "b": "1"}, {"a": today, "b": "1"})
    for known, files in (({"a": today}, {"a": former}), ({"a": former}, {}), ({"a": "1"}, {"a": today})):
        with pytest.raises(TrickformerError, match="was begun with another a"):
            digests.must_be_same(tmp_path, known, files)


# -------------------------------------------------------------------------------------------- names and outcomes


def test_a_shipped_checkpoint_is_found_by_its_name(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    model = GPT2PolicyValueModel.from_pretrained("hearts-small")
    assert model.config.trickformer["game"] == "hearts()"
    shutil.copytree(checkpoints.find("skat-small"), tmp_path / "mine")
    for name in ("mine", Path("mine"), str(tmp_path / "mine")):
        assert "skat" in GPT2PolicyValueModel.from_pretrained(name).config.trickformer["game"]


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_id2label_names_the_outcomes(name):
    config = AutoConfig.from_pretrained(checkpoints.find(name))
    game = games.load(config.trickformer["game"])
    assert list(config.id2label.values()) == checkpoints.outcome_names(game, config.num_labels)
    assert config.label2id == {label: i for i, label in config.id2label.items()}


def test_outcomes_have_names(hearts):
    assert checkpoints.outcome_names(hearts, 27)[0] == "-24.67 points"
    names = checkpoints.outcome_names(hearts, len(hearts.outcomes.labels))
    assert names[0] == "scores -26 0 0 0" and len(set(names)) == len(names)
    for name in ("skat", "crew", "hanabi", "mines"):
        game = games.load(name)
        for n in {len(game.outcomes.labels), len(game.outcomes.class_values)}:
            assert len(set(checkpoints.outcome_names(game, n))) == n
    assert checkpoints.outcome_names(games.load("hanabi"), 26)[25] == "score 25"


# ------------------------------------------------------------------------------------------------------ cards


@pytest.mark.parametrize("name", checkpoints.names())
def test_a_shipped_card_has_a_header_and_code_that_runs(name, monkeypatch, tmp_path, capsys):
    text = (checkpoints.find(name) / "README.md").read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    assert text.startswith("---\n") and head["license"] == "apache-2.0" and name.partition("-")[0] in head["tags"]
    assert {"library_name", "pipeline_tag"} < set(head)
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, f"the card of {name}", "exec"), {})
    assert capsys.readouterr().out.strip()


# ------------------------------------------------------------------------------------------------------ padding


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("side", ["left", "right", "both"])
def test_padding_changes_nothing(hearts, attention, side):
    """Rows padded by 5 tokens on either side, or by 3 and 2, beside a row that is longer."""
    model = fresh_model(hearts, rich=True)
    model.set_attn_implementation(attention)
    tokens, features = inputs(hearts)
    tokens, features = tokens[:, :60], features[:, :60]
    before = {"left": 5, "right": 0, "both": 3}[side]
    after = 5 - before
    mask = torch.nn.functional.pad(torch.ones_like(tokens), (before, after))
    padded = torch.nn.functional.pad(tokens, (before, after), value=7)
    known = torch.nn.functional.pad(features, (0, 0, before, after), value=0.5)
    with torch.no_grad():
        alone = model(tokens, features=features)
        found = model(padded, attention_mask=mask, features=known)
    for key in ("logits", "value_logits", "action_values"):
        torch.testing.assert_close(found[key][:, before : before + 60], alone[key], rtol=1e-5, atol=1e-5)
    with torch.no_grad():
        blind = model(padded, features=known)
    assert torch.allclose(blind.logits[:, before : before + 60], alone.logits) == (side == "right")
