"""Evaluations of beliefs on recorded games: the same losses as on the same games played anew, and clear errors."""

from __future__ import annotations

import json
import math

import pytest
from support.small_hanabi import SMALL

from trickformer import games
from trickformer.base import TrickformerError
from trickformer.belief.hanabi.config import Evaluation
from trickformer.belief.hanabi.process import HanabiProcess
from trickformer.plumbing.folder import Interruption
from trickformer.records.jsonl import write
from trickformer.records.played import GameRecord, describe_moves
from trickformer.studies.belief import evaluation, report
from trickformer.studies.belief.stack import Stack
from trickformer.studies.belief.system import process_of

N = 3
GAME = games.load("hanabi(hand_size=5,max_information_tokens=8)")
PLAY = {"estimators": ["v0"], "games": N, "stack": 1}
FORMS = [
    {"form": "hmm", "estimators": ["v0", "v1"]},
    {
        "form": "pomdp",
        "seat": 1,
        "players": ["holmes", "smart"],
        "others": ["piers", "flawed"],
        "estimators": ["v0", "exact"],
        "limit": 5_000,
    },
]


def record(start, actions, names=("smart", "smart"), early_end=None) -> GameRecord:
    """Write a game of the core as OpenSpiel's history: the deal, and after each move the card that is drawn."""
    draws = iter([card for seat in range(2) for card in start.hand(seat)] + start.deck)
    state = GAME.spiel.new_initial_state()
    for action in actions:
        while state.is_chance_node():
            state.apply_action(next(draws))
        state.apply_action(action)
    while state.is_chance_node():
        state.apply_action(next(draws))
    return GameRecord(
        rules=str(GAME.spiel),
        names=names,
        history=tuple(state.history()),
        moves=tuple(describe_moves(state)),
        scores=tuple(GAME.scores(state)) if early_end is None else (0, 0),
        early_end=early_end,
    )


def save(folder, records):
    """Write games to a file, and return it."""
    file = folder / "games.jsonl"
    file.write_text("".join(write(each) + "\n" for each in records))
    return file


def play_anew(config, monkeypatch):
    """Play an evaluation's games and return their records and, for each game, its first state and its actions."""
    actions, move = [], HanabiProcess.move

    def spy(process, x, control, seed, first=0):
        after, made = move(process, x, control, seed, first)
        actions[-1].append(int(made[0]))
        return after, made

    found, starts = [], []
    with monkeypatch.context() as patched:
        patched.setattr(HanabiProcess, "move", spy)
        for number in range(config.games):
            actions.append([])
            starts.append(process_of(config).start(config.seed, number, 1)[0])
            found += evaluation.play(config, number)
    return found, list(zip(starts, actions))


def losses(found):
    return [
        {name: (entry["loss"], entry["cards"], entry["loss_where_exact"]) for name, entry in r["estimators"].items()}
        | {"positions": r["positions"], "exact_cards": r["exact_cards"]}
        for r in found
    ]


@pytest.mark.parametrize("form", FORMS, ids=["hmm", "pomdp"])
def test_the_losses_are_those_of_the_games_played_anew(tmp_path, monkeypatch, form):
    config = Evaluation(**PLAY | form)
    anew, played = play_anew(config, monkeypatch)
    file = save(tmp_path, (record(*game) for game in played))
    recorded = config.model_copy(update={"games_from": file, "seed": 77})
    again = evaluation.command(recorded, resume=False)
    assert losses(again) == losses(anew)
    assert config.form == "hmm" or sum(r["exact_cards"] for r in again) > 0


def test_a_player_selects_its_games_and_the_report_names_both(tmp_path, monkeypatch):
    _, played = play_anew(Evaluation(**PLAY), monkeypatch)
    names = [("smart", "holmes"), ("holmes",), ("smart",)]  # a record may name fewer players than there are seats
    file = save(tmp_path, (record(*game, names=n) for game, n in zip(played, names)))
    options = {"estimators": ["v0"], "games_from": file, "played_by": "smart"}
    config = Evaluation(games=2, **options)
    found = evaluation.command(config, resume=False)
    assert [r["positions"] for r in found] == [len(played[i][1]) for i in (0, 2)]
    text = report.make_report(report.result(config, found)).text()
    assert f"The games come from {file}; in each, smart has seat 0. The beliefs expect smart in seat 0 and" in text
    with pytest.raises(TrickformerError, match="holds 1 games with holmes in seat 1, not 2; give --games 1"):
        evaluation.command(Evaluation(games=2, seat=1, **options | {"played_by": "holmes"}), resume=False)
    with pytest.raises(
        TrickformerError, match="0 games with sm in seat 0, not 2; give --played-by 'smart' or 'holmes'"
    ):
        evaluation.command(Evaluation(games=2, **options | {"played_by": "sm"}), resume=False)
    with pytest.raises(TrickformerError, match="holds 2 games with smart in seat 0, not 3; give --games 2"):
        evaluation.command(Evaluation(games=3, **options), resume=False)


def test_an_exact_belief_that_excludes_the_truth_is_infinite(tmp_path, monkeypatch):
    _, played = play_anew(Evaluation(**PLAY), monkeypatch)
    file = save(tmp_path, (record(*game) for game in played))
    options = {"estimators": ["v0", "exact"], "games": N, "limit": 100_000, "players": ["simple", "simple"]}
    config = Evaluation(form="pomdp", games_from=file, out=tmp_path / "out", **options)
    found = [report.result(config, evaluation.command(config, resume)) for resume in (False, True)]
    assert found[0]["estimators"] == found[1]["estimators"]
    exact, v0 = (found[0]["estimators"][name] for name in ("exact", "v0"))
    assert exact["games_with_the_truth_excluded"] == N and exact["loss"] == {"mean": math.inf, "se": None}
    assert v0["games_with_the_truth_excluded"] == 0 and v0["loss"]["se"] > 0
    assert v0["above_exact"] == {"mean": None, "se": None} and not found[0]["differences"]
    made = report.make_report(found[0])
    assert f"exact: infinite, because it excluded the true cards in {N} of {N} games" in made.text()
    assert json.loads(made.json())["estimators"]["exact"]["loss"]["mean"] is None
    made.draw(config.out)
    assert (config.out / report.PLOT).stat().st_size > 1000


def test_a_game_that_was_given_up_counts_up_to_its_last_move(tmp_path, monkeypatch):
    _, played = play_anew(Evaluation(**PLAY), monkeypatch)
    start, actions = played[0]
    file = save(tmp_path, [record(start, actions[:6], early_end="0 terminates")])
    config = Evaluation(estimators=["v0"], games=1, games_from=file)
    assert evaluation.command(config, resume=False)[0]["positions"] == 6


def test_a_stack_of_recorded_games_goes_on_at_its_move(tmp_path, monkeypatch):
    _, played = play_anew(Evaluation(**PLAY), monkeypatch)
    file = save(tmp_path, (record(*game) for game in played))
    config = Evaluation(**PLAY | FORMS[1] | {"stack": N}).model_copy(
        update={"games_from": file, "out": tmp_path / "out"}
    )
    whole = evaluation.command(config.model_copy(update={"out": None}), resume=False)
    monkeypatch.setattr(evaluation, "KEEP_EVERY", 0.0)
    moves = Stack.moves

    def stopping(self):
        for move in moves(self):
            yield move
            if move == 9:
                raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(Interruption):
        patched.setattr(Stack, "moves", stopping)
        evaluation.command(config, resume=False)
    assert (config.out / evaluation.STACK).exists()
    assert losses(evaluation.command(config, resume=True)) == losses(whole)


def test_a_resumed_evaluation_needs_the_same_games(tmp_path, monkeypatch):
    _, played = play_anew(Evaluation(**PLAY), monkeypatch)
    records = [record(*game) for game in played]
    file = save(tmp_path, records)
    config = Evaluation(estimators=["v0"], games=2, stack=1, games_from=file, out=tmp_path / "out")
    whole = evaluation.command(config, resume=False)
    assert losses(evaluation.command(config, resume=True)) == losses(whole)
    save(tmp_path, reversed(records))
    with pytest.raises(TrickformerError, match=r"games\.jsonl"):
        evaluation.command(config, resume=True)


@pytest.mark.parametrize("rules", [str(SMALL.spiel), "hearts()"])
def test_games_of_other_rules_are_refused(tmp_path, rules):
    file = tmp_path / "games.jsonl"
    line = {"version": 1, "rules": rules, "names": ["a", "b"], "history": [], "moves": [], "scores": [0, 0]}
    file.write_text(json.dumps(line) + "\n")
    with pytest.raises(TrickformerError, match=r"game 1: it is of .*, not of the Hanabi of --variant"):
        evaluation.command(Evaluation(estimators=["v0"], games=1, games_from=file), resume=False)


def test_a_game_without_a_move_is_refused(tmp_path, monkeypatch):
    _, played = play_anew(Evaluation(**PLAY), monkeypatch)
    file = save(tmp_path, [record(played[0][0], [], early_end="vote")])
    with pytest.raises(TrickformerError, match="game 1: it has no move; leave it out"):
        evaluation.command(Evaluation(estimators=["v0"], games=1, games_from=file), resume=False)


def test_a_record_that_breaks_the_rules_is_refused(tmp_path, monkeypatch):
    _, played = play_anew(Evaluation(**PLAY), monkeypatch)
    start, actions = played[0]
    file = save(tmp_path, [record(start, actions).model_copy(update={"scores": (99, 99)})])
    with pytest.raises(TrickformerError, match=r"games\.jsonl, game 1: scores 99 99 in the record"):
        evaluation.command(Evaluation(estimators=["v0"], games=1, games_from=file), resume=False)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"form": "fosg", "games_from": "run"}, "forms hmm and pomdp"),
        ({"played_by": "smart"}, "give that option too"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, fault):
    with pytest.raises(ValueError, match=fault):
        Evaluation(**options)
