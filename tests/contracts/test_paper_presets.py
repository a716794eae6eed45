"""Every preset named `paper` against its paper: one row for each hyperparameter.

PAPER has the values that the presets share with the papers, DEVIATES those that differ, and OPEN those that the papers
do not give. The pages in docs/reproduce/ have a row for each deviation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from trickformer import games, players, tokenizers
from trickformer.belief.hanabi import config as belief
from trickformer.belief.hanabi.config import BeliefTraining, Evaluation
from trickformer.models import presets
from trickformer.models.hanabi_values import ActionValues, NetworkSizes
from trickformer.players import rl_search
from trickformer.selfplay.config import SCHEDULES, SelfPlay
from trickformer.selfplay.train import FitOptions
from trickformer.studies.mines.plan import BudgetGrid
from trickformer.studies.obl.hanabi import config as obl
from trickformer.studies.obl.hanabi import training
from trickformer.studies.obl.hanabi.config import OffBeliefTraining

PAGES = Path(__file__).parents[2] / "docs" / "reproduce"
GO, BFT, OBL, MINES = "go-mcts", "belief-fine-tuning", "off-belief-learning", "mines"
CARD_GAMES = ("hearts", "skat", "crew")


@cache
def model_config(game: str) -> dict[str, Any]:
    """The model's configuration, in the names of Tables 4 and 5 of the GO-MCTS paper.

    The rows `summary_...` of Table 4 belong to a head that the model does not have.
    """
    loaded = games.load(game)
    tokenizer = tokenizers.make(loaded)
    outcomes = len(loaded.outcomes.labels)
    config = presets.config("paper", len(tokenizer.vocab), tokenizer.n_positions, outcomes, tokenizer.eos)
    return config.to_dict() | {"n_labels": outcomes, "torch_dtype": str(config.dtype or "float32")}


@cache
def clone_bot() -> dict[str, Any]:
    config = OffBeliefTraining(preset="paper", method="clone", games_of="partner:style=smart")
    network = ActionValues(NetworkSizes.for_rules(training.rules_of("hanabi"), config.hidden, config.layers, True))
    rates = [module.p for module in network.modules() if isinstance(module, nn.Dropout)] + [network.lstm.dropout]
    return config.model_dump() | {"lstm_layers": network.lstm.num_layers, "dropout": max(rates)}


def go_mcts(game: str) -> dict[str, Any]:
    return players.presets_of("gomcts")["paper"][game]


def argmax(game: str) -> dict[str, Any]:
    return players.presets_of("argmax")["paper"][game]


SOURCES: dict[str, Callable[[], dict[str, Any]]] = {
    "obl train": lambda: OffBeliefTraining(preset="paper").model_dump() | {"n_step": OffBeliefTraining().moves},
    "obl train, self-play": lambda: {"n_step": OffBeliefTraining(preset="paper", method="vdn").moves},
    "obl train, clone": clone_bot,
    "belief train": lambda: BeliefTraining(preset="paper").model_dump(),
    "belief evaluate": lambda: Evaluation(preset="paper").model_dump(),
    "rl_search": lambda: rl_search.PRESETS["paper"],
    "xinxin": lambda: players.options_of("xinxin")().model_dump(),
    "mines table": lambda: BudgetGrid().model_dump(),
    "fit": lambda: {"warmup_steps": FitOptions().warmup_steps, "final_learning_rate": FitOptions().schedule(9, 9)},
} | {
    f"{name} {game}": (lambda make=make, game=game: make(game))
    for game in CARD_GAMES
    for name, make in (
        ("train", lambda game: SelfPlay(game=game, preset="paper").model_dump()),
        ("model", model_config),
        ("gomcts", go_mcts),
        ("argmax", argmax),
    )
}


def ours(preset: str, option: str) -> Any:
    return SOURCES[preset]()[option]


def in_card_games(preset: str, *rows: tuple[str, Any, str]) -> list[tuple[str, str, Any, str]]:
    """Rows that hold in each of the paper's three games."""
    return [(f"{preset} {game}", *row) for game in CARD_GAMES for row in rows]


# Preset, option, value of the preset and of the paper, and where the paper has it.
PAPER: list[tuple[str, str, Any, str]] = [
    ("train hearts", "bootstrap", ["random"], "GO-MCTS 6.1: random play-outs"),
    ("train hearts", "bootstrap_hands", 4_000_000, "GO-MCTS 6.1"),
    ("train hearts", "iterations", 10, "GO-MCTS 6.1"),
    ("train hearts", "sequences", 500_000, "GO-MCTS 6.1: hands of an iteration, one sequence of each"),
    ("train hearts", "seats_kept", 1, "GO-MCTS 6.1: data of the ArgmaxVal* player"),
    ("train hearts", "roles", "one", "GO-MCTS 6.1"),
    ("train hearts", "pool", 0, "GO-MCTS 6.1: any previous iteration"),
    ("train skat", "bootstrap_hands", 4_000_000, "GO-MCTS 6.2"),
    ("train skat", "iterations", 20, "GO-MCTS 6.2"),
    ("train skat", "sequences", 500_000, "GO-MCTS 6.2: as in Hearts"),
    ("train skat", "pool", 10, "GO-MCTS 6.2"),
    ("train skat", "roles", "one", "GO-MCTS 6.2: as in Hearts"),
    ("train crew", "bootstrap", ["random"], "GO-MCTS 6.3"),
    ("train crew", "bootstrap_hands", 10_000_000, "GO-MCTS 6.3"),
    ("train crew", "iterations", 10, "GO-MCTS 6.3"),
    ("train crew", "sequences", 2_000_000, "GO-MCTS 6.3: games of an iteration, one sequence of each"),
    ("train crew", "roles", "all", "GO-MCTS 6.3"),
    ("train crew", "threshold", 0.05, "GO-MCTS 6.3"),
    *in_card_games(
        "train",
        ("epochs", 3, "GO-MCTS Table 6"),
        ("bootstrap_epochs", 3, "GO-MCTS Table 6: the same training for model 0"),
        ("learning_rate", 1e-4, "GO-MCTS Table 6"),
        ("bootstrap_learning_rate", 1e-4, "GO-MCTS Table 6"),
        ("muon", 0.0, "GO-MCTS Table 6: AdamW"),
        ("policy_weight", 9.0, "GO-MCTS 5.1: 0.9 and 0.1"),
        ("action_weight", 0.0, "GO-MCTS 5.1: policy and value only"),
        ("dropout", 0.05, "GO-MCTS Table 4"),
        ("window", 1, "GO-MCTS 5.2: data of the last iteration"),
        ("value_positions", 0, "GO-MCTS 9.1: loss at all positions"),
        ("features", False, "GO-MCTS 5.1: observations only"),
        ("masked", False, "GO-MCTS 3: any token"),
        ("value_classes", False, "GO-MCTS 6.1: one outcome for each allocation of points"),
        ("structured", False, "GO-MCTS 9.1: init_weights"),
        ("noise", 0.0, "GO-MCTS 5.2"),
        ("anchor", 0.0, "GO-MCTS 5.2"),
        ("search_share", 0.0, "GO-MCTS 5: no search in learning"),
    ),
    *(
        (f"model {game}", option, value, "GO-MCTS Table 4")
        for game in CARD_GAMES
        for option, value in (
            ("activation_function", "gelu_new"),
            ("layer_norm_epsilon", 1e-5),
            ("attn_pdrop", 0),
            ("embd_pdrop", 0.05),
            ("resid_pdrop", 0.05),
            ("bos_token_id", None),
            ("n_embd", 256),
            ("n_head", 8),
            ("n_inner", 1024),
            ("n_layer", 8),
            ("initializer_range", 0.02),
            ("scale_attn_by_inverse_layer_idx", False),
            ("reorder_and_upcast_attn", False),
            ("scale_attn_weights", True),
            ("torch_dtype", "float32"),
        )
    ),
    ("model hearts", "vocab_size", 61, "GO-MCTS Table 5"),
    ("model hearts", "n_positions", 75, "GO-MCTS Table 5"),
    ("model hearts", "eos_token_id", 60, "GO-MCTS Table 5"),
    ("model crew", "n_labels", 2, "GO-MCTS Table 5"),
    ("fit", "final_learning_rate", 0.0, "GO-MCTS Table 6: linear scheduler"),
    *(
        (f"gomcts {game}", option, value, "GO-MCTS 9.3")
        for game, row in {
            "hearts": (100, 2, 0.4, 0.05),
            "skat": (100, 5, 0.3, 0.05),
            "crew": (50, 5, 0.1, 0.01),
        }.items()
        for option, value in zip(("runs", "steps", "c", "threshold"), row)
    ),
    *in_card_games(
        "gomcts",
        ("mu", 0.01, "GO-MCTS 9.3"),
        ("wave", 1, "GO-MCTS Algorithm 3"),
        ("action_values", False, "GO-MCTS Algorithm 3, Expand"),
        ("leaf_action_values", False, "GO-MCTS Algorithm 3, Backup"),
        ("rollout_action_values", False, "GO-MCTS Algorithm 3, Rollout"),
        ("temperature", 1.0, "GO-MCTS Algorithm 3, Rollout"),
    ),
    *in_card_games(
        "argmax",
        ("threshold", 0.05, "GO-MCTS 9.3"),
        ("action_values", False, "GO-MCTS equation 3"),
    ),
    ("xinxin", "runs", 2_000, "GO-MCTS 6.1"),
    ("xinxin", "worlds", 50, "GO-MCTS 6.1"),
    ("xinxin", "c", 0.4, "GO-MCTS 6.1"),
    ("belief train", "hidden", 512, "BFT A.2.3"),
    ("belief train", "layers", 2, "BFT A.2.3"),
    ("belief train", "model", "lstm", "BFT A.3"),
    ("belief evaluate", "games", 300, "BFT Table 3"),
    ("belief evaluate", "steps", 10_000, "BFT 4.1"),
    ("belief evaluate", "part", "encoder", "BFT 4.1"),
    *(
        ("belief evaluate", tuned, BeliefTraining(preset="paper").model_dump()[trained], "BFT 4.1: as offline")
        for tuned, trained in (
            ("batch", "games"),
            ("learning_rate", "learning_rate"),
            ("clip", "clip"),
            ("fall", "fall"),
        )
    ),
    ("obl train", "tables", 80 * 80, "OBL B.1: 80 threads of 80 environments"),
    ("obl train", "burn_in", 10_000, "OBL Table 2"),
    ("obl train", "buffer", 100_000, "OBL Table 2"),
    ("obl train", "priority_exponent", 0.9, "OBL Table 2"),
    ("obl train", "priority_weight", 0.6, "OBL Table 2"),
    ("obl train", "learning_rate", 6.25e-5, "OBL Table 2"),
    ("obl train", "fall", 1.0, "OBL Table 2: one rate"),
    ("obl train", "adam_epsilon", 1.5e-5, "OBL Table 2"),
    ("obl train", "clip", 5.0, "OBL Table 2"),
    ("obl train", "batch", 128, "OBL Table 2"),
    ("obl train", "n_step", 1, "OBL Table 2"),
    ("obl train, self-play", "n_step", 3, "OBL Table 2"),
    ("obl train", "discount", 0.999, "OBL Table 2"),
    ("obl train", "target_every", 2_500, "OBL Table 2"),
    ("obl train", "explorations", 80, "OBL Table 2"),
    ("obl train", "exploration", 0.1, "OBL Table 2"),
    ("obl train", "exploration_power", 7.0, "OBL Table 2"),
    ("obl train", "averaging", 0.0, "OBL B.1: the weights as trained"),
    ("obl train", "worlds", 1, "OBL 4: one fictitious state for a move"),
    ("obl train", "model", "lstm", "OBL 6: public LSTM"),
    ("obl train", "reuse", 4.0, "OBL 6: 4 to 5 times"),
    ("obl train", "temperature", 0.0, "OBL equation 5"),
    ("obl train", "warm", True, "OBL 6: weights of the level below"),
    ("obl train", "belief", "learned", "OBL B.2"),
    ("obl train", "belief_games", 128, "OBL B.2: as Table 2"),
    ("obl train", "belief_rate", 6.25e-5, "OBL B.2: as Table 2"),
    ("obl train", "belief_adam_epsilon", 1.5e-5, "OBL B.2: as Table 2"),
    ("obl train", "belief_clip", 5.0, "OBL B.2: as Table 2"),
    ("obl train", "belief_fall", 1.0, "OBL B.2: as Table 2"),
    ("obl train, clone", "hidden", 512, "OBL B.3"),
    ("obl train, clone", "lstm_layers", 2, "OBL B.3"),
    ("mines table", "board", "4x4", "Mines III.A"),
    ("mines table", "mines", 6, "Mines III.A"),
    ("mines table", "first_move", "no-neighbours", "Mines III"),
    ("mines table", "beliefs", "rejection,inherited", "Mines Table I"),
]

# Preset, option, our value, the paper's value, where the paper has it, and the page with a row for the deviation.
DEVIATES: list[tuple[str, str, Any, Any, str, str]] = [
    ("train skat", "bootstrap", ["random", "rules"], ["random", "XSkat"], "GO-MCTS 6.2", GO),
    ("model hearts", "n_labels", 2234, 2237, "GO-MCTS Table 5; 2234 in 6.1", GO),
    ("model skat", "vocab_size", 114, 119, "GO-MCTS Table 5", GO),
    ("model skat", "n_positions", 193, 145, "GO-MCTS Table 5", GO),
    ("model skat", "n_labels", 412, 397, "GO-MCTS Table 5", GO),
    ("model crew", "vocab_size", 217, 103, "GO-MCTS Table 5", GO),
    ("model crew", "n_positions", 194, 128, "GO-MCTS Table 5", GO),
    ("obl train, clone", "layers", 3, 1, "OBL B.3", OBL),
    ("obl train, clone", "dropout", 0.0, 0.5, "OBL B.3", OBL),
    ("mines table", "games", 200, 30, "Mines III.A", MINES),
]

# Preset, option, our value, and the source or reason of the value, which the paper does not give.
OPEN: list[tuple[str, str, Any, str]] = [
    *in_card_games(
        "train",
        ("batch_size", 256, "ours"),
        ("held_out", 5_000, "ours: the paper reports no held-out loss"),
        ("match_deals", 100, "ours: the paper plays matches at the end only"),
        ("pool_newest", True, "ours: the paper says a previous iteration"),
        ("bf16", True, "ours: Table 4 names the type of the weights only"),
        ("rounded", True, "ours: the same"),
    ),
    ("fit", "warmup_steps", 100, "ours: Table 6 names a linear scheduler only"),
    ("train hearts", "threshold", 0.05, "ArgmaxVal* of 9.3; the paper gives none for training"),
    ("train skat", "threshold", 0.05, "ArgmaxVal* of 9.3; the paper gives none for training"),
    ("train skat", "bucket", 32, "ours: order of sequences within an epoch"),
    ("train crew", "bucket", 32, "ours: order of sequences within an epoch"),
    ("train crew", "tries", 2_000, "ours: the paper repeats games until more have succeeded"),
    ("belief train", "steps", 400_000, "400 epochs (A.2.2) of 1,000 batches (train_belief.py)"),
    ("belief train", "games", 128, "train_belief.py"),
    ("belief train", "targets", 80, "train_belief.py: all positions"),
    ("belief train", "learning_rate", 1e-3, "train_belief.py; scripts/belief.sh has 6.25e-5"),
    ("belief train", "fall", 1.0, "train_belief.py"),
    ("belief train", "clip", 50.0, "train_belief.py; scripts/belief.sh has 5"),
    ("belief evaluate", "stack", 4, "ours: memory"),
    ("belief evaluate", "worlds", None, "ours: the paper does not give k; 30% of the batches"),
    ("obl train", "hidden", 512, "scripts/obl1.sh"),
    ("obl train", "layers", 3, "net.py: layers of the private part"),
    ("obl train", "steps", 1_500_000, "scripts/obl1.sh: 1,500 epochs of 1,000; the paper trains for 40 hours"),
    ("obl train", "belief_hidden", 512, "scripts/belief_obl0.sh; the architecture is that of Learned Belief Search"),
    ("obl train", "belief_layers", 2, "belief_model.py"),
    ("obl train", "belief_targets", 80, "train_belief.py: all positions"),
    ("obl train", "belief_steps", 500_000, "scripts/belief_obl0.sh: 500 epochs of 1,000"),
    ("obl train", "v0", True, "ours"),
    ("obl train", "slip", 0.0, "ours"),
    *(
        ("rl_search", option, value, "rl_search.py of off-belief-learning; BFT 4.1 refers to another paper")
        for option, value in (
            ("worlds", 5_000),
            ("horizon", 1),
            ("steps", 5_000),
            ("batch", 128),
            ("learning_rate", 6.25e-5),
            ("adam_epsilon", 1.5e-4),
            ("clip", 50.0),
            ("discount", 0.999),
            ("target_every", 2_500),
            ("exploration", 0.1),
            ("explorations", 80),
            ("exploration_power", 7.0),
        )
    ),
    ("mines table", "c", 0.5, "ours: chosen on other seeds"),
    ("mines table", "widening", 0, "ours: the paper's program widens progressively by a rule that it does not give"),
    ("mines table", "domain", "rule", "ours: the paper does not say which cells a layout may mine"),
]


@pytest.mark.parametrize(("preset", "option", "value", "where"), PAPER, ids=lambda x: str(x)[:40])
def test_preset_has_the_papers_value(preset, option, value, where):
    assert ours(preset, option) == value, where


@pytest.mark.parametrize(("preset", "option", "value", "paper", "where", "page"), DEVIATES, ids=lambda x: str(x)[:40])
def test_deviation_is_as_listed_and_documented(preset, option, value, paper, where, page):
    assert ours(preset, option) == value != paper, where
    text = (PAGES / f"{page}.md").read_text()
    row = rf"\| {re.escape(preset)} \| `{option}` \| {re.escape(shown(value))} \| {re.escape(shown(paper))} \|"
    assert re.search(row, text), f"{page}.md has no row {row}"


@pytest.mark.parametrize(("preset", "option", "value", "source"), OPEN, ids=lambda x: str(x)[:40])
def test_open_value_is_as_listed(preset, option, value, source):
    assert ours(preset, option) == value, source


def shown(value: Any) -> str:
    """A value as the pages show it."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def listed(preset: str) -> set[str]:
    return {row[1] for rows in (PAPER, DEVIATES, OPEN) for row in rows if row[0] == preset}


def test_every_value_that_a_preset_sets_is_listed():
    assert belief.PRESETS["training"]["paper"].keys() <= listed("belief train")
    assert belief.PRESETS["evaluation"]["paper"].keys() <= listed("belief evaluate")
    assert obl.PRESETS["paper"].keys() <= listed("obl train")
    assert rl_search.PRESETS["paper"].keys() == listed("rl_search")
    for game in CARD_GAMES:
        own = games.load(game).training.get("paper", {})
        assert SCHEDULES["paper"].keys() | own.keys() <= listed(f"train {game}")
        assert go_mcts(game).keys() == listed(f"gomcts {game}")
        assert argmax(game).keys() == listed(f"argmax {game}")


def test_no_row_is_listed_twice():
    rows = [(row[0], row[1]) for rows in (PAPER, DEVIATES, OPEN) for row in rows]
    assert len(set(rows)) == len(rows)


def test_no_other_preset_is_named_paper():
    """A new preset of this name must enter the tables above."""
    source = Path(players.__file__).parents[1]
    named = re.compile(r'"paper": |Literal\[[^\]]*"paper"')
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if named.search(path.read_text())}
    assert found == {
        "belief/hanabi/config.py",
        "games/crew.py",
        "games/hanabi.py",  # no paper trains these models on Hanabi
        "games/skat.py",
        "gomcts/options.py",
        "models/presets.py",
        "players/argmax.py",
        "players/rl_search.py",
        "selfplay/config.py",
        "studies/obl/hanabi/config.py",
    }
