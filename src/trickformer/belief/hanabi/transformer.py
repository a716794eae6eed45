"""Belief network with a GPT-2 encoder, which reads tokens, and the decoder of `learned`, which writes hidden cards.

The summary of a history is the last layer's output at its last token. Attention is causal, so one pass over a whole
game gives the summaries of all its positions.
"""

from __future__ import annotations

import numpy as np
import torch

from trickformer.belief.hanabi.learned import Decoder, GameSequences, Seq2SeqSizes

_SCALE = 0.05  # standard deviation of the initial embeddings


class Transformer(Decoder):
    """Encoder and decoder. Their parameters are named `encoder.*`, as in GPT2Model, and `decoder.*`.

    There is no dropout, because no game is used twice.
    """

    def __init__(self, sizes: Seq2SeqSizes, tokens: np.ndarray, positions: np.ndarray, heads: int):
        """Create the parameters with random values.

        Args:
            sizes: Sizes of the network.
            tokens: float32 [V, F], feature vectors of the tokens. Tokens with similar vectors start with similar
                embeddings, which saves hundreds of gradient steps until the network attends to earlier tokens.
            positions: float32 [L, P], feature vectors of the positions.
            heads: Number of attention heads.
        """
        super().__init__(sizes, {})
        from transformers import GPT2Model

        from trickformer.models import embeddings, presets

        size = presets.Preset(sizes.layers, sizes.hidden, heads, 4 * sizes.hidden)
        config = presets.of_size(size, len(tokens), len(positions), n_outcomes=1, eos=len(tokens) - 1)
        config.embd_pdrop = config.resid_pdrop = 0.0
        self.encoder = GPT2Model(config)
        embeddings.embed(self.encoder.wte.weight, tokens, _SCALE)
        embeddings.embed(self.encoder.wpe.weight, positions, _SCALE)

    def weights(self) -> dict[str, torch.Tensor]:
        return super().weights() | {f"encoder.{name}": w for name, w in self.encoder.named_parameters()}

    def read(self, tokens: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """Return the summary of each sequence up to one of its tokens, float32 [..., n, hidden].

        Args:
            tokens: int64 [n, L]; tokens after the end are ignored.
            ends: int64 [..., n], index of the last token of each sequence.
        """
        hidden = self.encoder(tokens, use_cache=False).last_hidden_state
        return hidden[torch.arange(len(tokens), device=ends.device), ends]

    def summaries(self, games: GameSequences) -> torch.Tensor:
        """Return the summary at every position, float32 [T, n, hidden].

        Args:
            games: Games from their first position.
        """
        return self.read(games.tokens, games.ends)
