"""Cross-play: mixed tables, who understands whom, what was known of cards played."""

import json
import random
import re
import statistics
from itertools import product

import numpy as np
import pytest
from support.hanabi_histories import playout
from support.records import comparable

from trickformer import games
from trickformer.base import TrickformerError
from trickformer.games.hanabi import COLORS, KNOWING
from trickformer.plumbing.folder import RESULT
from trickformer.studies.crossplay import report as crossplay_report
from trickformer.studies.crossplay import results
from trickformer.studies.crossplay.plan import CrossPlay
from trickformer.tournaments import plan, report, run
from trickformer.tournaments.results import TournamentResults

SMALL = "hanabi(colors=2,hand_size=3,max_information_tokens=4)"
SMART, PIERS, IGGI = (f"partner:style={style}" for style in ("smart", "piers", "iggi"))


def config(**given):
    return CrossPlay.model_validate({"game": SMALL, "players": [SMART, PIERS, IGGI], "games": 6, "seed": 4} | given)


@pytest.fixture(scope="module")
def played():
    return run.tournament(config(methods=["a", "b", "b"]))


def test_the_tables_of_cross_play():
    two = config(methods=["a", "b", "b"])
    game = two.rules()
    found = [hand.seating for hand in two.hands(game)]
    assert len(found) == 6 * 9 and set(found) == set(product(range(3), repeat=2))
    assert [two.strangers(game, method) for method in two.runs().values()] == [[], [(1, 2), (2, 1)]]
    three = config(game="hanabi(players=3)", players=[SMART] * 4, methods=["a", "a", "a", "b"], games=1)
    seatings = [hand.seating for hand in three.hands(three.rules())]
    assert len(seatings) == len(set(seatings)) == 4 + 6 * (2**3 - 2) + 6
    assert sorted(s for s in seatings if len(set(s)) == 3) == sorted(three.strangers(three.rules(), [0, 1, 2]))


def test_means_by_plain_loops(played):
    score = {(r.seating, r.deal): r.scores[0] for r in played.records}
    found = results.result(played)
    for i, j in product(range(3), repeat=2):
        decks = [(score[(i, j), d] + score[(j, i), d]) / 2 for d in range(6)]
        assert found["matrix"][i][j] == pytest.approx(np.mean(decks))
        assert found["se"][i][j] == pytest.approx(np.std(decks, ddof=1) / 6**0.5)
    m = found["matrix"]
    a, b = found["methods"]
    assert (a["method"], a["runs"], b["method"], b["runs"]) == ("a", [0], "b", [1, 2])
    assert a["self_play"]["mean"] == pytest.approx(m[0][0]) and a["cross_play"] is None
    assert a["self_play"]["se_runs"] is None and a["self_play"]["se_decks"] == pytest.approx(found["se"][0][0])
    assert b["self_play"]["mean"] == pytest.approx((m[1][1] + m[2][2]) / 2)
    assert b["self_play"]["se_runs"] == pytest.approx(abs(m[1][1] - m[2][2]) / 2)  # of two, that of the mean
    assert b["cross_play"]["mean"] == pytest.approx(m[1][2]) and b["cross_play"]["se_runs"] is None
    assert b["with"] == {"a": a["with"]["b"] | {"se_runs": b["with"]["a"]["se_runs"]}}
    assert b["with"]["a"]["mean"] == pytest.approx((m[0][1] + m[0][2]) / 2)


def test_the_jackknife_of_means_of_pairs():
    """Pairs of four runs whose scores are sums of effects: the error is that of the mean of twice the effects."""
    effects = np.array([0.3, -1.0, 0.5, 2.0])
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    cell = results.make_cell(pairs, [np.full(5, effects[i] + effects[j]) for i, j in pairs])
    assert cell["mean"] == pytest.approx(2 * effects.mean())
    assert cell["se_runs"] == pytest.approx(2 * effects.std(ddof=1) / 4**0.5)
    assert cell["se_decks"] == 0


def test_who_saw_hidden_cards_is_named():
    found = results.result(run.tournament(config(players=[SMART, "spiel:state=true"], games=1)))
    assert [p["sees_state"] for p in found["players"]] == [False, True]
    assert sum("SAW THE TRUE STATE" in line for line in crossplay_report.notes(found)) == 1


@pytest.mark.slow
def test_a_killed_run_goes_on_and_workers_change_nothing(played, tmp_path):
    given = config(methods=["a", "b", "b"], out=tmp_path, workers=2)
    run.tournament(given)
    whole = (tmp_path / "records.jsonl").read_bytes()
    (tmp_path / "records.jsonl").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "records.jsonl.sums").unlink()
    found = run.tournament(given, resume=True)
    assert comparable(found.records) == comparable(played.records)
    written = crossplay_report.make_report(results.result(found))
    written.write(tmp_path, RESULT)
    written.draw(tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "| with a |" in text and "knowing colour and rank" in text
    assert (tmp_path / "crossplay.png").stat().st_size > 5_000


def test_the_command(command, tmp_path):
    out = tmp_path / "out"
    start = ["obl", "crossplay", "--games", "3", "--game", SMALL]
    words = [*start, "--players", SMART, PIERS, "--methods", "x", "x"]
    code, shown, _ = command(*words, "--out", out, "--json")
    assert code == 0 and json.loads(shown)["methods"][0]["runs"] == [0, 1]
    assert json.loads((out / "result.json").read_text()) == json.loads(shown)
    code, shown, _ = command(*words)
    assert code == 0 and "cross-play" in shown and "± " in shown
    for wrong, said in (
        (
            [*start, "--players", SMART, PIERS, "--methods", "x"],
            "--methods needs one label for each of the 2 players, not 1",
        ),
        ([*start, "--players", SMART, "nobody"], "unknown player 'nobody'"),
        ([*words, "--game", "hearts"], "share their scores, such as hanabi, not hearts"),
    ):
        code, _, err = command(*wrong)
        assert code == 2 and said in err and err.count("\n") == 1


# Tournaments.


def test_a_tournament_with_mixed_teams():
    given = {"game": SMALL, "a": SMART, "b": PIERS, "deals": 7, "seed": 1, "mixed": True}
    found = run.tournament(plan.Tournament.model_validate(given))
    score = {(r.seating, r.deal): r.scores[0] for r in found.records}
    assert {seating for seating, _ in score} == set(product(range(2), repeat=2))
    result = TournamentResults(found).result()
    mixed = [(score[(0, 1), d] + score[(1, 0), d]) / 2 for d in range(7)]
    lost = [m - (score[(0, 0), d] + score[(1, 1), d]) / 2 for d, m in enumerate(mixed)]
    assert result["mixed"]["score"] == pytest.approx(np.mean(mixed))
    assert result["mixed"]["difference"] == pytest.approx(np.mean(lost))
    low, high = result["mixed"]["difference_ci95"]
    assert low < np.mean(lost) < high
    sequential = plan.Tournament.model_validate(given | {"sequential": True})
    ends = TournamentResults(run.tournament(sequential)).result()["mixed"]["difference_ci95"]
    assert ends[0] < low < high < ends[1], "an interval that holds at every look is wider"
    assert "Teams with both A and B: " in report.make_report(TournamentResults(found)).markdown()
    pure = TournamentResults(run.tournament(plan.Tournament.model_validate(given | {"mixed": False}))).result()
    assert pure["rows"] == result["rows"] and pure["summary"] == result["summary"] and "mixed" not in pure


def test_a_round_robin_reports_each_mixed_team():
    given = {"game": SMALL, "players": [SMART, PIERS, "random"], "deals": 2, "mixed": True}
    results = TournamentResults(run.tournament(plan.Tournament.model_validate(given)))
    text = report.make_report(results).text()
    mixed = {tuple(match["players"]): match["mixed"] for match in results.result()["matches"]}
    assert set(mixed) == {(0, 1), (0, 2), (1, 2)}
    for pair, (a, b) in {(0, 2): ("partner:style=smart", "random"), (1, 2): ("partner:style=piers", "random")}.items():
        assert f"Teams with both {a} and {b}: mean score {mixed[pair]['score']:.2f}" in text
    assert text.count("Teams with both ") == 3


def test_only_teams_are_mixed():
    for game in ("hearts", "mines"):
        with pytest.raises(TrickformerError, match=f"share their scores, such as hanabi, not {game}"):
            plan.Tournament.model_validate({"game": game, "a": "random", "b": "random", "mixed": True}).rules()


# What was known of cards played.


def known(state, seat, slot, rules):
    """By what OpenSpiel prints: whether the colour and the rank of an own card are known."""
    text = state.observation_string(seat)
    own, _, others = text[text.index("Hands:") :].partition("-----")
    hints = own.splitlines()[2:][slot].split("|")[-1]  # what hints leave, such as RYGB2345
    seen = re.findall(r"^([A-Z]\d) ", others, flags=re.M) + re.findall(r"[A-Z]\d", text[text.index("Discards:") :])
    for color, height in re.findall(r"([A-Z])(\d)", text[text.index("Fireworks:") : text.index("Hands:")]):
        seen += [f"{color}{rank}" for rank in range(1, int(height) + 1)]
    left = [
        (color, rank + 1)
        for kind in range(rules.kinds)
        for color, rank in [(COLORS[kind // rules.ranks], kind % rules.ranks)]
        if color in hints and str(rank + 1) in hints and seen.count(f"{color}{rank + 1}") < rules.copies(kind)
    ]
    return len({color for color, _ in left}) == 1, len({rank for _, rank in left}) == 1


@pytest.mark.parametrize("spec", ["hanabi", SMALL, "hanabi(players=3,max_life_tokens=5)"])
def test_what_was_known_of_cards_played_is_what_openspiel_shows(spec):
    game = games.load(spec)
    rules, seed = game.rules, random.randrange(10**6)
    rng, histories, counts, vain = random.Random(seed), [], dict.fromkeys(KNOWING, 0), 0
    own = [0, game.players - 1]
    for index in range(40):
        before = None
        for state in playout(game, rng, index):
            if before is not None and (seat := before.current_player()) in own:
                slot = next(s.action for s in state.full_history()[len(before.history()) :]) - rules.hand
                if 0 <= slot < rules.hand:
                    colour, rank = known(before, seat, slot, rules)
                    counts[KNOWING[0 if colour and rank else 1 if colour else 2 if rank else 3]] += 1
                    vain += game.hand(before, seat)[slot] not in (
                        c * rules.ranks + height for c, height in enumerate(heights(before)) if height < rules.ranks
                    )
            before = state
        histories.append(tuple(before.history()))
    found = {k: x for k, x in game.summary(histories, [own] * len(histories)).items() if not isinstance(x, dict)}
    plays = sum(counts.values())
    assert found == pytest.approx({k: n / plays for k, n in (counts | {"played in vain": vain}).items()}), (
        f"seed {seed}"
    )
    assert all(counts.values()), f"seed {seed}"
    assert set(game.summary([], []).values()) == {None}


@pytest.mark.parametrize("spec", ["hanabi", SMALL, "hanabi(players=3,colors=2,ranks=2,hand_size=2,max_life_tokens=1)"])
def test_scores_and_ends_in_a_summary_are_those_of_openspiel(spec):
    """Random games, some of which play only cards that fit: perfect games, games lost by strikes, and others."""
    game, seed = games.load(spec), random.randrange(10**6)
    rng, histories, scores, lives = random.Random(seed), [], [], []
    for index in range(120):
        state, skill = game.deal(seed, index), index % 3 / 2
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(game.chance(state, seed, index))
                continue
            legal, plays = state.legal_actions(), range(game.rules.hand, 2 * game.rules.hand)
            good = [a for a in legal if fitting(game, state, a)] or [a for a in legal if a not in plays]
            state.apply_action(rng.choice(good if rng.random() < skill else legal))
        histories.append(tuple(state.history()))
        scores.append(state.returns()[0])
        lives.append(int(str(state).split("Life tokens:")[1].split()[0]))
    found = game.summary(histories, [[0]] * len(histories))
    perfect = [score == game.rules.kinds for score in scores]
    for key, values in (
        ("mean score", scores),
        ("perfect games", perfect),
        ("lost by strikes", [left == 0 for left in lives]),
    ):
        error = statistics.stdev(map(float, values)) / 120**0.5
        assert found[key] == pytest.approx({"mean": sum(values) / 120, "se": error, "games": 120}), f"seed {seed}"
    assert any(left == 0 for left in lives) and len(set(scores)) > 1, f"seed {seed}"
    assert spec == "hanabi" or any(perfect), f"seed {seed}"
    one = game.summary(histories[:1], [[0]])["mean score"]
    assert one == {"mean": scores[0], "se": None, "games": 1}
    three = TournamentResults(run.tournament(plan.Tournament(game=spec, a=SMART, b="random", deals=3)))
    assert "± is a standard error" in (text := report.make_report(three).markdown()) and ", 3 games" in text


def fitting(game, state, action):
    """Whether an action plays a card that fits."""
    slot, rules = action - game.rules.hand, game.rules
    if not 0 <= slot < rules.hand:
        return False
    color, rank = divmod(game.hand(state, state.current_player())[slot], rules.ranks)
    return heights(state)[color] == rank


def heights(state):
    """The height of each pile, by what OpenSpiel prints."""
    return [int(height) for height in re.findall(r"[A-Z](\d)", str(state).split("Fireworks:")[1].split("Hands:")[0])]
