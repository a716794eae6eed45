"""`trickformer records show|worst|what-if`. Commands import their modules when they run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trickformer.plumbing import config as configs
from trickformer.plumbing import terminal
from trickformer.plumbing.text import to_json
from trickformer.records.commands import File, app

if TYPE_CHECKING:
    from trickformer.base import Player
    from trickformer.records.played import AnyRecord
    from trickformer.review.hand import ReviewHand
    from trickformer.review.result import Review

_GAME = typer.Option(min=1, help="Number of the game, counted from 1.")
_REPEATS = 4  # ratings of a decision by an analyst that samples, by default
_SEED = typer.Option(min=0, max=2**63 - 1, help="Seed of all randomness.")


@app.command(epilog="Example: trickformer records show out/match --game 3 --analyse pimc")
def show(
    file: File,
    game: Annotated[int | None, typer.Option(min=1, help="Number of the game, counted from 1 (default: all).")] = None,
    analyse: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Analyst that rates each decision: solver, or a player such as pimc."),
    ] = None,
    seat: Annotated[
        list[int] | None, typer.Option(min=0, help="Seats whose decisions are rated (default: all).")
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, max=10_000, help="Number of ratings of a decision by an analyst that samples.")
    ] = _REPEATS,
    seed: Annotated[int, _SEED] = 0,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="PNG", help="New file for the plot of one game: its value, decision by decision."),
    ] = None,
    as_json: configs.Json = False,
) -> None:
    """Print games readably: players, hands, auction, tricks and result; --analyse rates the decisions."""

    from trickformer.base import TrickformerError
    from trickformer.records import show

    chosen, warning = _games(file, game)
    if plot is not None and (analyse is None or len(chosen) > 1):
        raise TrickformerError("--plot draws the review of one game; give --analyse, and --game if there are several")
    if plot is not None:
        _check_new_png(plot)
    if analyse is None and (seat is not None or repeats != _REPEATS or seed):
        raise TrickformerError("--seat, --repeats and --seed are of the rating; give --analyse, or leave them out")
    reviews = _reviews(chosen, analyse, seat, repeats, seed) if analyse is not None else {}
    if as_json:
        games = [show.data(record, n) | _data(reviews.get(n)) for n, record in chosen]
        print(to_json({"games": games}))
    else:
        console = terminal.console()
        for n, record in chosen:
            show.print_game(record, n, console)
            if n in reviews:
                from trickformer.review.text import print_review

                print_review(reviews[n], console)
    if plot is not None:
        from trickformer.review.plot import plot as draw

        draw(reviews[chosen[0][0]], plot)
    if warning:
        terminal.warn(warning)


def _check_new_png(path: Path) -> None:
    """Raise TrickformerError if a plot cannot have this path."""
    from trickformer.base import TrickformerError

    if path.suffix.lower() != ".png":
        raise TrickformerError(f"--plot {path}: a plot is a PNG; give a name that ends in .png")
    if path.exists():
        raise TrickformerError(f"--plot {path} exists; give a new file")
    if not path.parent.is_dir():
        raise TrickformerError(f"--plot {path}: there is no folder {path.parent}")


@app.command(epilog="Example: trickformer records worst out/match")
def worst(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Run folder of a tournament, or its records.jsonl.")],
    most: Annotated[int, typer.Option(min=1, help="Number of deals.")] = 10,
    a: Annotated[int, typer.Option("--a", min=1, help="Number of the player A, counted from 1.")] = 1,
    b: Annotated[int, typer.Option("--b", min=1, help="Number of the player B, counted from 1.")] = 2,
    as_json: configs.Json = False,
) -> None:
    """List the deals of a tournament that cost A most, one line each, with the record of the worst hand."""
    from trickformer.review import worst as worsts

    table = worsts.worst(folder, most, (a - 1, b - 1))
    terminal.out(to_json(table.data()) if as_json else worsts.text(table))


@app.command(epilog="Example: trickformer records what-if out/match --game 3 --at 5 --players pimc")
def what_if(
    file: File,
    at: Annotated[int, typer.Option(min=1, help="Number of the decision, as `show --analyse` counts them.")],
    players: Annotated[list[str], typer.Option(metavar="SPEC", help="Player of all seats, or one for each seat.")],
    game: Annotated[int, _GAME] = 1,
    action: Annotated[
        str | None, typer.Option(help="First action, such as a card (default: the player's own).")
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, max=1_000_000, help="Number of games.")] = 100,
    seed: Annotated[int, _SEED] = 0,
    as_json: configs.Json = False,
) -> None:
    """Play the rest of a hand again from one of its decisions, with the cards as they were dealt."""

    from trickformer.plumbing.progress import progress
    from trickformer.review.text import print_what_if
    from trickformer.review.what_if import what_if as play

    games, _ = _games(file, game)
    number, record = games[0]
    result = play(_hand(record, number), at, players, n=n, seed=seed, action=action, show=progress)
    if as_json:
        print(to_json(result.model_dump(mode="json")))
    else:
        print_what_if(result, terminal.console())


def _games(file: Path, game: int | None) -> tuple[list[tuple[int, AnyRecord]], str]:
    """Read the games of a file or of a run folder.

    Args:
        file: File of games, folder of a run, or `-`.
        game: Number of the only game to read, counted from 1.

    Returns:
        The games with their numbers, and a line about games that are left out: a torn last one, and those by house
        rules; an empty line if there are none.

    Raises:
        TrickformerError: There is no such game, or it cannot be read.
    """
    from trickformer.base import TrickformerError
    from trickformer.records import files
    from trickformer.records.skat.record import UnreadableGame

    path = files.place(file)
    if game is not None:
        with files.GameFile(path) as every:
            record = every.get(game)
        if isinstance(record, UnreadableGame):
            raise TrickformerError(f"{path}, {record.why}")
        return [(game, record)], ""
    readable: list[tuple[int, AnyRecord]] = []
    unread: list[UnreadableGame] = []
    for number, record in enumerate(files.games(path), 1):
        if not isinstance(record, UnreadableGame):
            readable.append((number, record))
        elif record.torn or record.house_rule:
            unread.append(record)
        else:
            raise TrickformerError(f"{path}, {record.why}")
    if not readable:
        raise TrickformerError(
            f"{path}, {unread[0].why}" if unread else f"{path} holds no games; give a run folder or a file of games"
        )
    faults = [f"game {record.game} is cut off and not shown" for record in unread if record.torn]
    rules = Counter(record.house_rule for record in unread if record.house_rule)
    if rules:
        kinds = ", ".join(f"{rule} {n}" for rule, n in sorted(rules.items()))
        faults.append(f"games by house rules are not shown ({kinds})")
    return readable, f"{path}: {'; '.join(faults)}" if faults else ""


def _hand(record: AnyRecord, number: int) -> ReviewHand:
    """Make the hand of a record; a TrickformerError about an illegal move names the game by its number."""
    from trickformer.base import TrickformerError
    from trickformer.review import hand

    try:
        return hand.of_record(record)
    except TrickformerError as e:
        raise TrickformerError(f"game {number}: {e}") from None


def _reviews(
    numbered: list[tuple[int, AnyRecord]], spec: str, seats: list[int] | None, repeats: int, seed: int
) -> dict[int, Review]:
    """Review each game, by its number. Hands of the same game share an analyst."""
    from trickformer.plumbing.progress import progress
    from trickformer.review import analyst

    hands = {number: _hand(record, number) for number, record in numbered}
    made: dict[str, Player | None] = {}
    reviews = {}
    for number, hand in hands.items():
        rules = str(hand.game.spiel)
        if rules not in made:
            made[rules] = analyst.make(spec, hand.game)
        player = made[rules]
        reviews[number] = analyst.review(
            hand, spec, player=player, repeats=repeats, seed=seed, seats=seats, show=progress
        )
    return reviews


def _data(review: Review | None) -> dict[str, Any]:
    """Return the review for `--json`, with the numbers of the decisions that are mistakes, the greatest loss first."""
    if review is None:
        return {}
    return {"review": review.model_dump(mode="json") | {"mistakes": [r.number for r in review.mistakes]}}
