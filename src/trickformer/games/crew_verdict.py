"""Why a mission of The Crew was lost: the task, order of tasks or rule that was broken, in words for people.

The core detects that a mission is lost, and when (`judge`, cpp/crew/rules.hpp).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from trickformer.games.missions import TILES

PLAYERS, TRICKS = 4, 10
COLOURED, PINK = 36, 9  # numbers of cards below the rockets, and of pink cards
ARROWS, OMEGA = range(5, 9), 9  # task tokens


def failures(core: Any, rules: Collection[str], names: Sequence[str]) -> list[str]:
    """List what the last trick broke, in words; empty if the mission is not lost.

    Args:
        core: The core's state.
        rules: Names of the mission's special rules.
        names: Names of the cards.
    """
    if core.result >= 0:
        return []
    return [*_tasks(core, names), *_order(core, rules, names), *_rules(core, rules, names)]


def _last(core: Any) -> list[int]:
    return core.plays[-PLAYERS:]


def _tasks(core: Any, names: Sequence[str]) -> Iterator[str]:
    winner = core.winners[-1]
    for card, _, owner, _ in core.tasks:
        if card in _last(core) and owner != winner:
            yield f"task {names[card]} of seat {owner} went to seat {winner}"


def _order(core: Any, rules: Collection[str], names: Sequence[str]) -> Iterator[str]:
    last, done = _last(core), sum(task[3] for task in core.tasks)
    fallen = [task for task in core.tasks if task[0] in last]
    before = done - len(fallen)
    for card, token, _, is_done in core.tasks if fallen else ():
        due = token + 1
        if token >= ARROWS[0]:
            continue
        if card in last and not before < due <= done:
            yield f"task {names[card]} was due as number {due}, and came as number {before + 1}"
        elif not is_done and due <= done:
            yield f"task {names[card]} was due as number {due}, and {done} are fulfilled without it"
    arrows = sorted((token, card, is_done) for card, token, _, is_done in core.tasks if token in ARROWS)
    open_ = [(token, card) for token, card, is_done in arrows if fallen and not is_done]
    for due, first in open_[:1]:
        for token, card, is_done in arrows:
            if is_done and token > due:
                yield f"task {names[card]} ({TILES[token]}) came before task {names[first]} ({TILES[due]})"
    for card, token, *_ in fallen:
        if token == OMEGA and done < len(core.tasks):
            yield f"task {names[card]} was due last, and came with {len(core.tasks) - done} still open"
        if token == OMEGA and "omega_in_last_trick" in rules and len(core.winners) < TRICKS:
            yield f"omega_in_last_trick: task {names[card]} came in trick {len(core.winners)}"


def _rules(core: Any, rules: Collection[str], names: Sequence[str]) -> Iterator[str]:
    violations = {rule: _describe_violation(core, rule, names) for rule in rules}
    yield from (f"{rule}: {why}" for rule, why in violations.items() if why)


def _describe_violation(core: Any, rule: str, names: Sequence[str]) -> str:
    winners = core.winners
    winner, number = winners[-1], len(winners)
    last = number == TRICKS
    cards, best = _last(core), _winning_cards(core)
    card, of_member = best[-1], winners.count(core.member)
    rocket = card >= COLOURED
    who, ends = f"seat {winner} won trick {number}", number == 1 or last
    with_rocket = f"{who} with {names[card]}" if winner == core.member and rocket else ""
    match rule:
        case "sick_no_tricks":
            return who if winner == core.member else ""
        case "one_wins_once" | "ones_win_twice":
            won, left = len(_ones(best)), 4 - len(_ones(core.plays))
            missed = won + left < (2 if rule == "ones_win_twice" else 1)
            return f"{won} of the colour 1s won, {left} {'is' if left == 1 else 'are'} left" if missed else ""
        case "each_rocket_wins" | "rockets_win_in_order":
            fell = [names[c] for c in cards if c >= COLOURED]
            if len(fell) > 1:
                return f"{' and '.join(fell)} fell in trick {number}"
            due = sum(c >= COLOURED for c in best)  # the rocket that had to win now
            wrong = rule == "rockets_win_in_order" and rocket and card != COLOURED + due - 1
            return f"{names[card]} won trick {number}, and {names[COLOURED + due - 1]} was due" if wrong else ""
        case "nines_win_nothing" | "nines_win_nothing_plus_tasks":
            return f"{names[card]} won trick {number}" if card < COLOURED and card % 9 == 8 else ""
        case "trick_balance" | "trick_balance_commander_first_last":
            wins = [winners.count(seat) for seat in range(PLAYERS)]
            if max(wins) - min(wins) > 1:
                return f"the tricks are {' '.join(map(str, wins))} after trick {number}"
            ruled = rule == "trick_balance_commander_first_last" and ends
            return f"{who}, and not the commander, seat {core.commander}" if ruled and winner != core.commander else ""
        case "member_exactly_one_trick_no_rocket":
            more = f"seat {core.member} has won {of_member} tricks"
            return with_rocket or (more if of_member > 1 or (last and not of_member) else "")
        case "member_only_first_and_last_no_rocket":
            wrong = ends != (winner == core.member)
            return with_rocket or (f"{who}, and the member is seat {core.member}" if wrong else "")
        case "left_of_pink9_wins_all_pink":
            pink = " ".join(names[c] for c in cards if c < PINK)
            return f"{pink} went to seat {winner}, not to seat {core.member}" if pink and winner != core.member else ""
        case "first4_last_middle_roles":
            others = [seat for seat in range(PLAYERS) if seat not in (core.first_four, core.last)]
            right = [core.first_four] if number <= 4 else [core.last] if last else others
            return f"{who}, which was for seat {' or '.join(map(str, right))}" if winner not in right else ""
        case _:  # rules of the draft, and others that nobody can break
            return ""


def _ones(cards: Sequence[int]) -> list[int]:
    return [card for card in cards if card < COLOURED and card % 9 == 0]


def _winning_cards(core: Any) -> list[int]:
    """Return the card that won each trick."""
    leaders = [core.commander, *core.winners]
    return [core.plays[PLAYERS * i + (winner - leaders[i]) % PLAYERS] for i, winner in enumerate(core.winners)]
