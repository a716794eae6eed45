"""Work of the page that reviews hands: lists hands, shows them, rates their decisions, and plays on from a position.

A Desk runs in a worker process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from trickformer import games
from trickformer.base import CHANCE, Game, TrickformerError
from trickformer.plumbing.progress import Advance, Show
from trickformer.records import files
from trickformer.records.show import in_words
from trickformer.records.skat import check, replay
from trickformer.records.skat.record import SkatRecord, UnreadableGame
from trickformer.review import analyst, text, worst
from trickformer.review.hand import ReviewHand, of_record
from trickformer.review.rating import seats_share_score
from trickformer.review.result import DecisionRating, Review
from trickformer.review.what_if import what_if
from trickformer.web import scenes
from trickformer.web.offers import analysts, list_players, short
from trickformer.web.scenes import OPEN

if TYPE_CHECKING:
    from trickformer.base import State

PAGE = 100  # hands on a page of the list
MOST_DEALS = 1_000  # deals of a tournament that are listed at most; every hand can be opened by its number
_REPORT_INTERVAL = 0.1  # seconds between two reports of progress

# Losses from which a mistake has a worse grade, in units of v(o).
MISTAKE = 0.04
BLUNDER = 0.1
Grade = Literal["inaccuracy", "mistake", "blunder"]

# Function of (name of the work, unit, number of units done, total), which sends the progress to the page.
ReportProgress = Callable[[tuple[str, str, int, int]], None]


@dataclass(frozen=True, slots=True)
class FinishedHand:
    """Finished hand of a table."""

    rules: str  # game string
    names: tuple[str, ...]  # by seat
    history: tuple[int, ...]  # all actions, chance included
    source: tuple[int, int]  # seed and number of the deal


class Desk:
    """Hands of one path, or of a table. A request about a hand of a table holds the hand itself."""

    def __init__(self, path: Path | None, analyse: str | None, extra_specs: Sequence[str], repeats: int, seed: int):
        """Open a path.

        Args:
            path: Run folder or file of games; None for hands of a table.
            analyse: Spec of the analyst that comes first, or None.
            extra_specs: Specs of players besides the package's own.
            repeats: Number of times that an analyst rates a decision.
            seed: Seed of all randomness.
        """
        self._path = path
        self._analyse = analyse
        self._extra_specs = tuple(extra_specs)
        self._repeats, self._seed = repeats, seed
        self._games = files.GameFile(files.place(path)) if path is not None else None

    def close(self) -> None:
        """Close the file of games."""
        if self._games is not None:
            self._games.close()

    def list_hands(self, page: int = 0) -> dict[str, Any]:
        """List a page of the hands that the path holds. A tournament's worst deals for A come first.

        Args:
            page: Number of the page, from 0.

        Returns:
            The rows, a note on their order, the number of pages, and the number of hands that no page lists (`more`).

        Raises:
            TrickformerError: The games cannot be read, or there is no such page.
        """
        assert self._path is not None and self._games is not None
        hands, note = self._ranking
        count = len(self._games) if hands is None else len(hands)
        pages = max(1, -(-count // PAGE))
        if page >= pages:
            raise TrickformerError(f"there is no page {page + 1} of hands: the last is {pages}")
        shown = range(count)[page * PAGE : (page + 1) * PAGE]
        rows = [self._row(at + 1) if hands is None else _row_of_match(*hands[at]) for at in shown]
        left_out = len(self._games) - count
        return {"name": self._path.name, "rows": rows, "note": note, "page": page, "pages": pages, "more": left_out}

    @cached_property
    def _ranking(self) -> tuple[list[tuple[worst.Deal, worst.WorstHand]] | None, str]:
        """Return a tournament's hands, the worst deals for A first (None for other files), and a note on the order."""
        assert self._path is not None
        try:
            table = worst.worst(self._path, MOST_DEALS)
        except TrickformerError:  # it is a file, the folder of a table, or a tournament without a pair
            return None, "in the order of the file"
        better = "higher" if table.higher_is_better else "lower"
        note = f"A: {table.a} · B: {table.b} · worst deals of A first; score a hand, {better} is better"
        return [(deal, hand) for deal in table.deals for hand in deal.games], note

    def _row(self, number: int) -> dict[str, Any]:
        """Return the row of a game of the file."""
        assert self._games is not None
        record = self._games.get(number)
        row = {"number": number, "deal": "", "who": "", "result": "", "difference": ""}
        if isinstance(record, UnreadableGame):
            return row | {"result": record.why}
        row["who"] = ", ".join(map(short, record.names))
        if isinstance(record, SkatRecord):
            row["deal"] = record.tags.get("CO", "").removeprefix("deal ")
            row["result"] = " ".join((check.result(replay.replay(record)) or "").split()[:3])
        else:
            row["deal"] = record.tags.get("deal", "")
            row["result"] = " ".join(map(str, record.scores))
        return row

    def open_hand(self, hand_id: int | FinishedHand) -> dict[str, Any]:
        """Describe a hand at each decision and at its end with open cards, and list its analysts and players.

        Args:
            hand_id: Number of the hand in the file, from 1, or a hand of a table.

        Raises:
            TrickformerError: There is no such hand, or a move is not legal.
        """
        hand = self._hand(hand_id)
        game, end = hand.game, hand.end()
        positions = [
            _scene(game, state)
            | {
                "number": turn.number,
                "seat": turn.seat,
                "trick": turn.trick,
                "action": turn.action,
                "words": game.words(turn.action),
            }
            for turn, state in hand.turns()
        ]
        first, chosen = self._analysts(game), self._players(game)
        other = chosen.index(game.baseline) if game.baseline in chosen else 0
        return {
            "game": game.name,
            "deal": hand.source[1] if hand.source is not None else None,
            "names": [short(name) for name in hand.names],
            "positions": positions,
            "end": _scene(game, end),
            "over": end.is_terminal(),
            "scores": list(game.scores(end)) if end.is_terminal() else None,
            "shared": seats_share_score(game),
            "told": in_words(game, end) if end.is_terminal() else "",
            "notes": list(hand.notes),
            "analysts": [short(spec) for spec in first],
            "players": [short(spec) for spec in chosen],
            # Places on the list of players that are selected at first: the players of the hand.
            "sat": [chosen.index(name) if name in chosen else other for name in hand.names],
        }

    def rate_hand(self, hand_id: int | FinishedHand, chosen: int, report: ReportProgress) -> dict[str, Any]:
        """Review a hand.

        Args:
            hand_id: As in `open_hand`.
            chosen: Place of the analyst on the hand's list, from 0.
            report: Receives the progress.

        Raises:
            TrickformerError: There is no such hand or analyst, or `analyst.review` raises it.
        """
        hand = self._hand(hand_id)
        spec = _pick(self._analysts(hand.game), chosen)
        review: Review = analyst.review(
            hand, spec, repeats=self._repeats, seed=self._seed, show=_throttle_progress(report)
        )
        return {
            "analyst": short(review.analyst),
            "unit": review.unit,
            "notes": list(review.notes),
            "ratings": [
                {
                    "number": r.number,
                    "loss": r.loss,
                    "error": r.error,
                    "grade": grade(r, 1.0 if review.unit == analyst.VISITS else hand.game.worth[0]),
                    "actions": [[a.words, a.value, a.action == r.action] for a in r.actions],
                }
                for r in review.ratings
            ],
            "curves": [
                {
                    "who": text.name_seats(curve),
                    "points": [[point.number, point.value] for point in curve.points],
                    "result": curve.result,
                }
                for curve in review.curves
            ],
            "mistakes": [{"number": r.number, "words": text.describe_mistake(r)} for r in review.mistakes],
            "answers": [
                {
                    "lines": text.describe_verdict(verdict, review.unit),
                    "went": verdict.went.number if verdict.went else None,
                }
                for verdict in review.answers
            ],
        }

    def play_what_if(
        self,
        hand_id: int | FinishedHand,
        at: int,
        seats: Sequence[int],
        action: int | None,
        n: int,
        report: ReportProgress,
    ) -> dict[str, Any]:
        """Play games from a position.

        Args:
            hand_id: As in `open_hand`.
            at: Number of the decision before which the games begin, from 1.
            seats: Place of each seat's player on the hand's list, from 0.
            action: First action; None lets the player decide.
            n: Number of games.
            report: Receives the progress.

        Raises:
            TrickformerError: There is no such hand or player, or `what_if` raises it.
        """
        hand = self._hand(hand_id)
        chosen = self._players(hand.game)
        specs = [_pick(chosen, seat) for seat in seats]
        words = None
        if action is not None:
            if action not in hand.at(at)[0].legal:
                raise TrickformerError("that action is not legal there")
            words = hand.game.words(action)
        result = what_if(hand, at, specs, n=n, seed=self._seed, action=words, show=_throttle_progress(report))
        return result.model_dump(mode="json", exclude={"scores"}) | {
            "players": [short(s) for s in result.players],
            "unit": text.score_unit(result.rules),
        }

    def _analysts(self, game: Game) -> tuple[str, ...]:
        return analysts(game, self._analyse, self._extra_specs)

    def _players(self, game: Game) -> tuple[str, ...]:
        return list_players(game, [*self._extra_specs, *([game.baseline] if game.players == 1 else [])])

    def _hand(self, hand_id: int | FinishedHand) -> ReviewHand:
        if isinstance(hand_id, FinishedHand):
            return ReviewHand(
                games.load(hand_id.rules),
                hand_id.names,
                hand_id.history,
                source=hand_id.source,
            )
        assert self._games is not None
        record = self._games.get(hand_id)
        if isinstance(record, UnreadableGame):
            raise TrickformerError(f"{self._path}, {record.why}")
        return of_record(record)


def grade(rating: DecisionRating, worth: float) -> Grade | None:
    """Grade a mistake by its loss.

    Args:
        rating: Rating of a decision.
        worth: Size of one unit of v(o) in the unit of the rating.

    Returns:
        The grade; None if the decision is no mistake.
    """
    if not rating.mistake:
        return None
    share = (rating.loss or 0.0) / worth
    return "blunder" if share >= BLUNDER else "mistake" if share >= MISTAKE else "inaccuracy"


def _row_of_match(deal: worst.Deal, hand: worst.WorstHand) -> dict[str, Any]:
    """Return the row of a tournament's hand."""
    return {
        "number": hand.game,
        "deal": deal.name,
        "who": " ".join("AB"[seat] if seat < 2 else str(seat) for seat in hand.seating),
        "result": " ".join(map(str, hand.scores)),
        "difference": f"{deal.difference:+.2f}",
    }


def _scene(game: Game, state: State) -> dict[str, Any]:
    if state.current_player() == CHANCE:  # the hand was broken off here
        return {"scene": {"text": game.describe(state), "seats": [{"seat": p} for p in range(game.players)]}}
    return {"scene": scenes.show(game, state, OPEN).model_dump(mode="json", exclude_defaults=True)}


def _pick(specs: Sequence[str], chosen: int) -> str:
    if chosen >= len(specs):
        raise TrickformerError("there is no such player on the list")
    return specs[chosen]


def _throttle_progress(report: ReportProgress) -> Show:
    """Make a progress display that calls `report`, at most every _REPORT_INTERVAL seconds."""

    @contextmanager
    def show(what: str, unit: str, done: int, total: int) -> Generator[Advance]:
        last = time.monotonic()
        report((what, unit, done, total))

        def advance(n: int = 1, where: str = "", score: Callable[[], str] | None = None) -> None:
            nonlocal done, last
            done += n
            if time.monotonic() - last >= _REPORT_INTERVAL:
                last = time.monotonic()
                report((what, unit, done, total))

        yield advance

    return show
