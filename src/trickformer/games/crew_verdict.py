"""Explanation of a lost mission of The Crew: the task, the order of tasks or the rule that was broken, in words.

The core detects that and when a mission is lost (`judge`, cpp/crew/rules.hpp).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from trickformer.games.missions import RULES, TILES

PLAYERS, TRICKS = 4, 10
COLOURED, PINK = 36, 9  # number of colour cards, which come before the rockets, and of pink cards, which come first
ARROWS, OMEGA = range(5, 9), 9  # task tokens as indices of TILES; tokens 0 to 4 are the numbers 1 to 5


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


def _last_trick(core: Any) -> list[int]:
    return core.plays[-PLAYERS:]


def _tasks(core: Any, names: Sequence[str]) -> Iterator[str]:
    """Describe the tasks that the wrong seat won."""
    winner = core.winners[-1]
    for card, _, owner, _ in core.tasks:
        if card in _last_trick(core) and owner != winner:
            yield f"task {names[card]} of seat {owner} went to seat {winner}"


def _order(core: Any, rules: Collection[str], names: Sequence[str]) -> Iterator[str]:
    """Describe the tasks that came in the wrong order. A task in `core.tasks` is (card, token, owner, is done)."""
    last, done = _last_trick(core), sum(task[3] for task in core.tasks)
    in_last = [task for task in core.tasks if task[0] in last]
    done_before = done - len(in_last)
    for card, token, _, is_done in core.tasks if in_last else ():
        due = token + 1
        if token >= ARROWS[0]:
            continue
        if card in last and not done_before < due <= done:
            yield f"task {names[card]} was due as number {due}, and came as number {done_before + 1}"
        elif not is_done and due <= done:
            yield f"task {names[card]} was due as number {due}, and {done} are fulfilled without it"
    arrows = sorted((token, card, is_done) for card, token, _, is_done in core.tasks if token in ARROWS)
    open_arrows = [(token, card) for token, card, is_done in arrows if in_last and not is_done]
    for next_token, next_card in open_arrows[:1]:
        for token, card, is_done in arrows:
            if is_done and token > next_token:
                yield f"task {names[card]} ({TILES[token]}) came before task {names[next_card]} ({TILES[next_token]})"
    for card, token, *_ in in_last:
        if token == OMEGA and done < len(core.tasks):
            yield f"task {names[card]} was due last, and came with {len(core.tasks) - done} still open"
        if token == OMEGA and "omega_in_last_trick" in rules and len(core.winners) < TRICKS:
            yield _broken_rule("omega_in_last_trick", f"task {names[card]} came in trick {len(core.winners)}")


def _rules(core: Any, rules: Collection[str], names: Sequence[str]) -> Iterator[str]:
    violations = {rule: _describe_violation(core, rule, names) for rule in rules}
    yield from (_broken_rule(rule, why) for rule, why in violations.items() if why)


def _broken_rule(rule: str, why: str) -> str:
    return f'rule "{RULES[rule]}": {why}'


def _describe_violation(core: Any, rule: str, names: Sequence[str]) -> str:
    """Describe how the last trick broke a rule; empty if it did not."""
    winners = core.winners
    winner, number = winners[-1], len(winners)
    is_last = number == TRICKS
    cards, winning_cards = _last_trick(core), _winning_cards(core)
    card, member_tricks = winning_cards[-1], winners.count(core.member)
    is_rocket = card >= COLOURED
    event, is_end = f"seat {winner} won trick {number}", number == 1 or is_last
    by_rocket = f"{event} with {names[card]}" if winner == core.member and is_rocket else ""
    match rule:
        case "sick_no_tricks":
            return event if winner == core.member else ""
        case "one_wins_once" | "ones_win_twice":
            won, left = len(_ones(winning_cards)), 4 - len(_ones(core.plays))
            is_broken = won + left < (2 if rule == "ones_win_twice" else 1)
            if not is_broken:
                return ""
            noun = f"colour card{'s' * (won != 1)} of value 1"
            return f"{won or 'no'} {noun} won a trick, and {left or 'none'} can still win"
        case "each_rocket_wins" | "rockets_win_in_order":
            rockets = [names[c] for c in cards if c >= COLOURED]
            if len(rockets) > 1:
                return f"{' and '.join(rockets)} fell in trick {number}"
            due = sum(c >= COLOURED for c in winning_cards)  # value of the rocket that had to win now
            is_broken = rule == "rockets_win_in_order" and is_rocket and card != COLOURED + due - 1
            return f"{names[card]} won trick {number}, and {names[COLOURED + due - 1]} was due" if is_broken else ""
        case "nines_win_nothing" | "nines_win_nothing_plus_tasks":
            return f"{names[card]} won trick {number}" if card < COLOURED and card % 9 == 8 else ""
        case "trick_balance" | "trick_balance_commander_first_last":
            wins = [winners.count(seat) for seat in range(PLAYERS)]
            if max(wins) - min(wins) > 1:
                return f"the tricks are {' '.join(map(str, wins))} after trick {number}"
            is_commanders = rule == "trick_balance_commander_first_last" and is_end
            is_broken = is_commanders and winner != core.commander
            return f"{event}, and not the commander, seat {core.commander}" if is_broken else ""
        case "member_exactly_one_trick_no_rocket":
            count = f"seat {core.member} has won {member_tricks} tricks"
            return by_rocket or (count if member_tricks > 1 or (is_last and not member_tricks) else "")
        case "member_only_first_and_last_no_rocket":
            is_broken = is_end != (winner == core.member)
            return by_rocket or (f"{event}, and the member is seat {core.member}" if is_broken else "")
        case "left_of_pink9_wins_all_pink":
            pink = " ".join(names[c] for c in cards if c < PINK)
            return f"{pink} went to seat {winner}, not to seat {core.member}" if pink and winner != core.member else ""
        case "first4_last_middle_roles":
            others = [seat for seat in range(PLAYERS) if seat not in (core.first_four, core.last)]
            allowed = [core.first_four] if number <= 4 else [core.last] if is_last else others
            return f"{event}, which was for seat {' or '.join(map(str, allowed))}" if winner not in allowed else ""
        case _:  # rules of the draft, and others that nobody can break
            return ""


def _ones(cards: Sequence[int]) -> list[int]:
    return [card for card in cards if card < COLOURED and card % 9 == 0]


def _winning_cards(core: Any) -> list[int]:
    """Return the card that won each trick."""
    leaders = [core.commander, *core.winners]
    return [core.plays[PLAYERS * i + (winner - leaders[i]) % PLAYERS] for i, winner in enumerate(core.winners)]
