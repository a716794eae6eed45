"""Check of whether special rules of The Crew about the winners of tricks contradict each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import permutations
from typing import TypeAlias

PLAYERS, TRICKS = 4, 10
COMMANDER, MEMBER = 0, 1  # seats; the member is the one whom the commander has named
LAST = TRICKS - 1
ENDS = (0, LAST)  # the first and the last trick

Wins: TypeAlias = tuple[int, ...]  # number of tricks of each seat
# A rule: a function that returns whether it holds after a trick. Its arguments are the winner's seat, the number of the
# trick from 0, the tricks by seat with this one, and the two seats that must win the first four tricks and the last.
Rule: TypeAlias = Callable[[int, int, Wins, tuple[int, ...]], bool]


def _is_balanced(wins: Wins) -> bool:
    return max(wins) - min(wins) < 2


_RULES: dict[str, Rule] = {
    "sick_no_tricks": lambda seat, trick, wins, roles: seat != MEMBER,
    "member_exactly_one_trick_no_rocket": lambda seat, trick, wins, roles: (
        wins[MEMBER] == 1 or (wins[MEMBER] == 0 and trick < LAST)
    ),
    "member_only_first_and_last_no_rocket": lambda seat, trick, wins, roles: (seat == MEMBER) == (trick in ENDS),
    "trick_balance": lambda seat, trick, wins, roles: _is_balanced(wins),
    "trick_balance_commander_first_last": lambda seat, trick, wins, roles: (
        _is_balanced(wins) and (seat == COMMANDER or trick not in ENDS)
    ),
    "first4_last_middle_roles": lambda seat, trick, wins, roles: (
        seat == roles[0] if trick < 4 else seat == roles[1] if trick == LAST else seat not in roles
    ),
}


@lru_cache
def can_be_kept(rules: frozenset[str]) -> bool:
    """Return whether some sequence of ten trick winners breaks none of the rules.

    Args:
        rules: Names of special rules. Rules about cards are ignored.
    """
    winner_rules = [_RULES[rule] for rule in sorted(rules) if rule in _RULES]
    return len(winner_rules) < 2 or any(_can_finish(winner_rules, roles) for roles in permutations(range(PLAYERS), 2))


def _can_finish(rules: list[Rule], roles: tuple[int, ...]) -> bool:
    """Return whether the rules allow ten tricks, by breadth-first search over the tricks by seat."""
    reached: set[Wins] = {(0,) * PLAYERS}
    for trick in range(TRICKS):
        after = {(seat, _add_win(wins, seat)) for wins in reached for seat in range(PLAYERS)}
        reached = {wins for seat, wins in after if all(holds(seat, trick, wins, roles) for holds in rules)}
    return bool(reached)


def _add_win(wins: Wins, seat: int) -> Wins:
    return *wins[:seat], wins[seat] + 1, *wins[seat + 1 :]
