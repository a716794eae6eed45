"""Display of a game on record, as text or as data for JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from trickformer.base import Game, TrickformerError, game_name
from trickformer.games.skat import CARDS, HAND, PLAYERS
from trickformer.plumbing.text import count_noun
from trickformer.records import early_end
from trickformer.records.check import check
from trickformer.records.played import AnyRecord, GameRecord
from trickformer.records.skat.check import AGREES, Finding, outcome, result
from trickformer.records.skat.record import CARD, KONTRA, RE, SkatRecord, split_move
from trickformer.records.skat.replay import SkatReplay, replay

if TYPE_CHECKING:
    from trickformer.base import State

_HOLDS = re.compile(r"(seat \d) holds\b")
_DEALT = re.compile(r"(seat \d) holds\b|(skat)(?= )")
_LEGENDS = {  # by game: explanation of the symbols in its text
    "crew": "Cards: P pink, G green, B blue, Y yellow, R rocket.",
    "mines": "Numbers: mines around an opened cell. '.': not opened. '*': mine. X: mine that was opened. "
    "A move such as 'open 0,2' names row and column, counted from 0.",
}
_SEATING = re.compile(r", seating [\d ]+$")  # numbers of the players from 0; the names by seat say more
_ISS_KEY = (
    "d soloist, v value, m matadors, p card points, t tricks, s schneider, z schwarz, p0 to p2 penalty points of the "
    "seats, l seat that left, to seat that ran out of time, r resigned; -1: none."
)
_PLACES = ("forehand", "middlehand", "rearhand")


def data(record: AnyRecord, number: int) -> dict[str, Any]:
    """Return a game as an object for JSON.

    Args:
        record: The game.
        number: Number of the game in the file, counted from 1.

    Returns:
        The record, its number, and how it compares with a replay by the rules (records/check.py). A SkatRecord adds the
        tricks, the recomputed result and the value; any other record adds a description of the game in words.
    """
    if not isinstance(record, SkatRecord):
        finding = check(record, number)
        status = {"status": finding.status, "finding": str(finding), "text": _describe_record(record)}
        return {"game": number} | record.model_dump(mode="json") | status
    replayed, finding = replay(record), check(record, number)
    tricks = [
        {"leader": trick.leader, "cards": [CARDS[card] for card in trick.cards], "winner": trick.winner}
        for trick in replayed.tricks
    ]
    final = outcome(replayed)
    computed = {
        "tricks": tricks,
        "computed": result(replayed),
        "value": final.value if final and final.soloist >= 0 else None,
    }
    computed |= {"status": finding.status, "finding": str(finding)}
    return {"game": number} | record.model_dump(mode="json") | computed


def _describe_record(record: GameRecord) -> str:
    """Describe the game in words; an empty text if the record does not replay to its end."""
    try:
        words = in_words(*record.end())
    except TrickformerError:
        return ""
    return words if record.early_end is None else f"{words}\nended early: {early_end.describe(record.early_end)}"


def in_words(game: Game, state: State) -> str:
    """Describe a hand: the cards as they were dealt, then the game's own description of the state, without empty hands.

    Args:
        game: The game.
        state: State at any point of the hand.
    """
    first, chance = game.spiel.new_initial_state(), iter(state.history())
    while first.is_chance_node():
        first.apply_action(next(chance))
    dealt = [_DEALT.sub(r"\1\2 was dealt", line) for line in game.describe(first).splitlines() if _DEALT.match(line)]
    end = [line for line in game.describe(state).splitlines() if not _HOLDS.fullmatch(line)]
    return "\n".join([*dealt, *(_HOLDS.sub(r"\1 holds at the end", line, count=1) for line in end)])


def print_game(record: AnyRecord, number: int, console: Console) -> None:
    """Print players, hands, auction, contract, tricks and result of a game, and the finding of its check.

    The check compares the record with a replay by the rules (records/check.py).

    Args:
        record: The game.
        number: Number of the game in its file, counted from 1.
        console: Console to print to.
    """
    if not isinstance(record, SkatRecord):
        _print_played(record, number, console)
        return
    replayed = replay(record)
    tags = " ".join(f"{key} {_SEATING.sub('', value)}" for key, value in record.tags.items() if value)
    hands = Table("Seat", "Name", "Cards", box=box.SIMPLE, show_edge=False)
    for seat in range(PLAYERS):
        cards = record.deck[HAND * seat : HAND * (seat + 1)]
        hands.add_row(f"{seat} {_PLACES[seat]}", Text(record.names[seat]), _sort_cards(cards))
    hands.add_row("", "skat", _sort_cards(record.deck[HAND * PLAYERS :]))
    finding = check(record, number)
    parts = [Text(f"Game {number}  {tags}", style="bold"), hands, Text(_format_bidding(record, replayed))]
    if replayed.tricks or replayed.on_table:
        parts += [_trick_table(replayed), Text("←: card that was led.")]
    parts.append(Text(f"Result: {_describe_result(replayed)}"))
    # Our own records of Skat have results in the words of the International Skat Server (ISS).
    source = "XSkat" if record.source == "xskat" else "ISS"
    parts.append(Text(f"{source} result: {record.result or 'none on record'}"))
    if record.result and source == "ISS":
        parts.append(Text(_ISS_KEY))
    if (note := record.tags.get("CO", "")) and "seating" in note:
        parts.append(Text("GM game, PC program, SE series, ID number of the game, CO comment."))
    parts.append(_format_finding(finding))
    console.print(Group(*parts, Text("")))


def _print_played(record: GameRecord, number: int, console: Console) -> None:
    mission = f"mission {record.mission}" if record.mission is not None else ""
    named = (f"{key} {value}" for key, value in record.tags.items() if key != "seating")
    tags = " ".join(filter(None, (record.rules, mission, *named)))
    seats = Table(box=box.SIMPLE, show_edge=False)
    for head in ("Seat", "Name", "Score"):
        seats.add_column(head, overflow="fold")
    for seat, (name, score) in enumerate(zip(record.names, record.scores)):
        seats.add_row(str(seat), Text(name), str(score))
    console.print(Text(f"Game {number}  {tags}", style="bold"), soft_wrap=True)
    console.print(seats)
    lines = [
        _describe_record(record),
        _LEGENDS.get(game_name(record.rules), ""),
        f"{_format_finding(check(record, number))}",
    ]
    console.print(Text("\n".join(filter(None, lines)) + "\n"), soft_wrap=True)


def _format_finding(finding: Finding) -> Text:
    return Text(
        f"Check: {finding.status} with a replay by the rules" if finding.status == AGREES else f"Check: {finding}"
    )


def _sort_cards(cards: tuple[str, ...]) -> str:
    """Sort cards for display: jacks first, then by suit (8 cards each) and rank, the highest first."""
    order = {card: (card[1] != "J", -CARDS.index(card)) for card in cards}  # CARDS ascends by suit, then by rank
    return " ".join(sorted(cards, key=order.__getitem__))


def _format_bidding(record: SkatRecord, replayed: SkatReplay) -> str:
    """Format auction, discards and contract, one line each."""
    moves = [split_move(move) for move in record.moves]
    end = next((i for i, (_, what) in enumerate(moves) if what in ("pick-up", "hand")), len(moves))
    # `bid` replaces an auction that the source lacks.
    auction = "not on record" if record.bid is not None else ", ".join(record.moves[:end])
    lines = [f"Auction (seat and call): {auction}"]
    if replayed.soloist < 0:
        return lines[0]
    if record.moves[end : end + 1] == (f"{replayed.soloist} pick-up",):
        lines.append("Laid away: " + " ".join(what for _, what in moves[end + 1 : end + 3] if what in CARD))
    lines.append(f"Soloist: seat {replayed.soloist}, {record.contract or 'nothing declared'}, bid {replayed.bid}")
    return "\n".join(lines)


def _describe_result(replayed: SkatReplay) -> str:
    """Describe the end of a game by the rules, in words."""
    final = outcome(replayed)
    if final is None:
        return "all seats passed" if replayed.soloist < 0 and replayed.state.is_terminal() else "none"
    if final.soloist < 0:
        return f"no game; penalty point for seat {final.penalty}"
    facts = ["overbid"] if final.overbid else []
    if final.matadors:
        side = "with" if final.matadors > 0 else "without"
        facts.append(f"{side} {count_noun(abs(final.matadors), 'matador')}")
    facts += [f"{count_noun(final.points, 'card point')} of the soloist", count_noun(final.tricks, "trick")]
    words = f"{'won' if final.won else 'lost'}, value {final.value} ({', '.join(facts)})"
    has_scores = replayed.state.is_terminal() and replayed.gives_up is None and replayed.overbid_null is None
    if has_scores and not replayed.record.tags.keys() & {KONTRA, RE}:
        scores = " ".join(map(str, replayed.state.result().scores(seeger=True)))
        words += f"; scores by seat {scores} (Seeger-Fabian)"
    return words


def _trick_table(replayed: SkatReplay) -> Table:
    table = Table(
        "Trick", *(f"Seat {seat}" for seat in range(PLAYERS)), "Taken by", "Points", box=box.SIMPLE, show_edge=False
    )
    for number, trick in enumerate(replayed.tricks, 1):
        cells = _by_seat(trick.leader, trick.cards)
        table.add_row(str(number), *cells, f"seat {trick.winner}", str(trick.points))
    if replayed.on_table:
        leader = replayed.tricks[-1].winner if replayed.tricks else 0
        table.add_row(str(len(replayed.tricks) + 1), *_by_seat(leader, tuple(replayed.on_table)), "", "")
    return table


def _by_seat(leader: int, cards: tuple[int, ...]) -> list[str]:
    """Return the cards of a trick by seat, with an arrow at the card that was led."""
    cells = [""] * PLAYERS
    for turn, card in enumerate(cards):
        cells[(leader + turn) % PLAYERS] = CARDS[card] + (" ←" if turn == 0 else "")
    return cells
