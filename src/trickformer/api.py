"""The Python API: the commands as functions. `import trickformer` gives access to them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trickformer.base import Decision, Game, Player, TrickformerError, View, decision_rng
from trickformer.plumbing.text import count_noun

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from trickformer.models.gpt2 import GPT2PolicyValueModel
    from trickformer.selfplay.dataset import SequenceDataset
    from trickformer.tournaments.results import TournamentResults
    from trickformer.tournaments.store import HandRecord


def load_game(spec: str) -> Game:
    """Load a game.

    Args:
        spec: OpenSpiel's game string, such as `hearts` or `hearts(jd_bonus=True)`.

    Raises:
        TrickformerError: There is no such game or rule option.

    >>> load_game("skat").players
    3
    """
    from trickformer import games

    return games.load(spec)


def make_player(spec: str, game: Game | str) -> Player:
    """Make a player.

    Args:
        spec: Name and options, such as `gomcts` or `pimc:worlds=20`; see `trickformer players`.
        game: Game to play, or its game string.

    Raises:
        TrickformerError: There is no such game, player or option, or the player cannot play the game.

    >>> make_player("rules", "hearts").batch
    1
    """
    from trickformer import players

    if isinstance(game, str):
        game = load_game(game)
    _require("game", game, Game)
    return players.make(spec, game)


def _game_string(game: Game | str) -> str:
    """Return a game string, from which a command loads the game again."""
    if isinstance(game, str):
        return game
    _require("game", game, Game)
    default = load_game(game.name)
    if type(default) is not type(game):
        raise TrickformerError(
            f"load_game({game.name!r}) returns no {type(game).__name__}; give a game that load_game returns"
        )
    return game.name if str(default.spiel) == str(game.spiel) else str(game.spiel)


def decide(player: Player, view: View, *, seed: int = 0, deal: int = 0, explain: bool = False) -> Decision:
    """Run a player for one decision.

    Args:
        player: The player.
        view: View of the seat that decides: `game.view(state, state.current_player())`.
        seed: Seed of the player's randomness.
        deal: Index of the deal in the series `seed`. The player then draws the same random numbers as in a tournament.
        explain: Whether to add an explanation (`Decision.thought`), if the player can make one.

    Raises:
        TrickformerError: The player reads hidden cards or breaks its contract, the seat is not on turn, or `seed` or
            `deal` is not from 0 to 2**64 - 1.

    >>> game = load_game("hearts")
    >>> state = game.deal(seed=1, index=0)
    >>> view = game.view(state, state.current_player())
    >>> decide(make_player("rules", game), view).action in view.legal
    True
    """
    from trickformer.base import decide_in_batches

    _require("player", player, Player)
    _require("view", view, View)
    for name, value in (("seed", seed), ("deal", deal)):
        if not 0 <= value < 2**64:
            raise TrickformerError(f"{name} must be from 0 to 2**64 - 1, not {value}")
    if view.viewer < 0:
        raise TrickformerError("no seat is on turn, but chance; apply the action of game.chance(state, seed, index)")
    if not view.legal:
        raise TrickformerError(f"seat {view.viewer} is not on turn; give the view of state.current_player()")
    if player.needs_state:
        raise TrickformerError(f"{type(player).__name__} reads hidden cards; it cannot decide by a view")
    rng = decision_rng(seed, deal, view.viewer, len(view.own_actions))
    return decide_in_batches(player, [view], [rng], [{"explain": True} if explain else {}])[0]


def _folder(out: Path | str | None) -> Path | None:
    """Return the path of a run folder. An empty text would be the current folder."""
    if out == "":
        raise TrickformerError("out must be the path of a folder or None, not an empty text")
    return None if out is None else Path(out)


def _require(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise TrickformerError(f"{name} must be a trickformer.base.{kind.__name__}, not {type(value).__name__}")


class Result:
    """The result of a tournament.

    Attributes:
        records: One record of each finished hand.

    `print(result)` shows the report.
    """

    def __init__(self, results: TournamentResults):
        self._results = results
        self._result = results.result()
        self.records: Sequence[HandRecord] = results.records

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the result table.

        A match of two players has a row for all seatings together, and a row for each number of seats that A holds:
        `label`, `a`, `b` (mean scores), `difference` (A - B), `low`, `high` (95% interval, None if there is none), `p`
        (p-value for no difference).
        A tournament of more players has a row for each player: `player`, `spec`, `rating`, `low`, `high`.
        """
        if "rows" in self._result:
            return [{"label": label} | _interval(row) for label, row in self._result["rows"].items()]
        return [_interval(row) for row in self._result["ratings"]]

    @property
    def difference(self) -> float:
        """Mean score of A minus mean score of B, per hand, in the game's points.

        Raises:
            ValueError: The tournament was given `players` instead of A and B.
        """
        if "rows" not in self._result:
            raise ValueError("a difference needs a match of A and B; give a and b, or read rows")
        return self.rows[0]["difference"]

    @property
    def ci95(self) -> tuple[float, float] | None:
        """95% interval of `difference`; None if there are too few deals.

        Raises:
            ValueError: The tournament was given `players` instead of A and B.
        """
        if "rows" not in self._result:
            raise ValueError("ci95 needs a match of A and B; give a and b, or read rows")
        low, high = self.rows[0]["low"], self.rows[0]["high"]
        return None if low is None or high is None else (low, high)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of `trickformer tournament --json`."""
        return self._result

    def to_pandas(self) -> pd.DataFrame:
        """Return `rows` as a table of pandas.

        Raises:
            TrickformerError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise TrickformerError("to_pandas needs pandas: pip install pandas") from None
        return pd.DataFrame(self.rows)

    def plot(self, path: Path | str | None = None) -> Figure:
        """Draw the differences.

        Args:
            path: File to write, in the format of its suffix; None writes none.

        Returns:
            The figure of matplotlib.
        """
        from trickformer.tournaments.plot import open_figure

        with open_figure(self._results) as figure:
            figure.canvas.draw()  # makes the ticks by the settings of the figure, not by those of the caller
            if path is not None:
                figure.savefig(path)
        return figure

    def __str__(self) -> str:
        from trickformer.tournaments.report import make_report

        return make_report(self._results).text()

    def __repr__(self) -> str:
        return f"<Result of {count_noun(self._result['deals'], 'deal')} of {self._result['game']}>"


def _interval(row: dict[str, Any]) -> dict[str, Any]:
    """Replace the interval of a row by `low` and `high`."""
    low, high = row["ci95"]
    return {key: value for key, value in row.items() if key != "ci95"} | {"low": low, "high": high}


def tournament(
    game: Game | str,
    a: str | Player | None = None,
    b: str | Player | None = None,
    *,
    players: Sequence[str | Player] | None = None,
    deals: int | None = None,
    seed: int | None = None,
    out: Path | str | None = None,
    resume: bool = False,
    **options: Any,
) -> Result:
    """Play the same deals in every seating of the players.

    Args:
        game: Game to play, or its game string.
        a: Spec of player A, or a Player object. An object of `make_player` stands for its spec, and any other object
            plays all hands in this process.
        b: Spec of player B, or a Player object.
        players: Specs of players instead of A and B. Every pair meets if `options` has no `gauntlet`.
        deals: Number of deals. Each deal is one sample. By default 100, or with `resume` as many as the run was set to.
        seed: Seed of the deals and of the players' randomness. By default 0, or with `resume` that of the run.
        out: Run folder for records and report.
        resume: Whether to continue the run in `out`. Options that are not given are those of the run.
        **options: Further options of `trickformer tournament`, such as `workers`, `clock` or `mixed`.

    Raises:
        TrickformerError: The options or players are not valid, or a player fails.

    >>> result = tournament("hearts", a="rules", b="random", deals=2, seed=1)
    >>> [row["label"] for row in result.rows][0], len(result.records)
    ('All', 28)
    """
    from trickformer.players.native import is_registered, register_all
    from trickformer.plumbing import config
    from trickformer.tournaments.plan import Tournament
    from trickformer.tournaments.report import play_and_report

    if isinstance(players, str):
        raise TrickformerError(f"players must be a list of specs, such as [{players!r}, 'random']")
    gauntlet = options.pop("gauntlet", None)
    specs = register_all([a, b, gauntlet, *(players or ())])
    if any(map(is_registered, specs)) and ((options.get("workers") or 1) > 1 or options.get("ray")):
        raise TrickformerError("a Player object plays in this process; leave out workers, or use native:MODULE:NAME")
    fields: dict[str, Any] = dict(zip(("a", "b", "gauntlet"), specs))
    fields["players"] = None if players is None else specs[3:]
    fields |= {
        "game": _game_string(game),
        "deals": deals,
        "seed": seed,
        "out": _folder(out),
    } | options
    settings = config.load(Tournament, None, fields, resume)
    return Result(play_and_report(settings, resume))


def load_result(folder: Path | str) -> Result:
    """Load the result of a tournament from its run folder, which may be incomplete.

    Args:
        folder: The run folder.

    Raises:
        TrickformerError: The folder holds no tournament, a broken one, or no finished deal.
    """
    from trickformer.selfplay.results import holds_training
    from trickformer.tournaments.results import TournamentResults
    from trickformer.tournaments.run import load

    if holds_training(Path(folder)):
        raise TrickformerError(
            f"{folder} holds a training, not a tournament; use trickformer.selfplay.results.TrainingResults.load"
        )

    return Result(TournamentResults(load(Path(folder))))


def train(
    game: Game | str, *, preset: str | None = None, out: Path | str | None = None, resume: bool = False, **options: Any
) -> Path:
    """Train a model of a game by population self-play.

    Args:
        game: Game to learn, or its game string.
        preset: Name of a preset: `tiny`, `small`, `paper` or `paper-small`. By default `small`, or with `resume` that
            of the run.
        out: Run folder; None for `out/GAME-PRESET`.
        resume: Whether to continue the run in `out`. Options that are not given are those of the run.
        **options: Further options of `trickformer train`, such as `iterations` or `sequences`.

    Returns:
        The folder of the last model, which `make_player("argmax:checkpoint=FOLDER", game)` and `load_model` take.

    Raises:
        TrickformerError: The options are not valid.
    """
    from trickformer.plumbing import config
    from trickformer.selfplay import nfsp
    from trickformer.selfplay.config import SelfPlay

    fields = {"game": _game_string(game), "preset": preset, "out": _folder(out)} | options
    return Path(nfsp.run(config.load(SelfPlay, None, fields, resume), resume))


def load_model(name: str | Path) -> GPT2PolicyValueModel:
    """Load a policy-value model.

    Args:
        name: Name of a shipped checkpoint, such as `hearts-small`, folder of a checkpoint, or run folder of a training.

    Raises:
        UnknownNameError: There is no such checkpoint.
        TrickformerError: It is a network of `trickformer obl`.

    >>> load_model("hearts-small").config.n_layer
    2
    """
    from trickformer import checkpoints
    from trickformer.models.gpt2 import GPT2PolicyValueModel

    folder = checkpoints.find(str(name))
    checkpoints.require_transformer(folder)
    return GPT2PolicyValueModel.from_pretrained(folder)


def load_data(path: Path | str) -> SequenceDataset:
    """Load the hands of one iteration of a training as a torch Dataset.

    Args:
        path: Folder of the data, such as `out/run/data/3`.

    Returns:
        The dataset. Its `collate` is the `collate_fn` of a DataLoader, and `to_hf` makes a dataset of Hugging Face.

    Raises:
        TrickformerError: The folder is missing, damaged or unfinished.
    """
    from trickformer.selfplay.dataset import load_data as load

    return load(path)
