"""Command line: `trickformer ...`. Commands import their modules when they run."""

from __future__ import annotations

import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

import trickformer
from trickformer.audit.views import Audit
from trickformer.base import Game, TrickformerError
from trickformer.engines.config import Conformance
from trickformer.plumbing import config as configs
from trickformer.plumbing import terminal, words
from trickformer.plumbing.folder import RESULT, Interruption, TimeLimit
from trickformer.plumbing.text import to_json
from trickformer.review.commands import app as records
from trickformer.selfplay.config import SelfPlay, check_names, effective_defaults
from trickformer.selfplay.head_config import HeadTraining
from trickformer.studies.belief.commands import app as belief
from trickformer.studies.crew.commands import app as crew
from trickformer.studies.mines.commands import app as mines
from trickformer.studies.obl.commands import app as obl
from trickformer.studies.skat.commands import app as skat
from trickformer.tournaments.plan import Tournament
from trickformer.web.config import Play, PuzzleSettings, ViewSettings

app = typer.Typer(
    help="Play, train, search and compare players of card games of imperfect information.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.add_typer(records, name="records")
app.add_typer(crew, name="crew")
app.add_typer(belief, name="belief")
app.add_typer(mines, name="mines")
app.add_typer(skat, name="skat")
app.add_typer(obl, name="obl")

_JOINED = ("--seconds", "--simulations", "--beliefs")  # options whose values `words.spread` joins with commas
DEBUG = "--debug"


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"trickformer {trickformer.__version__}")
        raise typer.Exit


@app.callback(epilog="Example: trickformer tournament hearts --a gomcts --b pimc --deals 100")
def _main(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show the traceback of an error.")] = False,
) -> None:
    from trickformer import _core

    try:
        _core.isa()
    except ValueError as e:  # TRICKFORMER_ISA is bad: fail before a command writes its run folder
        raise TrickformerError(str(e)) from None


@configs.command(
    app,
    Tournament,
    positional="game",
    example="trickformer tournament hearts --a gomcts --b pimc --deals 100",
)
def tournament(
    *, config: configs.File = None, resume: configs.Resume = False, as_json: configs.Json = False, **options: Any
) -> None:
    """Play the same deals in every seating of the players, and report the differences between them."""
    settings = configs.load(Tournament, config, options, resume)
    from trickformer.tournaments import report, results, run

    match = results.TournamentResults(run.tournament(settings, resume))
    report.make_report(match).publish(as_json, settings.out, RESULT)
    for warning in report.warnings(match.result()):
        terminal.say(warning)


@configs.command(
    app,
    SelfPlay,
    positional="game",
    defaults=effective_defaults,
    example="trickformer train hearts --preset tiny --out out/tiny",
)
def train(*, config: configs.File = None, resume: configs.Resume = False, **options: Any) -> None:
    """Train a game's model from scratch by population self-play."""
    settings = configs.load(SelfPlay, config, options, resume)
    check_names(settings)  # before torch is imported, which takes seconds
    from accelerate import PartialState

    from trickformer.selfplay import nfsp

    folder = nfsp.run(settings, resume)
    if PartialState().is_main_process:
        print(folder)


@configs.command(
    belief,
    HeadTraining,
    positional="game",
    example="trickformer belief head skat --checkpoint skat-small --out out/head",
)
def head(
    *, config: configs.File = None, resume: configs.Resume = False, as_json: configs.Json = False, **options: Any
) -> None:
    """Train and evaluate a belief head on a checkpoint of Hearts, Skat or The Crew, for `pimc:belief=FOLDER`."""
    settings = configs.load(HeadTraining, config, options, resume)
    from trickformer.selfplay import belief_heads

    belief_heads.make_report(belief_heads.command(settings, resume)).print(as_json)


@configs.command(app, Audit, positional="game", example="trickformer audit hearts --deals 20")
def audit(*, config: configs.File = None, as_json: configs.Json = False, **options: Any) -> None:
    """Audit a game: hidden information in views, sampled worlds, tokens and trackers. Exit code 1 if a check fails."""
    settings = configs.load(Audit, config, options)
    from trickformer.audit import views as audits

    report = audits.command(settings)
    print(to_json(report.result()) if as_json else report)
    raise typer.Exit(0 if report.good else 1)


@app.command(name="report", epilog="Example: trickformer report out/match")
def report_command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of `trickformer tournament` or `trickformer train`.")
    ],
    as_json: configs.Json = False,
) -> None:
    """Rewrite and print the report of a run folder, at any time: running, interrupted or finished."""
    from trickformer.selfplay.results import TrainingResults, holds_training

    if holds_training(folder):
        from trickformer.selfplay import report as training

        training_results = TrainingResults.load(folder)
        training.write_missing_pointers(training_results)
        training.make_report(training_results).publish(as_json, folder, RESULT, must_write=False)
        return
    from trickformer.tournaments import report, results, run

    try:
        tournament_run = run.load(folder)
    except configs.ForeignRunError:
        from trickformer.plumbing.report import REPORT

        where = f"its report is {folder / REPORT}" if (folder / REPORT).is_file() else "it has no report"
        raise TrickformerError(
            f"{folder} is not a run of `trickformer tournament` or `trickformer train`; {where}"
        ) from None
    try:
        tournament_results = results.TournamentResults(tournament_run)
    except results.NoFinishedDealError:
        report.make_progress_report(tournament_run).print(as_json)
        return
    report.make_report(tournament_results).publish(as_json, folder, RESULT, must_write=False)


@app.command(epilog="Example: trickformer players gomcts --game skat")
def players(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Player whose options to list.")] = None,
    game: Annotated[str | None, typer.Option(help="Game whose players or defaults to show, such as skat.")] = None,
    as_json: configs.Json = False,
) -> None:
    """List the players, or the options of one. A player is named by a spec: name:option=value,option=value."""
    from trickformer import players as registry

    loaded: Game | None = None
    if game is not None:
        from trickformer import games

        loaded = games.load(game)
    chosen = (name,) if name is not None else registry.names(loaded and loaded.name)
    if name is None and not as_json:
        terminal.out(registry.summarize(chosen))
        print()
        print("any: every game. argmax, gomcts and imitation need a model of the game.")
        print("A spec names a player with its options, such as pimc:worlds=20.")
        print("A value with commas stands in double quotes, and the spec then in single ones:")
        print("'rollout:policy=\"pimc:worlds=3,runs=2\"'")
        print("trickformer players NAME lists the options of a player.")
        return
    rows: list[dict[str, Any]] = []
    for each in chosen:
        try:
            rows.append(_player(each, loaded))
        except TrickformerError as e:
            # A broken module of another package, or a player without a model of the game, must not hide the others.
            if name is not None or (loaded is None and each in registry.NAMES):
                raise
            rows.append({"name": each, "fault": str(e)})
    if as_json:
        print(to_json({"players": rows}))
        return
    for player in rows:
        print(f"{player['name']}: {player['about']}")
        for key, option in player["options"].items():
            default = "none" if option["default"] in (None, "") else registry.text(option["default"])
            print(f"    {key}={default}  {option['help']}".rstrip())
        if game is None and any(option["default"] is None for option in player["options"].values()):
            print("none: not set, so the default in the text holds. --game GAME shows that game's defaults.")
        for preset, by_game in player["presets"].items():
            for its_game, values in by_game.items():
                settings = ",".join(f"{key}={registry.text(value)}" for key, value in values.items())
                print(f"preset={preset} in {its_game}: {settings}")


def _player(name: str, game: Game | None) -> dict[str, Any]:
    """Describe a player and its options, with the defaults of a game if one is given."""
    from trickformer import players as registry

    fields = registry.options_of(name).model_fields
    if game is None:
        values = registry.options_of(name)().model_dump(mode="json")
    else:
        registry.check_game(name, game)
        values = registry.possible_options(name, game)
    options = {key: {"default": value, "help": fields[key].description or ""} for key, value in values.items()}
    about = registry.describe(name)
    result = {"name": name, "about": about, "games": registry.games_of(name), "options": options}
    return result | {"presets": registry.presets_of(name)}


@app.command(name="games", epilog="Example: trickformer games --json")
def list_games(as_json: configs.Json = False) -> None:
    """List the games: number of seats, shipped checkpoint, scripted player and OpenSpiel's game string."""
    from trickformer import checkpoints, games
    from trickformer.plumbing import plugins

    rows: list[dict[str, Any]] = []
    faults: list[dict[str, Any]] = []
    seats: list[str] = []  # possible numbers of seats of each game
    for name in (*games.NAMES, *plugins.names(plugins.GAMES)):
        try:
            game = games.load(name)
        except TrickformerError as e:  # a broken module of another package must not hide the other games
            faults.append({"name": name, "fault": str(e)})
            continue
        row = {
            "name": name,
            "seats": game.players,
            "checkpoint": checkpoints.default_name(game),
            "script": game.baseline,
        }
        rows.append(row | {"higher_is_better": game.higher_is_better, "openspiel": str(game.spiel)})
        kind = game.spiel.get_type()
        fewest, most = kind.min_num_players, kind.max_num_players
        is_range = fewest < most and name in games.NAMES  # a loader of another package may refuse a number of seats
        seats.append(f"{fewest} to {most}" if is_range else str(game.players))
    if as_json:
        print(to_json({"games": rows + faults}))
        return
    width = max(8, *(len(row["name"]) for row in rows))
    print(f"{'game':<{width}} {'seats':<6} {'checkpoint':<12} {'script':<8} OpenSpiel's game string")
    for row, number in zip(rows, seats, strict=True):
        cells = f"{row['name']:<{width}} {number:<6} {row['checkpoint'] or 'none':<12} {row['script']:<8}"
        print(f"{cells} {row['openspiel']}")
    for row in faults:
        print(f"{row['name']:<{width}} {row['fault']}")
    print()
    print("game: name to write. Options stand in brackets: 'crew(mission=7)' is mission 7")
    print("(mission=0: each deal draws one), and 'hanabi(players=3)' has 3 seats, not 2.")
    print("checkpoint: shipped model, the default of players that need one.")
    print("script: scripted player that models are compared with in training.")


@app.command(name="checkpoints", epilog="Example: trickformer checkpoints")
def list_checkpoints(as_json: configs.Json = False) -> None:
    """List the shipped checkpoints: game, size, and digest of the weights."""
    from trickformer import checkpoints
    from trickformer.models.kinds import HANABI_VALUES
    from trickformer.plumbing import digests
    from trickformer.plumbing.text import json_object

    rows: list[dict[str, Any]] = []
    for name in checkpoints.names():
        folder = checkpoints.find(name)
        weights = folder / "model.safetensors"
        config = json_object((folder / "config.json").read_text(encoding="utf-8"))
        about = config.get("about" if config.get("kind") == HANABI_VALUES else "trickformer", {})
        game = about.get("game") if isinstance(about, dict) else None
        player = "obl, rl_search" if config.get("kind") == HANABI_VALUES else "argmax, gomcts, imitation"
        row = {
            "name": name,
            "game": game,
            "players": player.split(", "),
            "bytes": weights.stat().st_size,
            "folder": str(folder),
        }
        rows.append(row | {"sha256": digests.sha256({name: weights})[name]})
    if as_json:
        print(to_json({"checkpoints": rows}))
        return
    width = max(len(row["name"]) for row in rows)
    print(f"{'checkpoint':<{width}} {'weights':<8}  {'SHA-256 of weights':<19}  {'players':<25}  game")
    for row in rows:
        print(
            f"{row['name']:<{width}} {row['bytes'] / 1e6:5.2f} MB  sha256 {row['sha256'][:12]}  "
            f"{', '.join(row['players']):<25}  {row['game'] or ''}"
        )
    print()
    print("players: players whose option checkpoint takes this model.")
    print("GAME-small: the default of GAME. GAME-paper-small: the GO-MCTS paper's way of learning, at a small size.")
    print("hanabi-obl-1, hanabi-obl-2, hanabi-obl: levels 1, 2 and 3 of off-belief learning.")


@configs.command(app, Play, positional="game", example="trickformer play hearts --opponents pimc")
def play(*, config: configs.File = None, resume: configs.Resume = False, **options: Any) -> None:
    """Play at a table in the browser, or with --text in this terminal."""
    settings = configs.load(Play, config, options, resume)
    if settings.text:
        from trickformer.web import terminal

        terminal.play(settings, resume)
        return
    _server(", or play on with --text").play(settings, resume)


@configs.command(app, ViewSettings, positional="run", example="trickformer view out/match --analyse pimc")
def view(**options: Any) -> None:
    """Show a tournament, a training, a table or a file of games in the browser, and review its hands."""
    settings = configs.load(ViewSettings, None, options)
    _server().view(settings)


@configs.command(app, PuzzleSettings, positional="run", example="trickformer puzzle out/match --worst 10")
def puzzle(**options: Any) -> None:
    """Show recorded decisions as puzzles, in the browser or with --text in this terminal: find the best action."""
    settings = configs.load(PuzzleSettings, None, options)
    if settings.text:
        from trickformer.web import puzzle_terminal

        puzzle_terminal.solve(settings)
        return
    _server(", or use --text").puzzle(settings)


def _server(otherwise: str = "") -> Any:
    """Import the module that serves pages.

    A TrickformerError reports missing dependencies; `otherwise` ends its message with an alternative remedy.
    """
    try:
        from trickformer.web import server
    except ModuleNotFoundError as e:
        if e.name not in ("starlette", "uvicorn"):
            raise
        raise TrickformerError(
            f"a page in the browser needs {e.name}: pip install 'trickformer[web]'{otherwise}"
        ) from None
    return server


@app.command(epilog="Example: trickformer serve gomcts --game hearts")
def serve(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="Spec of the player, such as gomcts:checkpoint=hearts-small.")
    ],
    game: Annotated[str, typer.Option(help="Game of `trickformer games`, such as hearts.")],
) -> None:
    """Serve a player as an engine, by the protocol of docs/engines.md on standard input and output."""
    from trickformer import games
    from trickformer.engines import serve as served

    served.serve(spec, games.load(game))


engines = typer.Typer(help="Engines: external programs that play, by the protocol of docs/engines.md.")
app.add_typer(engines, name="engines")


@engines.command(name="list", epilog="Example: trickformer engines list")
def list_engines() -> None:
    """Print the path of engines.toml and the engines that it names."""
    from trickformer.engines import entries
    from trickformer.players.registry import is_hidden_engine

    known = entries.read()
    print(f"{entries.path()}: {len(known) or 'no'} engine{'s' * (len(known) != 1)}")
    for name, entry in known.items():
        fault = "; not usable, because a player has this name; choose another name" if is_hidden_engine(name) else ""
        terminal.out(f"{name}: {entry.about or entry.command}{fault}")


@configs.command(
    engines, Conformance, positional="engine", example="trickformer engines check engine:cmd=./bot --game hearts"
)
def check(*, config: configs.File = None, as_json: configs.Json = False, **options: Any) -> None:
    """Check that an engine follows the protocol and its own description. Exit code 1 if a check fails."""
    settings = configs.load(Conformance, config, options)
    from trickformer.engines import conformance

    checks = conformance.check(settings)
    conformance.make_report(settings.engine, checks).print(as_json)
    raise typer.Exit(int(any(c.good is False for c in checks)))


def spread(command: Any, arguments: list[str]) -> list[str]:
    """Rewrite a command line so that options that are lists may take several words.

    Args:
        command: The program, as `typer.main.get_command` makes it.
        arguments: Words without the program's name.
    """
    return words.spread(arguments, words.list_options(command, arguments), _JOINED)


def main() -> None:
    """Run the command line.

    Bad input prints one line to standard error and gives exit code 2. Ctrl-C gives exit code 130, SIGTERM 143, and
    `--stop-after` 0.
    """
    interrupt_code = 130

    def end(*_: object) -> None:
        nonlocal interrupt_code
        interrupt_code = 143
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    terminal.replace_unencodable()
    debug = DEBUG in sys.argv
    try:
        typed_words = [word for word in sys.argv[1:] if word != DEBUG]
        for word in typed_words:
            if (text := word.encode("utf-8", "backslashreplace").decode()) != word:
                raise TrickformerError(f"{text} is not text in UTF-8")
        command = typer.main.get_command(app)
        arguments = spread(command, typed_words) or ["--help"]
        code = command.main(args=arguments, prog_name="trickformer", standalone_mode=False)
        if code == 130:  # typer itself has caught Ctrl-C
            _fail("interrupted", interrupt_code)
        sys.exit(code if isinstance(code, int) else 0)
    except TimeLimit as e:
        _fail(str(e), 0)
    except TrickformerError as e:
        if debug:
            traceback.print_exc()
        _fail(str(e), interrupt_code if isinstance(e, Interruption) else 2)
    except KeyboardInterrupt:
        _fail("interrupted", interrupt_code)
    except BrokenPipeError:  # the reader of the output has closed it, such as `| head`
        terminal.abandon()
        sys.exit(141)
    except MemoryError as e:
        _fail(f"there is not enough memory: {e}".removesuffix(": "), 2)
    except OSError as e:  # a full disk, a name that is too long, a missing permission
        _fail(f"{e.filename}: {e.strerror}" if e.filename else str(e.strerror or e), 2)
    except Exception as e:
        if type(e).__name__ == "OutOfMemoryError":  # torch's, of a device; this module does not import torch
            _fail(f"there is not enough memory: {str(e).splitlines()[0]}", 2)
        if not hasattr(e, "format_message"):  # only usage errors of click, which typer may bundle, have this method
            raise
        _fail(words.usage_fault(e), 2)


def _fail(message: str, code: int) -> None:
    terminal.say(f"error: {message}" if code == 2 else message)
    sys.exit(code)
