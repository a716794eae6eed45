"""Missions of one's own: rules that cannot be kept together, and what is said of a file that is wrong."""

from __future__ import annotations

import random
from itertools import combinations, product

import numpy as np
import pytest

from trickformer import _core, games
from trickformer.games import crew, missions
from trickformer.studies.crew.plan import Missions
from trickformer.studies.crew.statistics import attempts, compare

COMMANDER, MEMBER = 0, 1


def kept():
    """By rule that is about who wins: which of the 4^10 orders of trick winners keep it, bool [4^10]. The rules as the
    rulebook words them."""
    winners = np.array(np.unravel_index(np.arange(4**10), (4,) * 10), dtype=np.int8).T
    member, commander = winners == MEMBER, winners == COMMANDER
    so_far = np.stack([np.cumsum(winners == seat, axis=1, dtype=np.int8) for seat in range(4)])
    balance = (so_far.max(axis=0) - so_far.min(axis=0) <= 1).all(axis=1)
    ends = np.isin(np.arange(10), (0, 9))
    first, last, between = winners[:, :1], winners[:, 9:], winners[:, 4:9]
    return {
        "sick_no_tricks": ~member.any(axis=1),
        "member_exactly_one_trick_no_rocket": member.sum(axis=1) == 1,
        "member_only_first_and_last_no_rocket": (member == ends).all(axis=1),
        "trick_balance": balance,
        "trick_balance_commander_first_last": balance & commander[:, 0] & commander[:, 9],
        "first4_last_middle_roles": (winners[:, :4] == first).all(axis=1)
        & (first != last)[:, 0]
        & ((between != first) & (between != last)).all(axis=1),
    }


def refusal(rules, **fields):
    """Why a mission of these rules is refused; None where it is not."""
    try:
        missions.Page(id=60, rules=list(rules), **fields)
    except ValueError as e:
        return str(e)


def test_rules_that_cannot_be_kept_together_are_refused():
    """All pairs of rules, against all orders of trick winners."""
    orders = kept()
    assert all(found.any() for found in orders.values())
    impossible = {pair for pair in combinations(orders, 2) if not (orders[pair[0]] & orders[pair[1]]).any()}
    why = {frozenset(pair): refusal(pair) or "" for pair in combinations(missions.RULES, 2)}  # without tasks
    refused = {pair for pair, said in why.items() if "cannot both be kept, whoever wins the tricks" in said}
    assert all(rule in why[pair] for pair in refused for rule in pair)
    # Two rules on the member, or on a member and on roles, do not go together for another reason.
    assert refused == {
        frozenset(pair)
        for pair in impossible
        if "may be on the member" not in why[frozenset(pair)] and "goes with" not in why[frozenset(pair)]
    }
    assert len(refused) == 8


@pytest.mark.parametrize("order", [0, 1])
def test_the_refusal_names_file_line_mission_and_rules(order, tmp_path, command):
    rules = ["sick_no_tricks", "trick_balance"][:: 1 - 2 * order]
    file = tmp_path / "own.toml"
    file.write_text(
        f'# mine\n\n[[mission]]\nid = 60\ntasks = 1\n\n[[mission]]\nid = 61\nrules = ["{rules[0]}", "{rules[1]}"]\n'
    )
    says = (
        f"missions {file}, line 7, mission 61: {rules[0]} and {rules[1]} cannot both be kept, whoever wins the tricks"
    )
    assert command("crew", "missions", "--file", file) == (2, "", f"error: {says}\n")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('tasks = "3"', "tasks is a whole number from 0 to 10, not '3'"),
        ("tasks = 3.0", "tasks is a whole number from 0 to 10, not 3.0"),
        ("tasks = true", "tasks is a whole number from 0 to 10, not True"),
        ('tokens = [">>"]\ntasks = 2', "the token >> alone orders nothing"),
        ('tokens = ["1", ">"]\ntasks = 2', "the token > alone orders nothing"),
        ('tokens = ["x"]', "tokens is a list of 1, 2, 3, 4, 5, >, >>, >>>, >>>>, omega, each in quotes, not 'x'"),
        ("tokens = 1", "tokens is a list of"),
        ('communication = "loud"', "communication is one of normal, dead zone, from trick 2, from trick 3, not 'loud'"),
        ('allocation = "all"', "allocation is one of draft, decision, distribution, member, roles, none, not 'all'"),
        ('rules = ["one_wins_once", "ones_win_twice", "trick_balance"]', "rules is a list of at most two of those"),
        ("rules = [1]", "rules is a list of at most two of those"),
    ],
)
def test_values_that_are_none_are_told_in_plain_words(line, says, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(f"[[mission]]\nid = 60\ntasks = 1\n[[mission]]\nid = 61\n{line}\n")
    with pytest.raises(games.TrickformerError) as raised:
        missions.read(str(file))
    assert str(raised.value).startswith(f"missions {file}, line ") and ", mission 61: " in str(raised.value)
    assert says in str(raised.value) and "\n" not in str(raised.value)
    assert not any(word in str(raised.value) for word in ("Input", "Field", "valid", "Extra"))
    whole = missions.Page.model_validate({"id": 61, "tasks": 3})
    assert whole.allocation == "draft"


@pytest.mark.parametrize(
    ("lines", "allocation"),
    [
        ('rules = ["trick_balance"]', "none"),
        ('rules = ["sick_no_tricks"]', "member"),
        ('rules = ["first4_last_middle_roles"]', "roles"),
        ('rules = ["trick_balance"]\nallocation = "none"', "none"),
        ("tasks = 2", "draft"),
    ],
)
def test_the_allocation_follows_where_it_is_not_said(lines, allocation, tmp_path):
    (tmp_path / "own.toml").write_text(f"[[mission]]\nid = 60\n{lines}\n")
    (page,) = missions.read(str(tmp_path / "own.toml"))
    assert page.allocation == allocation


def test_a_file_with_a_comma_in_its_name(tmp_path, command):
    file = tmp_path / "mine, and (others).toml"
    file.write_text("[[mission]]\nid = 60\ntasks = 1\n")
    assert list(Missions(file=str(file)).rules().missions) == [60]
    for spec in (f"crew(file={tmp_path}/a,b.toml)", f"crew(mission=60,file={tmp_path}/a,b.toml,distress=left)"):
        (tmp_path / "a,b.toml").write_text(file.read_text())
        game = games.load(spec)
        assert list(game.missions) == [60] and game.deal(1, 0).mission.id == 60
    code, out, err = command("crew", "evaluate", "--player", "random", "--games", 1, "--file", file, "--json")
    assert code == 0 and '"mission": 60' in out, err


def test_a_mission_that_is_not_there():
    for state in (
        games.load("crew").spiel.new_initial_state(),
        games.load("crew(mission=7)").spiel.new_initial_state(),
    ):
        with pytest.raises(ValueError, match=r"there is no mission 99; the missions are (1-50|7)$"):
            state.apply_action(99)
    with pytest.raises(ValueError, match="there is no mission 0; the missions are 1-50"):
        games.load("crew").deal(1, 0, 0)


@pytest.mark.parametrize(("a", "b"), [*product((0, 1, 2), repeat=2)])
def test_intervals_stay_within_what_can_be(a, b):
    """Differences are at most 100%, and a mission takes a game at least."""
    won = np.zeros((2, 2, 3), dtype=bool)
    for team, games_won in enumerate((a, b)):
        won[team, :, : games_won + 1] = True
    found = compare(*won).ci95
    assert (found is None) == (a == b), "where all pairs are alike there is no interval"
    if found is not None:
        assert -1 <= found[0] <= found[1] <= 1
    found = attempts(won[0].sum(axis=1), 3)
    assert found.solved.sum() <= found.ci95[0] <= found.expected <= found.ci95[1]


def test_every_other_pair_of_rules_can_be_won():
    """The solver finds a line with open hands in one of some deals: nothing that is accepted is out of reach."""
    game, solver, pages = games.load("crew"), _core.crew.Solver(), []
    for pair in combinations(missions.RULES, 2):
        for tasks in ({}, {"tasks": 1}, {"tasks": 3, "tokens": ["1", "omega"]}):
            if refusal(pair, **tasks) is None:
                pages.append(missions.Page(id=60, rules=list(pair), **tasks))
                break
    assert len(pages) > 100
    for page in pages:
        assert any(winnable(game, solver, page, index) for index in range(400)), page.rules


def winnable(game, solver, page, index):
    dealt, rng = game.chance_actions(3, index), random.Random(index)
    state = _core.crew.State(page.mission(), np.array(dealt[1 : crew.PREAMBLE], dtype=np.uint8))
    tasks = iter(dealt[crew.PREAMBLE :])
    while state.phase not in (crew.RADIO, crew.PLAY):
        state.apply_action(next(tasks) if state.phase == crew.REVEAL else rng.choice(state.legal_actions()))
    return solver.can_succeed(state, 20_000, game.draws(3, index))
