"""A transformer in the place of the Seq2Seq encoder: GPT-2 reads what was seen as tokens, the same decoder writes the
hidden cards.

The summary of a history is what the last layer says at the last token of it. Attention is causal, so one pass over a
whole game gives the summaries of all its positions."""

from __future__ import annotations

import torch

from trickformer.belief.learned import Decoder, Games, Shape


class Transformer(Decoder):
    """Encoder and decoder; `encoder.*` and `decoder.*` name their parameters, those of the encoder as GPT2Model does.

    vocabulary, length: how many tokens there are, and in the longest sequence. No unit is dropped: no game is seen
    twice."""

    def __init__(self, shape: Shape, vocabulary: int, length: int, heads: int):
        super().__init__(shape, {})
        from transformers import GPT2Model

        from trickformer.models import presets

        size = presets.Preset(shape.layers, shape.hidden, heads, 4 * shape.hidden)
        config = presets.of_size(size, vocabulary, length, n_outcomes=1, eos=vocabulary - 1)
        config.embd_pdrop = config.resid_pdrop = 0.0
        self.encoder = GPT2Model(config)

    def weights(self) -> dict[str, torch.Tensor]:
        """The parameters by name."""
        return super().weights() | {f"encoder.{name}": w for name, w in self.encoder.named_parameters()}

    def read(self, tokens: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """float32 [..., n, hidden]: the summary up to and with token `ends`, int64 [..., n], of each sequence, int64
        [n, L]; what stands after it does not matter."""
        hidden = self.encoder(tokens, use_cache=False).last_hidden_state
        return hidden[torch.arange(len(tokens)), ends]

    def summaries(self, games: Games) -> torch.Tensor:
        """float32 [T, n, hidden]: the summary at every position."""
        return self.read(games.tokens, games.ends)
