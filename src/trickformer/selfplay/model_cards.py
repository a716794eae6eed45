"""Model cards: the header that the Hugging Face Hub reads, measurements, and a snippet that loads the model."""

from __future__ import annotations

from trickformer.base import game_name
from trickformer.plumbing.folder import build
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.schedule import describe_players


def header(game: str) -> str:
    """Write the YAML header of a model card.

    Args:
        game: Game string of OpenSpiel.
    """
    tags = ["trickformer", game_name(game), "card-games", "imperfect-information", "open_spiel"]
    lines = ["license: apache-2.0", "library_name: trickformer", "pipeline_tag: reinforcement-learning", "tags:"]
    return "\n".join(["---", *lines, *(f"- {tag}" for tag in tags), "---", ""])


def snippet(checkpoint: str, game: str, features: bool, masked: bool) -> str:
    """Write Python that loads a model and prints the likeliest token and outcome at the first decision of a deal.

    Args:
        checkpoint: Name or folder of the checkpoint.
        game: Game string of OpenSpiel.
        features: Whether the model reads features.
        masked: Whether its policy gives only possible tokens a probability.
    """
    features_argument = ", features=torch.from_numpy(features)" if features else ""
    masking = ".masked_fill(~torch.from_numpy(possible[0, -1]), -torch.inf)" if masked else ""
    follow_lines = ["features, possible = tokenizers.follow(tokenizer, tokens[None], possible=True)"]
    return "\n".join(
        [
            "```python",
            "import torch",
            "",
            "from trickformer import games, tokenizers",
            "from trickformer.models.gpt2 import GPT2PolicyValueModel",
            "",
            f'game = games.load("{game}")',
            "tokenizer = tokenizers.make(game)",
            f'model = GPT2PolicyValueModel.from_pretrained("{checkpoint}").eval()',
            "state = game.deal(seed=1, index=0)",
            "tokens = tokenizer.encode(game.view(state, state.current_player()))  # int32 [T]",
            *(follow_lines if features or masked else []),
            "with torch.no_grad():",
            f"    out = model(torch.from_numpy(tokens[None]).long(){features_argument})",
            f"policy = out.logits[0, -1]{masking}.softmax(-1)",
            "outcome = int(out.value_logits[0, -1].argmax())",
            "print(tokenizer.vocab[int(policy.argmax())], model.config.id2label[outcome])",
            "```",
            "",
        ]
    )


def model_card(config: SelfPlay, iteration: int, sequences: int, measured: dict[str, float]) -> str:
    """Write the model card of an iteration's model.

    Args:
        config: Config of the run.
        iteration: The iteration.
        sequences: Number of training sequences in each epoch.
        measured: Measurements on held-out hands, by name.
    """
    lines = [
        f"# {config.game}, preset {config.preset}, iteration {iteration}",
        "",
        f"GPT2PolicyValueModel, trained by `trickformer train` with seed {config.seed} on {sequences:,} sequences in "
        f"each epoch. Players of the hands: {describe_players(config, iteration)}. Initial weights: "
        + (f"model {iteration - 1}." if iteration else f"{config.start or 'random'}."),
        "",
        "| on held-out hands | |",
        "|---|---|",
        *(f"| {key.replace('_', ' ')} | {value:.4f} |" for key, value in measured.items()),
        "",
        "| built with | |",
        "|---|---|",
        *(f"| {key} | {value} |" for key, value in build().items()),
        "",
        "Run this code in the folder of this card:",
        "",
    ]
    code = snippet(".", config.game, config.features, config.masked)
    return header(config.game) + "\n" + "\n".join(lines) + "\n" + code
