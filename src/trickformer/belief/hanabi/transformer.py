"""A transformer in the place of the Seq2Seq encoder: GPT-2 reads what was seen as tokens, the same decoder writes the
hidden cards.

The summary of a history is what the last layer says at the last token of it. Attention is causal, so one pass over a
whole game gives the summaries of all its positions."""

from __future__ import annotations

import numpy as np
import torch

from trickformer.belief.hanabi.learned import Decoder, GameSequences, Seq2SeqSizes

_SCALE = 0.05  # of the embeddings at the start


class Transformer(Decoder):
    """Encoder and decoder; `encoder.*` and `decoder.*` name their parameters, those of the encoder as GPT2Model does.

    tokens, positions: what makes those of the sequences alike, float32 [V, F] and [L, G]; their embeddings start
    alike, without which hundreds of gradient steps go by before it looks back. No unit is dropped: no game is seen
    twice."""

    def __init__(self, shape: Seq2SeqSizes, tokens: np.ndarray, positions: np.ndarray, heads: int):
        super().__init__(shape, {})
        from transformers import GPT2Model

        from trickformer.models import presets, structure

        size = presets.Preset(shape.layers, shape.hidden, heads, 4 * shape.hidden)
        config = presets.of_size(size, len(tokens), len(positions), n_outcomes=1, eos=len(tokens) - 1)
        config.embd_pdrop = config.resid_pdrop = 0.0
        self.encoder = GPT2Model(config)
        structure.embed(self.encoder.wte.weight, tokens, _SCALE)
        structure.embed(self.encoder.wpe.weight, positions, _SCALE)

    def weights(self) -> dict[str, torch.Tensor]:
        """The parameters by name."""
        return super().weights() | {f"encoder.{name}": w for name, w in self.encoder.named_parameters()}

    def read(self, tokens: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """float32 [..., n, hidden]: the summary up to and with token `ends`, int64 [..., n], of each sequence, int64
        [n, L]; what stands after it does not matter."""
        hidden = self.encoder(tokens, use_cache=False).last_hidden_state
        return hidden[torch.arange(len(tokens), device=ends.device), ends]

    def summaries(self, games: GameSequences) -> torch.Tensor:
        """float32 [T, n, hidden]: the summary at every position."""
        return self.read(games.tokens, games.ends)
