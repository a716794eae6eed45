"""How hands share the calls of players: who is asked next, what is under way, the clock, what players are told."""

import re
from types import SimpleNamespace

import pytest
from support.records import comparable

from trickformer import games, players
from trickformer.base import Decision, Player, TrickformerError
from trickformer.plumbing import progress
from trickformer.tournaments import plan, report, run, store
from trickformer.tournaments import play as module
from trickformer.tournaments.plan import Hand, Tournament
from trickformer.tournaments.play import default_tables, play
from trickformer.tournaments.results import TournamentResults


@pytest.fixture
def clock(monkeypatch):
    """Seconds, as tables and the progress read them; what a player spends is added to the first."""
    now = [1000.0]
    clock = SimpleNamespace(perf_counter=lambda: now[0], monotonic=lambda: now[0])
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(progress, "time", clock)
    return now


class Slow(Player):
    """Plays its lowest legal action and takes a while for each view; remembers how many views a call had."""

    def __init__(self, now, seconds=0.02):
        self.now, self.seconds, self.calls, self.told = now, seconds, [], []

    def act(self, views, rng, memo):
        self.calls.append(len(views))
        self.told += [m.get("clock") for m in memo]
        self.now[0] += self.seconds * len(views)
        return [Decision(v.legal[0]) for v in views]


class OneByOne(Slow):
    batch = 1


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("slow", [OneByOne, Slow])
def test_a_slow_player_soon_says_how_long_it_takes(slow, side, clock, capsys):
    """The first record is there after one hand, and the first estimate is within a factor of two of the truth."""
    game = games.load("hearts")
    cast = [slow(clock), players.make("rules", game)]
    hands = list(plan.hands(game, 2, 4))
    begin, ends = clock[0], []
    with progress.progress("tournament", "tables", 0, len(hands), line_every=0.0) as advance:
        for record in play(game, cast[:: -1 if side else 1], hands, 1):
            ends.append(clock[0])
            advance()
            if len(ends) == 1:
                own = sum(n for n, who in zip(record.decisions, record.seating) if who == side)
                assert ends[0] - begin == pytest.approx(0.02 * own)
    left = [float(s) for s in re.findall(r", (\d+) s left", capsys.readouterr().err)]
    assert len(left) == len(ends) == 56
    for told, end in zip(left[: 40 if slow is OneByOne else 5], ends):  # at the end, most of what is left is under way
        assert 0.5 < told / (ends[-1] - end) < 2


@pytest.mark.slow
@pytest.mark.parametrize("tables", [1, 5, 40, None])
def test_what_is_under_way_is_bounded(tables):
    game, begun, ended = games.load("hearts"), 0, 0

    def counted():
        nonlocal begun
        for hand in plan.hands(game, 2, 6):
            begun += 1
            yield hand

    cast = [Slow([0.0]), players.make("random", game)]
    for _ in play(game, cast, counted(), 0, tables):
        assert begun - ended <= min(tables or 112, 1 + ended)
        ended += 1
    assert begun == ended == 6 * 14


def test_no_call_is_larger_than_a_batch_and_the_oldest_come_first():
    game = games.load("hearts")
    any_, one, four = Slow([0.0]), OneByOne([0.0]), Slow([0.0])
    four.batch = 4
    assert [default_tables(cast) for cast in ([one], [one, four], [one, any_])] == [1, 4, 112]
    hands = list(plan.hands(game, 2, 4))
    assert [r.hand for r in play(game, [one, players.make("random", game)], hands, 0)] == hands, "one after the other"
    list(play(game, [any_, four], hands, 0))
    assert set(one.calls) == {1} and max(four.calls) == 4


def test_batches_gather_while_a_player_of_one_view_is_asked():
    """A network gets the views of many tables in a call, where the oldest table first would give it one or two."""
    game, network, slow = games.load("hearts"), Slow([0.0]), OneByOne([0.0])
    list(play(game, [network, slow], plan.hands(game, 2, 8), 0, 28))
    assert set(slow.calls) == {1}
    assert sum(network.calls) / len(network.calls) > 10


def test_equal_specs_share_a_call():
    game, player = games.load("hearts"), Slow([0.0])
    list(play(game, [player, player], plan.hands(game, 2, 3), 0, 14))
    assert max(player.calls) == 14


@pytest.mark.parametrize("tables", [1, 3, 112, None])
def test_records_do_not_depend_on_batches(tables):
    game, hands = games.load("hearts"), list(plan.hands(games.load("hearts"), 2, 1))
    found = []
    for batch in (1, 3, None):
        cast = [players.make(spec, game) for spec in ("random", "rules")]
        for player in cast:
            player.batch = batch
        found.append(comparable(list(play(game, cast, hands, 7, tables))))
    assert found[0] == found[1] == found[2]


def test_evenly_held_seatings_come_first():
    hands = list(plan.hands(games.load("hearts"), 3, 1))
    assert [sorted(set(h.seating)) for h in hands[:3]] == [[0, 1], [0, 2], [1, 2]]
    assert [max(map(h.seating.count, h.seating)) for h in hands] == [2] * 18 + [3] * 24


class Listener(Player):
    """Plays at random, counts its decisions in its memo, and keeps what it is told of a hand's end."""

    def __init__(self, game):
        self.player, self.ended = players.make("random", game), []

    def act(self, views, rng, memo):
        for m in memo:
            m["decisions"] = m.get("decisions", 0) + 1
        return self.player.act(views, rng, memo)

    def end(self, views, scores, memo):
        self.ended.append((views, scores, memo))


@pytest.mark.parametrize("shared", [False, True])
def test_players_are_told_how_a_hand_ends(shared):
    game, listener = games.load("hearts"), Listener(games.load("hearts"))
    cast = [listener, listener if shared else players.make("random", game)]
    hands = list(plan.hands(game, 2, 2))
    records = list(play(game, cast, hands, 3))
    assert len(listener.ended) == len(records) == 28, "once for each hand"
    for record, (views, scores, memo) in zip(records, listener.ended):
        seats = [s for s in range(4) if shared or record.seating[s] == 0]
        assert [view.viewer for view in views] == seats
        assert scores == record.scores
        state = game.spiel.new_initial_state()
        for action in record.history:
            state.apply_action(action)
        assert list(views) == [game.view(state, seat) for seat in seats]
        assert [m["decisions"] for m in memo] == [record.decisions[seat] for seat in seats]


def test_who_overruns_the_clock_is_counted(clock):
    """A call's decisions share its time: six in three seconds take half a second each."""
    game = games.load("hearts")
    slow, quick = Slow(clock, 0.5), Slow(clock, 0.25)
    records = list(play(game, [slow, quick], plan.hands(game, 2, 2), 3, 14, clock=0.4))
    for record in records:
        late = tuple(n * (who == 0) for n, who in zip(record.decisions, record.seating))
        assert record.overran == late
    assert set(slow.told) == set(quick.told) == {0.4}
    assert not any(any(r.overran) for r in play(game, [slow, quick], [Hand(0, (0, 0, 1, 1))], 3, clock=0.6))
    free = list(play(game, [slow, quick], plan.hands(game, 2, 2), 3, 14))
    assert comparable(free) == [{k: v for k, v in r.items() if k != "overran"} for r in comparable(records)]
    assert set(slow.told) == {0.4, 0.6, None}, "without a clock nothing is told"


def test_records_without_a_clock_are_the_bytes_of_before():
    line = (
        '{"deal":3,"seating":[0,1],"scores":[5,21],"decisions":[2,2],"illegal":[0,0],"searched":[0,0],'
        '"seconds":[0.5,0.25],"calls":[2.0,2.0],"history":[1,2,3]}'
    )
    record = store.HandRecord.model_validate_json(line, strict=True)
    assert record.overran is None and record.model_dump_json(exclude_none=True) == line
    timed = record.model_copy(update={"overran": (1, 0)})
    assert timed.model_dump_json(exclude_none=True) == line[:-1] + ',"overran":[1,0]}'
    assert store.HandRecord.model_validate_json(timed.model_dump_json(), strict=True) == timed


def config(**given):
    return Tournament.model_validate({"game": "hearts", "a": "random", "b": "rules", "deals": 1} | given)


def test_a_tournament_by_the_clock(tmp_path, command):
    typed = ["tournament", "hearts", "--a", "random", "--b", "rules", "--deals", 1, "--out", tmp_path]
    code, said, err = command(*typed, "--clock", 1e-9)
    assert code == 0, err
    result = TournamentResults(run.load(tmp_path)).result()
    assert result["clock"] == 1e-9 and result["overran"] == result["turns"]
    assert "over the clock: share of the decisions that took longer than 1e-09 s" in " ".join(said.split())
    assert said.count("100.00%") == 2
    code, _, err = command(*typed, "--clock", 2, "--resume")
    assert code == 2 and "holds a run with --clock 1e-09, not --clock 2.0" in err
    code, _, err = command(*typed, "--clock", 0)
    assert code == 2 and "--clock" in err
    path = tmp_path / run.RECORDS
    path.with_name("records.jsonl.sums").unlink()
    path.write_text(re.sub(r',"overran":\[[^]]*\]', "", path.read_text(), count=1))
    with pytest.raises(TrickformerError, match=r"records\.jsonl, line 1: this hand was played without --clock"):
        run.load(tmp_path)


def test_a_round_robin_by_the_clock():
    found = run.tournament(config(a=None, b=None, players=["random", "rules", "random"], clock=60.0))
    result = TournamentResults(found).result()
    assert result["overran"] == [0, 0, 0]
    assert report.make_report(TournamentResults(found)).markdown().count("| 0.00% |") == 3
