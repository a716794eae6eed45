"""Missions of The Crew as data: the logbook (crew_missions.toml), and files of the same form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.games._crew_winners import can_be_kept
from trickformer.plumbing.text import from_toml, read_text

TILES = ("1", "2", "3", "4", "5", ">", ">>", ">>>", ">>>>", "omega", "none")
NO_TILE = len(TILES) - 1
COMMUNICATION = ("normal", "dead zone", "from trick 2", "from trick 3")
Allocation: TypeAlias = Literal["draft", "decision", "distribution", "member", "roles", "none"]
ALLOCATION: tuple[Allocation, ...] = get_args(Allocation)
DISTRESS = {"off": 0, "left": 1, "right": 3}  # number of seats, clockwise, by which a card is passed
RULES = {
    "sick_no_tricks": "the member whom the commander has named takes no trick",
    "one_wins_once": "a colour card of value 1 wins a trick",
    "member_no_communication": "a member named by the commander before the draft does not communicate",
    "random_draw_after_trick1": "after trick 1 everybody draws a card at random from the hand of the right neighbour",
    "each_rocket_wins": "each of the four rockets wins a trick",
    "nines_win_nothing": "no trick is won by a 9; the game ends when no hand has a 9",
    "nines_win_nothing_plus_tasks": "no trick is won by a 9, and there are tasks; the game ends when no hand has a 9",
    "swap_two_tokens": "before the draft two task tokens may change places",
    "ones_win_twice": "two tricks are each won by a colour card of value 1",
    "trick_balance": "nobody ever has two tricks more than another",
    "member_exactly_one_trick_no_rocket": "the member wins exactly one trick, and not with a rocket",
    "trick_balance_commander_first_last": "trick balance, and the commander wins the first and the last trick",
    "move_one_token": "before the draft a task token may move to a task that has none",
    "member_only_first_and_last_no_rocket": "the member wins the first and the last trick only, no rocket",
    "rockets_win_in_order": "each rocket wins a trick, in ascending order",
    "left_of_pink9_wins_all_pink": "the left neighbour of the holder of the pink 9 wins all pink cards",
    "omega_in_last_trick": "the omega task is fulfilled in the last trick",
    "first4_last_middle_roles": "one player wins the first four tricks, one the last, the two others all between",
}
# Rules about the member whom the commander has named, and rules that apply before the draft.
_FOR_MEMBER = {"sick_no_tricks", "member_exactly_one_trick_no_rocket", "member_only_first_and_last_no_rocket"}
_FOR_DRAFT = {"member_no_communication", "swap_two_tokens", "move_one_token"}
# Rules that can be the goal of a mission without tasks. The other rules only change how it is played.
_GOALS = set(RULES) - _FOR_DRAFT - {"random_draw_after_trick1", "omega_in_last_trick"}
_ROLES = "first4_last_middle_roles"


def _allocation(values: Mapping[str, Any]) -> Allocation:
    """Return the default allocation: a draft if there are tasks, else the allocation that the rules require."""
    rules = set(values.get("rules", ()))
    return (
        "draft" if values.get("tasks") else "member" if rules & _FOR_MEMBER else "roles" if _ROLES in rules else "none"
    )


class Page(BaseModel):
    """A mission as a file describes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: int = Field(ge=1, le=250, description="a whole number from 1 to 250")
    tasks: int = Field(0, ge=0, le=10, description="a whole number from 0 to 10")
    tokens: list[Annotated[str, Field(pattern=r"^([1-5]|>{1,4}|omega)$")]] = Field(
        [], description=f"a list of {', '.join(TILES[:NO_TILE])}, each in quotes"
    )
    communication: Literal["normal", "dead zone", "from trick 2", "from trick 3"] = Field(
        "normal", description=f"one of {', '.join(COMMUNICATION)}"
    )
    rules: list[str] = Field(
        [],
        max_length=_core.crew.MAX_RULES,
        description="a list of at most two of those that `trickformer crew missions` lists",
    )
    allocation: Allocation = Field(default_factory=_allocation, description=f"one of {', '.join(ALLOCATION)}")

    @model_validator(mode="after")
    def _check_mission(self) -> Self:
        def require(ok: bool, message: str) -> None:
            if not ok:
                raise ValueError(message)

        rules = set(self.rules)
        for rule in self.rules:
            require(rule in RULES, f"there is no rule {rule!r}; `trickformer crew missions` lists the rules")
        require(len(rules) == len(self.rules), "a rule is given twice")
        require(len(self.tokens) <= self.tasks, "more task tokens than tasks")
        require(len(set(self.tokens)) == len(self.tokens), "a task token is given twice")
        arrows = [token for token in self.tokens if token.startswith(">")]
        require(len(arrows) != 1, f"the token {''.join(arrows)} alone orders nothing: arrows order tasks with arrows")
        numbers = {int(t) for t in self.tokens if t.isdigit()}
        require(max(numbers, default=0) <= self.tasks, "a task token has a number above the number of tasks")
        require(not ("omega" in self.tokens and self.tasks in numbers), "two task tokens are both for the last task")
        needs_tasks = self.allocation in ("draft", "decision", "distribution")
        require(
            needs_tasks == (self.tasks > 0),
            f"allocation {self.allocation!r} goes with {'tasks' if needs_tasks else 'no tasks'}",
        )
        require(bool(self.tasks or rules & _GOALS), "there is nothing to achieve: no task, and no rule that is a goal")
        require(
            bool(rules & _FOR_MEMBER) == (self.allocation == "member"),
            "allocation 'member' goes with a rule on the member, and without tasks",
        )
        require(len(rules & _FOR_MEMBER) < 2, "only one rule may be on the member")
        if "left_of_pink9_wins_all_pink" in rules:
            require(
                not rules & {*_FOR_MEMBER, "member_no_communication"} and self.allocation != "decision",
                "only one rule may be on the member, and none where one player gets all tasks",
            )
        require((_ROLES in rules) == (self.allocation == "roles"), f"allocation 'roles' goes with the rule {_ROLES}")
        for rule in sorted(rules & _FOR_DRAFT):
            require(self.allocation == "draft", f"{rule} comes before a draft")
        if "omega_in_last_trick" in rules:
            require("omega" in self.tokens, "omega_in_last_trick needs the token omega")
        if "swap_two_tokens" in rules:
            require(
                len(self.tokens) > 1 and "move_one_token" not in rules, "swap_two_tokens needs two tokens, and no move"
            )
        if "move_one_token" in rules:
            require(0 < len(self.tokens) < self.tasks, "move_one_token needs a task with a token and one without")
        require(
            can_be_kept(frozenset(rules)),
            f"{' and '.join(self.rules)} cannot both be kept, whoever wins the tricks",
        )
        return self

    def tiles(self) -> list[int]:
        """Return the token of each task, as indices of TILES."""
        return [TILES.index(t) for t in self.tokens] + [NO_TILE] * (self.tasks - len(self.tokens))

    def mission(self, distress: str = "off") -> _core.crew.Mission:
        """Return the mission in the core's form.

        Args:
            distress: `off`, `left` or `right`.
        """
        return _core.crew.Mission(
            id=self.id,
            tiles=self.tiles(),
            communication=COMMUNICATION.index(self.communication),
            allocation=ALLOCATION.index(self.allocation),
            distress=DISTRESS[distress],
            rules=[list(RULES).index(rule) for rule in self.rules],
        )


def read(file: str = "") -> tuple[Page, ...]:
    """Read missions.

    Args:
        file: File with other missions; an empty text means the logbook.

    Raises:
        TrickformerError: The file cannot be read or holds no valid missions.
    """
    return _logbook() if not file else _parse(file, _text(file))


def _text(file: str) -> str:
    try:
        return read_text(Path(file))
    except OSError as e:
        raise TrickformerError(f"missions {file}: {e.strerror}") from None
    except ValueError as e:
        raise TrickformerError(
            f"missions {file}: {'not text in UTF-8' if isinstance(e, UnicodeDecodeError) else e}"
        ) from None


@lru_cache(maxsize=1)
def _logbook() -> tuple[Page, ...]:
    file = resources.files("trickformer.games").joinpath("crew_missions.toml")
    return _parse("crew_missions.toml", file.read_text(encoding="utf-8"))


def _parse(name: str, text: str) -> tuple[Page, ...]:
    try:
        tables: dict[str, Any] = from_toml(text)
    except ValueError as e:
        raise TrickformerError(f"missions {name}: {e}") from None
    entries = tables.get("mission")
    if set(tables) != {"mission"} or not isinstance(entries, list) or not entries:
        raise TrickformerError(f"missions {name}: write each as a table [[mission]], and nothing else")
    lines = _Lines(text, len(entries))
    pages: dict[int, Page] = {}
    by_tokens: dict[str, int] = {}  # number of a mission by its tokens, which encode everything except the number
    for at, values in enumerate(entries):
        where = f"missions {name}"
        try:
            page = Page.model_validate(values)
        except ValidationError as e:
            key, fault = _fault(e.errors()[0])
            number = values.get("id") if isinstance(values, dict) else None
            mission = f", mission {number}" if type(number) is int else ""
            raise TrickformerError(f"{where}{lines.line_of(at, key)}{mission}: {fault}") from None
        where += lines.line_of(at, "id")
        if page.id in pages:
            raise TrickformerError(f"{where}: mission {page.id} is written twice")
        pages[page.id] = page
        twin = by_tokens.setdefault(str(page.mission().tokens), page.id)
        if twin != page.id:
            raise TrickformerError(f"{where}: mission {page.id} differs from mission {twin} by its number alone")
    return tuple(pages.values())


class _Lines:
    """Line numbers of missions and their keys in a file."""

    def __init__(self, text: str, missions: int):
        self._text = text.splitlines()
        self._starts = [i for i, line in enumerate(self._text) if re.match(r"\s*\[\[\s*mission\s*\]\]", line)]
        self._is_known = len(self._starts) == missions  # False if some missions are written as inline tables

    def line_of(self, mission: int, key: str) -> str:
        """Return the line of a key in mission number `mission` (from 0), as `, line 7`; empty if it is unknown.

        If the mission does not have the key, it is the line where the mission starts.
        """
        if not self._is_known:
            return ""
        start, end = (*self._starts, len(self._text))[mission : mission + 2]
        lines = (i for i in range(start, end) if key and re.match(rf"\s*{re.escape(key)}\s*=", self._text[i]))
        return f", line {next(lines, start) + 1}"


def _fault(error: ErrorDetails) -> tuple[str, str]:
    """Return the faulty key, or "", and a description of the fault that replaces pydantic's."""
    if not error["loc"]:
        return "", str(error.get("ctx", {}).get("error", error["msg"]))
    key = str(error["loc"][0])
    if key not in Page.model_fields:
        return key, f"there is no {key!r}; a mission has {', '.join(Page.model_fields)}"
    expected = Page.model_fields[key].description
    if error["type"] == "missing":
        return key, f"{key} is missing: {expected}"
    return key, f"{key} is {expected}, not {error['input']!r}"
