"""Pages of puzzles: what a page receives before its answer, what it may send, and the puzzles on a terminal."""

from __future__ import annotations

import asyncio
import json
import random

import numpy as np
import pytest
from support.skat_records import GAMES

from trickformer import games
from trickformer.base import Decision, Player, TrickformerError
from trickformer.review import analyst, puzzles
from trickformer.review.hand import ReviewTurn, of_state
from trickformer.review.puzzles import Puzzle
from trickformer.review.result import DecisionRating, ReviewedAction
from trickformer.web import puzzle_terminal
from trickformer.web.config import PuzzleSettings
from trickformer.web.puzzles import FoundPuzzle, PuzzleFinder, PuzzlePages, describe_question, describe_solution
from trickformer.web.worker import CancellationError

SPECS = ["hearts", "skat", "crew(mission=9)", "hanabi", "mines"]


def _puzzle(game, state, rng):
    """A puzzle of the seat on turn, with random values."""
    legal, seat = tuple(state.legal_actions()), state.current_player()
    values = sorted(rng.random(len(legal)).tolist(), reverse=True)
    actions = tuple(
        ReviewedAction(action=int(a), words=game.words(int(a)), value=value, loss=values[0] - value)
        for a, value in zip(rng.permutation(legal), values)
    )
    turn = ReviewTurn(7, len(state.history()), seat, int(rng.choice(legal)), game.trick(state), legal)
    words = game.words(turn.action)
    rating = DecisionRating(
        number=7, at=turn.at, seat=seat, trick=turn.trick, action=turn.action, words=words, actions=actions
    )
    solutions = (actions[0].action,)
    return Puzzle(3, of_state(game, state), turn, state, rating, solutions, "pimc", game.worth[1])


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_exchanged_hidden_cards_do_not_change_a_question(spec):
    """And neither do other values, another solution or another recorded action."""
    game, seed = games.load(spec), random.randrange(2**31)
    draw, rng, exchanged = random.Random(seed), np.random.default_rng(seed), 0
    for deal in range(20 if spec == "mines" else 1):
        state = game.deal(seed, deal)
        while not state.is_terminal():
            seat = state.current_player()
            twin = game.exchange(state, game.view(state, seat), rng)
            if twin is not None and game.view(twin, seat) == game.view(state, seat):
                exchanged += 1
                question = describe_question(_puzzle(game, state, rng))
                assert describe_question(_puzzle(game, twin, rng)) == question, seed
                assert question["me"] == question["turn"] == seat
                json.dumps(question)
            state = state.clone()
            state.apply_action(draw.choice(state.legal_actions()))
            while state.is_chance_node():
                state.apply_action(game.chance(state, seed, deal))
    assert exchanged


class Finder:
    """A worker that has some puzzles."""

    busy = False

    def __init__(self, found, fault=None):
        self._found, self._fault, self.calls = found, fault, []

    async def do(self, method, index, report):
        assert method == "get"
        self.calls.append(index)
        report(("puzzles", "hands", 1, 2))
        await asyncio.sleep(0)
        if self._fault and index >= len(self._found):
            raise TrickformerError(self._fault)
        return self._found[index] if index < len(self._found) else None

    def cancel(self):
        pass


@pytest.fixture(scope="module")
def found():
    """Puzzles of Hearts with random values."""
    game, rng = games.load("hearts"), np.random.default_rng(5)
    state = game.deal(5, 0)
    parts = []
    while len(parts) < 4:
        if game.trick(state) is not None and len(state.legal_actions()) > 1:
            puzzle = _puzzle(game, state.clone(), rng)
            question, solution = describe_question(puzzle), describe_solution(puzzle)
            parts.append(FoundPuzzle(question, solution, puzzle.rating, puzzle.solutions))
        state.apply_action(state.legal_actions()[0])
    return parts


async def _heard(queue, kind):
    """The messages up to the next one of that kind."""
    messages = []
    while not messages or messages[-1]["type"] != kind:
        messages.append(json.loads(await asyncio.wait_for(queue.get(), 10)))
    return messages


def test_the_rating_is_sent_after_the_answer(found, tmp_path):
    async def play():
        finder = Finder(found[:2])
        room, page = PuzzlePages(PuzzleSettings(run=tmp_path), finder), object()
        queue, before = room.enter(page), []
        for number, puzzle in enumerate(found[:2], 1):
            before += await _heard(queue, "puzzle")
            assert before[-1]["number"] == number
            best, *_, last = (rated.action for rated in puzzle.rating.actions)
            chosen = best if number == 1 else last
            for bad, fault in [
                ({"do": "proceed", "puzzle": number}, "another puzzle"),
                ({"do": "solve", "puzzle": number + 1, "action": chosen}, "another puzzle"),
                ({"do": "solve", "puzzle": number, "action": 999}, "not legal"),
            ]:
                with pytest.raises(TrickformerError, match=fault):
                    await room.receive(page, json.dumps(bad))
            assert queue.empty()
            await room.receive(page, json.dumps({"do": "solve", "puzzle": number, "action": chosen}))
            (solution,) = await _heard(queue, "solution")
            assert solution["rows"] == puzzle.solution["rows"] and solution["chosen"] == chosen
            with pytest.raises(TrickformerError, match="another puzzle"):  # a second answer
                await room.receive(page, json.dumps({"do": "solve", "puzzle": number, "action": best}))
            await room.receive(page, json.dumps({"do": "proceed", "puzzle": number}))
        *_, end = await _heard(queue, "end")
        loss = found[1].rating.actions[-1].loss / 2
        assert end["score"] == f"1 of 2 found, mean loss {loss:.2f} points." and not end["none"]
        known = {"type", "number", "most", "score", *found[0].question}
        assert {message["type"] for message in before} <= {"working", "puzzle"}
        assert all(message.keys() <= known for message in before if message["type"] == "puzzle")
        with pytest.raises(ValueError, match="do"):
            await room.receive(page, json.dumps({"do": "rate", "number": 1, "analyst": 0}))
        room.leave(page)
        await room.close()

    asyncio.run(play())


def test_puzzles_are_found_ahead_and_shared_by_pages(found, tmp_path):
    async def play():
        finder = Finder(found)
        room, pages = PuzzlePages(PuzzleSettings(run=tmp_path), finder), [object(), object()]
        queues = [room.enter(page) for page in pages]
        for queue in queues:
            *_, puzzle = await _heard(queue, "puzzle")
            assert puzzle["scene"] == found[0].question["scene"]
        for _ in range(5):
            await asyncio.sleep(0)
        assert finder.calls == [0, 1]
        room.leave(pages[1])
        await room.receive(pages[1], json.dumps({"do": "cancel"}))  # a page that is gone
        await room.close()

    asyncio.run(play())


def test_a_fault_and_a_stop_end_the_puzzles(found, tmp_path):
    class Endless(Finder):
        busy = True

        async def do(self, method, index, report):
            self.stopped = asyncio.Event()
            await self.stopped.wait()
            raise CancellationError

        def cancel(self):
            self.stopped.set()

    async def play():
        room, page = PuzzlePages(PuzzleSettings(run=tmp_path), Finder([], "no such analyst")), object()
        queue = room.enter(page)
        *_, end, error = await _heard(queue, "error")
        assert (end["type"], end["none"], error["text"]) == ("end", "", "no such analyst")
        room = PuzzlePages(PuzzleSettings(run=tmp_path), Finder([]))
        *_, end = await _heard(room.enter(page), "end")
        assert end["none"].startswith("There are no puzzles; lower --margin")
        room = PuzzlePages(PuzzleSettings(run=tmp_path), Endless([]))
        queue = room.enter(page)
        await _heard(queue, "working")
        await asyncio.sleep(0)
        await room.receive(page, json.dumps({"do": "cancel"}))
        assert (await _heard(queue, "end"))[-1]["score"] == ""
        with pytest.raises(TrickformerError, match="another puzzle"):
            await room.receive(page, json.dumps({"do": "proceed", "puzzle": 1}))
        room.leave(page)

    asyncio.run(play())


@pytest.mark.slow
def test_a_finder_begins_again_with_the_same_puzzles():
    """A worker that was ended loses its puzzles."""
    settings, reports = PuzzleSettings(run=GAMES, most=3), []
    finder = PuzzleFinder(settings)
    first = [finder.get(index, reports.append) for index in range(4)]
    assert None not in first[:3] and first[3] is None and reports[0][:2] == ("puzzles", "hands")
    assert PuzzleFinder(settings).get(2, reports.append) == first[2]


class LowestFirst(Player):
    def act(self, views, rng, memo):
        return [Decision(view.legal[0], values={a: -a / 26 for a in view.legal}) for view in views]


def _typed(*words):
    lines = iter(words)

    def read():
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    return read


@pytest.mark.slow
def test_puzzles_on_a_terminal(capsys, monkeypatch):
    expected = list(puzzles.find(GAMES))[:3]
    words = [puzzle.hand.game.words(puzzle.solutions[0]) for puzzle in expected]
    wrong = next(a for a in expected[1].turn.legal if a not in expected[1].solutions)
    second = expected[1].hand.game.words(wrong)
    settings = PuzzleSettings(run=GAMES, most=3, text=True)
    puzzle_terminal.solve(settings, _typed("log", "nonsense", words[0], second, words[2]))
    out, err = capsys.readouterr()
    assert out.count("puzzle ") == 3 and out.count("Values with open cards, in points") == 3
    assert out.count("Right: ") == 2 and f"{second} costs " in out and "trick 1" in out
    mean = expected[1].rating_of(wrong).loss / 3
    assert out.endswith(f"2 of 3 found, mean loss {mean:.2f} points.\n")
    assert "number or name of an action" in err
    puzzle_terminal.solve(settings, _typed("quit"))
    assert "found" not in capsys.readouterr().out
    monkeypatch.setattr(analyst, "make", lambda spec, game: LowestFirst())
    with pytest.raises(TrickformerError, match="holds no puzzles; lower --margin"):
        puzzle_terminal.solve(PuzzleSettings(run=GAMES, margin=10_000.0), _typed())


def test_the_command_checks_its_input_before_it_serves(command, tmp_path):
    for words, fault in [
        ((tmp_path / "none",), "No such file"),
        (("-",), "not standard input"),
        ((GAMES, "--games", 999), "no game 999"),
        ((GAMES, "--games", 1, "--worst", 1), "exclude each other"),
        ((GAMES, "--analyse", "nobody"), "unknown analyst"),
        ((GAMES, "--seats", 9), "there is no seat 9"),
        ((GAMES, "--repeats", 1), "2 or more"),
    ]:
        code, out, err = command("puzzle", *words, "--no-browser")
        assert code == 2 and not out and fault in err and err.count("\n") == 1, err
    for words, name in (
        (["play", "hearts", "--warn", 1], "--warn"),
        (["play", "hearts", "--checkpoint", "hearts-small"], "--checkpoint"),
        (["play", "hearts", "--spectators"], "--spectators"),
        (["puzzle", GAMES, "--host", "127.0.0.2"], "--host"),
    ):
        code, out, err = command(*words, "--text")
        assert code == 2 and not out
        assert err == f"error: {name} is for the page in the browser; leave it out, or give --no-text\n"
