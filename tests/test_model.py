"""The Hugging Face model: losses as the paper writes them, and checkpoints that come back as they went."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from trickformer.base import UnknownNameError
from trickformer.models import presets
from trickformer.models.gpt2 import GPT2PolicyValueModel


def make(preset: str = "tiny", outcomes: int = 7) -> GPT2PolicyValueModel:
    torch.manual_seed(0)
    return GPT2PolicyValueModel(presets.config(preset, 11, 20, outcomes, 10)).eval()


def test_forward_is_the_papers() -> None:
    model = make()
    tokens = torch.randint(0, 11, (3, 9))
    outcomes = torch.tensor([1, 0, 6])
    out = model(tokens, labels=tokens, value_labels=outcomes)
    assert out.logits.shape == (3, 9, 11)
    assert out.value_logits.shape == (3, 9, 7)

    hidden = model.transformer(tokens).last_hidden_state
    lm = model.lm_head(F.gelu(model.lm_hidden(hidden)))
    val = model.val_head(F.gelu(model.val_hidden(hidden)))
    labels = outcomes[:, None].expand(3, 9)
    loss_lm = torch.nn.CrossEntropyLoss()(lm[:, :-1].reshape(-1, 11), tokens[:, 1:].reshape(-1))
    loss_val = torch.nn.CrossEntropyLoss()(val[:, :-1].reshape(-1, 7), labels[:, 1:].reshape(-1))
    torch.testing.assert_close(out.policy_loss, loss_lm)
    torch.testing.assert_close(out.value_loss, loss_val)
    torch.testing.assert_close(out.loss, (loss_val + loss_lm * 9) / 10)
    torch.testing.assert_close(model(tokens, labels=tokens, value_labels=labels).loss, out.loss)
    assert not any(getattr(model, head).bias for head in ("lm_hidden", "lm_head", "val_hidden", "val_head"))


def test_padding_counts_in_neither_loss() -> None:
    model = make()
    tokens = torch.randint(0, 11, (1, 9))
    short = model(tokens[:, :6], labels=tokens[:, :6], value_labels=torch.tensor([3]))
    labels = tokens.clone()
    labels[:, 6:] = -100
    mask = (labels != -100).long()
    padded = model(tokens, attention_mask=mask, labels=labels, value_labels=torch.tensor([3]))
    torch.testing.assert_close(padded.loss, short.loss)
    masked = model(tokens, attention_mask=mask, labels=tokens, value_labels=torch.tensor([3]))
    torch.testing.assert_close(masked.loss, short.loss)


def test_labels_are_optional_and_checked() -> None:
    model = make()
    tokens = torch.randint(0, 11, (2, 5))
    assert model(tokens).loss is None
    assert model(tokens, labels=tokens).loss is None
    assert model(tokens, labels=tokens).policy_loss is not None
    with pytest.raises(ValueError, match=r"\[B\] or \[B, T\]"):
        model(tokens, value_labels=torch.zeros(3, dtype=torch.long))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_checkpoints_round_trip(tmp_path: Path, dtype: torch.dtype) -> None:
    model = make(outcomes=2).to(dtype)
    model.save_pretrained(tmp_path)
    loaded = GPT2PolicyValueModel.from_pretrained(tmp_path)
    assert loaded.dtype == torch.float32
    assert loaded.config.num_labels == 2
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
    with pytest.raises(UnknownNameError, match=r"unknown preset 'huge'; choose from: paper, small, tiny"):
        presets.config("huge", 1, 1, 1, 0)
