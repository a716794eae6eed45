"""Check whether rules of The Crew contradict each other, as far as they concern the winners of tricks."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import permutations
from typing import TypeAlias

PLAYERS, TRICKS = 4, 10
COMMANDER, MEMBER = 0, 1  # the commander names one of the others
LAST = TRICKS - 1
ENDS = (0, LAST)

Wins: TypeAlias = tuple[int, ...]  # tricks by player
# Whether a rule holds when a player has won a trick. Arguments: the player, the number of the trick from 0, tricks by
# player including this one, and the two players who have to win the first four tricks and the last.
Holds: TypeAlias = Callable[[int, int, Wins, tuple[int, ...]], bool]


def _is_balanced(wins: Wins) -> bool:
    return max(wins) - min(wins) < 2


_RULES: dict[str, Holds] = {
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
    """Return whether some order of trick winners breaks none of the rules, if all of them last for ten tricks.

    Args:
        rules: Names of special rules. Rules about cards are ignored.
    """
    checks = [_RULES[rule] for rule in sorted(rules) if rule in _RULES]
    return len(checks) < 2 or any(_ends(checks, roles) for roles in permutations(range(PLAYERS), 2))


def _ends(checks: list[Holds], roles: tuple[int, ...]) -> bool:
    reached: set[Wins] = {(0,) * PLAYERS}
    for trick in range(TRICKS):
        after = {(seat, _with(wins, seat)) for wins in reached for seat in range(PLAYERS)}
        reached = {wins for seat, wins in after if all(holds(seat, trick, wins, roles) for holds in checks)}
    return bool(reached)


def _with(wins: Wins, seat: int) -> Wins:
    return *wins[:seat], wins[seat] + 1, *wins[seat + 1 :]
