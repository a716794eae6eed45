"""The Hugging Face model: losses as the paper writes them, and checkpoints that come back as they went."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from support.losses import losses

from trickformer.base import UnknownNameError
from trickformer.models import presets
from trickformer.models.gpt2 import GPT2PolicyValueModel


def make(preset: str = "tiny", outcomes: int = 7, **beyond: Any) -> GPT2PolicyValueModel:
    torch.manual_seed(0)
    return GPT2PolicyValueModel(presets.config(preset, 11, 20, outcomes, 10, **beyond)).eval()


def test_forward_is_the_papers() -> None:
    model = make()
    tokens = torch.randint(0, 11, (3, 9))
    outcomes = torch.tensor([1, 0, 6])
    out = model(tokens)
    told = losses(out, tokens, outcomes)
    assert out.logits.shape == (3, 9, 11)
    assert out.value_logits.shape == (3, 9, 7)

    hidden = model.transformer(tokens).last_hidden_state
    lm = model.lm_head(F.gelu(model.lm_hidden(hidden)))
    val = model.val_head(F.gelu(model.val_hidden(hidden)))
    labels = outcomes[:, None].expand(3, 9)
    loss_lm = torch.nn.CrossEntropyLoss()(lm[:, :-1].reshape(-1, 11), tokens[:, 1:].reshape(-1))
    loss_val = torch.nn.CrossEntropyLoss()(val[:, :-1].reshape(-1, 7), labels[:, 1:].reshape(-1))
    torch.testing.assert_close(told.policy, loss_lm)
    torch.testing.assert_close(told.value, loss_val)
    torch.testing.assert_close(told.loss, (loss_val + loss_lm * 9) / 10)
    assert not any(getattr(model, head).bias for head in ("lm_hidden", "lm_head", "val_hidden", "val_head"))


def test_features_and_action_values_go_beyond_the_paper() -> None:
    """Features are added to token and position by a linear map; the third head is built as the other two."""
    model = make(n_features=5, action_values=True, masked=True)
    tokens, features = torch.randint(0, 11, (3, 9)), torch.randn(3, 9, 5)
    out = model(tokens, features=features)
    inputs = model.transformer.wte(tokens) + torch.einsum("btf,fe->bte", features, model.features.weight)
    hidden = model.transformer(inputs_embeds=inputs).last_hidden_state
    torch.testing.assert_close(model.hidden_states(tokens, features), hidden)
    torch.testing.assert_close(out.logits, model.lm_head(F.gelu(model.lm_hidden(hidden))))
    torch.testing.assert_close(out.value_logits, model.val_head(F.gelu(model.val_hidden(hidden))))
    torch.testing.assert_close(out.action_values, model.act_head(F.gelu(model.act_hidden(hidden))))
    assert out.action_values.shape == (3, 9, 11)
    blind = model(tokens, features=torch.zeros_like(features)).logits
    assert not torch.allclose(blind, out.logits)
    with pytest.raises(ValueError, match="takes 5 features"):
        model(tokens)
    plain = make()
    assert plain(tokens).action_values is None
    with pytest.raises(ValueError, match="takes 0 features"):
        plain(tokens, features=features)


def test_unused_features_are_never_read(tmp_path: Path) -> None:
    """Neither a forward pass nor a training step reads them, and their weights remain 0 in a saved checkpoint."""
    model = make(n_features=5, unused_features=[1, 3]).train()
    tokens, features = torch.randint(0, 11, (3, 9)), torch.randn(3, 9, 5)
    others = features.clone()
    others[..., [1, 3]] = torch.randn(3, 9, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(3):
        losses(model(tokens, features=features), tokens, torch.tensor([1, 0, 6])).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    torch.testing.assert_close(model(tokens, features=features).logits, model(tokens, features=others).logits)
    weight = model.features.weight.detach()
    assert [row for row in range(5) if not weight[row].any()] == [1, 3]
    model.save_pretrained(tmp_path)
    loaded = GPT2PolicyValueModel.from_pretrained(tmp_path)
    assert loaded.config.unused_features == [1, 3] and torch.equal(loaded.features.weight, model.features.weight)


def test_a_config_that_is_silent_goes_not_beyond(tmp_path: Path) -> None:
    """As of models that were saved before there were features."""
    model = make()
    for name in ("n_features", "action_values", "masked"):
        delattr(model.config, name)
    model.save_pretrained(tmp_path)
    loaded = GPT2PolicyValueModel.from_pretrained(tmp_path)
    assert loaded.n_features == 0
    tokens = torch.randint(0, 11, (3, 9))
    torch.testing.assert_close(loaded.eval()(tokens).logits, model(tokens).logits)
    assert loaded(tokens).action_values is None


def test_padding_counts_in_neither_loss() -> None:
    model = make()
    tokens, outcome = torch.randint(0, 11, (1, 9)), torch.tensor([3])
    short = losses(model(tokens[:, :6]), tokens[:, :6], outcome)
    labels = tokens.clone()
    labels[:, 6:] = -100
    mask = (labels != -100).long()
    padded = losses(model(tokens, attention_mask=mask), labels, outcome)
    torch.testing.assert_close(padded.loss, short.loss)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_checkpoints_round_trip(tmp_path: Path, dtype: torch.dtype) -> None:
    model = make(outcomes=2, n_features=4, action_values=True, masked=True).to(dtype)
    model.save_pretrained(tmp_path)
    loaded = GPT2PolicyValueModel.from_pretrained(tmp_path)
    assert loaded.dtype == torch.float32
    assert loaded.config.num_labels == 2
    assert (loaded.config.n_features, loaded.config.action_values, loaded.config.masked) == (4, True, True)
    assert {"features.weight", "act_hidden.weight", "act_head.weight"} < set(loaded.state_dict())
    for name, tensor in loaded.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name].float()), name


def test_paper_preset_is_table_4() -> None:
    config = presets.config("paper", 61, 75, 2237, 60)
    expected = {
        "activation_function": "gelu_new",
        "attn_pdrop": 0,
        "embd_pdrop": 0.05,
        "resid_pdrop": 0.05,
        "initializer_range": 0.02,
        "layer_norm_epsilon": 1e-5,
        "n_embd": 256,
        "n_head": 8,
        "n_inner": 1024,
        "n_layer": 8,
        "num_labels": 2237,
        "eos_token_id": 60,
        "bos_token_id": None,
    }
    assert {key: getattr(config, key) for key in expected} == expected


def test_unknown_preset() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown preset 'huge'; choose from: .*small"):
        presets.config("huge", 1, 1, 1, 0)
