"""Puzzles: which decisions are chosen, in which order, and that no seat sees what another one has seen."""

from __future__ import annotations

import pytest
from support.skat_records import GAMES

from trickformer import players
from trickformer.base import Decision, Player, Thought, TrickformerError, World
from trickformer.records import files
from trickformer.review import analyst, puzzles, worst
from trickformer.review.hand import of_record
from trickformer.review.result import DecisionRating, ReviewedAction
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament


def _rating(*rows):
    """A rating with rows of (loss, error of the loss); an error of None means no sampling."""
    sampled = any(error is not None for _, error in rows)
    actions = [
        ReviewedAction(
            action=i,
            words=str(i),
            value=None if loss is None else -loss,
            error=0.1 if sampled else None,
            loss=loss,
            loss_error=error,
        )
        for i, (loss, error) in enumerate(rows)
    ]
    return DecisionRating(number=1, at=1, seat=0, trick=1, action=0, words="0", actions=tuple(actions))


@pytest.mark.parametrize(
    ("rows", "solutions"),
    [
        ([(0.0, None), (3.0, None)], (0,)),
        ([(0.0, None), (0.9, None)], ()),  # below the margin
        ([(0.0, None), (3.0, None), (0.9, None)], ()),
        ([(0.0, None), (0.0, None), (3.0, None), (3.0, None)], (0, 1)),  # equally good
        ([(0.0, None), (0.0, None), (3.0, None)], ()),  # most actions are best
        ([(0.0, None), (0.0, None)], ()),
        ([(0.0, None), (None, None)], ()),  # an action without a value may be better
        ([(0.0, None), (3.0, 1.4)], (0,)),
        ([(0.0, None), (3.0, 1.5)], ()),  # within two standard errors
        ([(0.0, None), (0.0, 0.0), (3.0, 0.0), (2.0, 0.5)], (0, 1)),  # the same value in each repeat
        ([(0.0, None), (0.0, 0.3), (3.0, 0.1), (2.0, 0.5)], ()),
        ([(0.0, None), (3.0, 0.1), (3.0, None)], ()),  # sampled, and no error is known
    ],
)
def test_a_solution_leads_all_others_clearly(rows, solutions):
    assert puzzles.find_solutions(_rating(*rows), 1.0) == solutions


class LowestFirst(Player):
    """Values an action by its number: the lowest is the best."""

    def act(self, views, rng, memo):
        return [Decision(view.legal[0], values={a: -a / 26 for a in view.legal}) for view in views]


class InWorlds(Player):
    """Explains its decisions by worlds, in one of which the legal actions have other values."""

    def __init__(self, value):
        self._value = value

    def act(self, views, rng, memo):
        assert all(each["explain"] for each in memo)
        plain = [dict.fromkeys(view.legal, 0.0) for view in views]
        other = [{a: self._value(a) for a in view.legal} for view in views]
        return [
            Decision(view.legal[0], thought=Thought(worlds=(World((), worlds[0]), World((), worlds[1]))))
            for view, *worlds in zip(views, plain, other)
        ]


@pytest.fixture
def lowest_first(monkeypatch):
    monkeypatch.setattr(analyst, "make", lambda spec, game: LowestFirst())


@pytest.fixture(scope="module")
def match(tmp_path_factory):
    folder = tmp_path_factory.mktemp("puzzles") / "run"
    run.tournament(Tournament(game="hearts", a="random", b="rules", deals=3, seed=3, out=folder))
    return folder


def test_a_deal_has_puzzles_of_one_seat(match, lowest_first):
    """In each of 14 seatings the deal is the same, so the others would show hidden cards."""
    found = list(puzzles.find(match, "random"))
    hands = {number: of_record(record) for number, record in enumerate(files.games(match / "records.jsonl"), 1)}
    assert len({p.game_number for p in found}) == len({p.hand.source for p in found}) == 3
    assert len({(p.game_number, p.turn.seat) for p in found}) == 3
    for game_number in {p.game_number for p in found}:
        own = [p for p in found if p.game_number == game_number]
        numbers = [p.turn.number for p in own]
        assert numbers == sorted(numbers)
        expected = [
            turn.number
            for turn, _ in hands[game_number].turns()
            if turn.seat == own[0].turn.seat and turn.trick is not None and len(turn.legal) > 1
        ]
        assert numbers == expected  # cards to a trick, and no passes
    for puzzle in found:
        assert puzzle.state.legal_actions() == list(puzzle.turn.legal)
        assert puzzle.solutions == (min(puzzle.turn.legal),)
        assert puzzle.rating_of(puzzle.turn.action).loss == puzzle.rating.loss


def test_the_seed_orders_the_hands(match, lowest_first):
    def order(seed, **options):
        return [(p.game_number, p.turn.number) for p in puzzles.find(match, "random", seed=seed, **options)]

    assert order(1) == order(1) != order(2)
    assert {game for game, _ in order(1, games=[7])} == {7}
    assert {p.turn.seat for p in puzzles.find(match, "random", seats=[2])} == {2}
    assert not order(1, margin=100)


def test_the_worst_hands_are_of_player_a(match, lowest_first):
    listed = [deal.games[0] for deal in worst.worst(match).deals]
    found = list(puzzles.find(match, "random", worst=2))
    assert list(dict.fromkeys(p.game_number for p in found)) == [hand.game for hand in listed[:2]]
    seatings = {hand.game: hand.seating for hand in listed}
    assert all(seatings[p.game_number][p.turn.seat] == 0 for p in found)


@pytest.mark.slow
def test_a_solution_of_open_cards_holds_in_every_world(monkeypatch):
    """Without the worlds, the solver's best card may be best by luck."""
    numbers = {}
    for pick, value in [(None, lambda _: 0.0), (max, float), (min, lambda action: -float(action))]:
        with monkeypatch.context() as patched:
            patched.setattr(players, "make", lambda spec, game, value=value: InWorlds(value))
            found = list(puzzles.find(GAMES, "solver"))
        numbers[pick] = {(p.game_number, p.turn.number) for p in found}
        assert all(pick is None or pick(p.turn.legal) in p.solutions for p in found)
    assert numbers[max] and numbers[min] and numbers[None]
    assert numbers[None] not in (numbers[min], numbers[max])
    assert not list(puzzles.find(GAMES, "solver", margin=10_000))


def test_a_solution_of_open_cards_is_the_solvers():
    hands = {
        number: of_record(record) for number, record in enumerate(files.games(GAMES), 1) if hasattr(record, "deck")
    }
    for puzzle in puzzles.find(GAMES):
        assert (puzzle.judge, puzzle.hand.game.name) == ("solver", "skat")
        review = analyst.review(hands[puzzle.game_number], "solver")
        (rating,) = [r for r in review.ratings if r.number == puzzle.turn.number]
        by_action = {a.action: a.value for a in rating.actions}
        top = max(by_action.values())
        assert set(puzzle.solutions) == {a for a, value in by_action.items() if value == top}
        assert all(top - value >= 4 for value in by_action.values() if value != top)


def test_bad_requests_are_one_line(match, tmp_path):
    for options, fault in [
        ({"games": [1, 99]}, "holds games 1 to 42, and no game 99"),
        ({"games": [1], "worst": 2}, "exclude each other"),
        ({"judge": "solver"}, "not hearts"),
        ({"judge": "nobody"}, "unknown analyst"),
        ({"seats": [4]}, "there is no seat 4 in hearts: seats are 0 to 3"),
        ({"seats": [-1]}, "there is no seat -1 in hearts"),
    ]:
        with pytest.raises(TrickformerError, match=fault):
            puzzles.find(match, **options)
    with pytest.raises(TrickformerError, match="gives no values"):
        next(puzzles.find(match, "rules"))
    with pytest.raises(TrickformerError, match="holds no run"):
        puzzles.find(GAMES, worst=1)
    broken = tmp_path / "games.jsonl"
    broken.write_text("{}\n" + (match / "records.jsonl").read_text())
    with pytest.raises(TrickformerError, match=r"games\.jsonl"):
        puzzles.find(broken, games=[1])


def test_a_score_counts_answers():
    rating, score = _rating((0.0, None), (3.0, None), (2.0, None)), puzzles.PuzzleScore()
    assert score.mean_loss is None
    for rated in rating.actions:
        score.add(rated, (0,))
    assert (score.answered, score.solved) == (3, 1)
    assert score.mean_loss == pytest.approx(5 / 3)
    words = puzzles.describe_score(score, "points, own score minus the others' mean")
    assert words == "1 of 3 found, mean loss 1.67 points."
    assert puzzles.describe_score(score, None) == "1 of 3 found."


def test_the_judge_is_made_once(match, monkeypatch):
    made = []
    monkeypatch.setattr(analyst, "make", lambda spec, game: made.append(spec) or LowestFirst())
    list(puzzles.find(match))
    assert made == ["pimc"]
