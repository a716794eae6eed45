"""What panels show is what players decide by, and agrees with what is known otherwise."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest
from support.kuhn import Kuhn

from trickformer import games, players, tokenizers
from trickformer.base import TrickformerError, decision_rng
from trickformer.belief.samplers import sampler
from trickformer.web import room, scenes
from trickformer.web.cast import Cast, DecisionRequest
from trickformer.web.claims import certain, solve_by_minimax
from trickformer.web.inside import Inside

CHECKPOINTS = {
    "hearts": "hearts-small",
    "skat": "skat-small",
    "crew(mission=9)": "crew-small",
    "hanabi": "hanabi-small",
}


def _inside(spec, worlds=200):
    name = CHECKPOINTS.get(spec)
    specs = {"pimc": "pimc:worlds=4,runs=50" if spec == "hearts" else "pimc:worlds=4"}
    if name:
        specs |= {"model": f"argmax:checkpoint={name}", "search": f"gomcts:checkpoint={name},runs=20"}
    return Inside(str(games.load(spec).spiel), specs, name if spec in ("hearts", "skat") else None, worlds)


def _decisions(game, seed, n):
    """States at some decisions with a choice, of hands that `rules` or chance plays."""
    player = players.make("rules" if game.name in ("hearts", "skat", "crew") else "random", game)
    draw, found, deal = random.Random(seed), [], 0
    while len(found) < n:
        state, memos, deal = game.deal(seed, deal), [{} for _ in range(game.players)], deal + 1
        while not state.is_terminal():
            seat = state.current_player()
            if len(state.legal_actions()) > 1 and draw.random() < 0.15:
                found.append(state.clone())
            rng = decision_rng(seed, deal, seat, len(state.history()))
            state.apply_action(player.act([game.view(state, seat)], [rng], [memos[seat]])[0].action)
            while state.is_chance_node():
                state.apply_action(game.chance(state, seed, deal))
    return found[:n]


def _asked(state):
    return DecisionRequest("", 3, 1, state.current_player(), 5, tuple(map(int, state.history())))


@pytest.mark.parametrize("spec", [*CHECKPOINTS, "mines"])
def test_panels_tell_what_the_player_does(spec):
    """The same decision with and without a thought, and every legal action in it."""
    game, inside = games.load(spec), _inside(spec)
    for state in _decisions(game, 11, 3):
        asked = _asked(state)
        for panel, player in inside.specs.items():
            found = json.loads(json.dumps(getattr(inside, panel)(asked)))
            plain = Cast(game).decide(DecisionRequest(player, *[getattr(asked, f) for f in asked.__slots__[1:]]))
            assert found["best"] == plain.decision.action, (spec, panel)
            assert sorted(row["action"] for row in found["rows"]) == sorted(state.legal_actions())
            values = {row["action"]: row["value"] for row in found["rows"] if row["value"] is not None}
            # In The Crew the worlds that are shown are not those of the decision.
            if plain.decision.value is not None and len(values) > 1 and game.name != "crew":
                in_points = plain.decision.value * game.worth[0]
                assert values[plain.decision.action] == pytest.approx(in_points, abs=1e-5 * game.worth[0])
            assert found["unit"] == game.worth[1]
            if panel == "model":
                assert sum(row["policy"] for row in found["rows"]) == pytest.approx(1)
            named = {card["name"] for card in found["cards"]}
            assert len(named) == {"hearts": 52, "skat": 32, "crew": 40}.get(game.name, 0)
            if game.name == "hearts":
                assert {row["words"] for row in found["rows"]} <= named
            for world in found.get("worlds", []):
                assert len(world["values"]) == len(found["rows"])


def test_imagined_lines_count_their_runs(hearts):
    """Runs of children add up to no more than the parent's, and those of the actions to the visits that the search
    reports, which count the model's own prediction too."""
    player = players.make("gomcts:runs=64,wave=4", hearts)
    state = _decisions(hearts, 2, 1)[0]
    view = hearts.view(state, state.current_player())
    (decision,) = player.act([view], [np.random.default_rng(1)], [{"explain": True}])
    nodes, token = decision.thought.imagined, tokenizers.make(hearts).token
    for i, node in enumerate(nodes):
        below = [n.runs for n in nodes if n.parent == i]
        assert sum(below) <= node.runs
        assert node.parent < i
    of_root = {n.token: n.runs for n in nodes if n.parent == 0}
    assert nodes[0].runs + decision.illegal == 64
    assert decision.visits == {a: of_root.get(token(a), 0) + 1 for a in decision.visits}


def test_pimc_by_world_averages_to_its_value(hearts):
    player = players.make("pimc:worlds=6,runs=200", hearts)
    for state in _decisions(hearts, 5, 3):
        view = hearts.view(state, state.current_player())
        (decision,) = player.act([view], [np.random.default_rng(1)], [{"explain": True}])
        for action, value in decision.values.items():
            known = [w.values[action] for w in decision.thought.worlds if action in w.values]
            assert np.mean(known) == pytest.approx(value, abs=1e-6)
        for world in decision.thought.worlds:
            own = set(world.cards[view.viewer])
            assert set(view.legal) <= own
            assert len(set(itertools.chain(*world.cards))) == sum(map(len, world.cards))


@pytest.mark.parametrize("spec", [*CHECKPOINTS, "mines(first_move=any)"])
def test_hidden_cards_have_a_cell_of_their_suit_and_rank(spec):
    game, inside = games.load(spec), _inside(spec, worlds=20)
    state = game.deal(3, 1)
    if game.name == "mines":
        while len(state.legal_actions()) > 90:
            state.apply_action(state.legal_actions()[0])
            if state.is_terminal():
                pytest.fail("the deal of this test ends at once")
    found = inside.belief(_asked(state))
    grid = found["grid"]
    assert len(grid["cells"]) == len(found["cards"]) == len({tuple(cell) for cell in grid["cells"]})
    for name, (row, column) in zip(found["cards"], grid["cells"]):
        shown = grid["rows"][row]["words"], grid["columns"][column]
        if game.name == "mines":
            cell_row, cell_column = map(int, name.split(","))
            assert shown == (f"row {cell_row + 1}", str(cell_column + 1))
        else:
            kinds = range({"hearts": 52, "skat": 32, "crew": 40, "hanabi": 25}[game.name])
            (card,) = (card for card in (scenes.card(game, kind) for kind in kinds) if card.name == name)
            assert (card.sign, card.rank) == shown


@pytest.mark.parametrize("spec", ["hearts", "skat", "crew(mission=9)"])
def test_heat_maps_are_near_exact_marginals(spec):
    game, inside = games.load(spec), _inside(spec, worlds=4000)
    for state in _decisions(game, 8, 2):
        asked = _asked(state)
        found = inside.belief(asked)
        belief = sampler(game)
        belief.reset(game.view(state, asked.seat))
        exact = belief.marginals()
        numbers = {game.words(card): card for card in range(len(exact))}
        for card, shares in zip(found["cards"], found["kinds"]["uniform"]):
            assert shares == pytest.approx(exact[numbers[card]][: len(shares)].tolist(), abs=0.05)
        assert all(sum(row) == pytest.approx(1) for row in found["kinds"]["uniform"])


def test_estimators_of_hanabi_agree_where_nothing_was_told():
    game, inside = games.load("hanabi"), _inside("hanabi", worlds=4000)
    found = inside.belief(_asked(game.deal(1, 1)))
    shares = {kind: np.array(rows) for kind, rows in found["kinds"].items()}
    assert set(shares) == {"v0", "v1", "counting", "smart"}
    for kind in ("v1", "counting", "smart"):
        assert np.abs(shares[kind] - shares["v0"]).max() < 0.03
    assert shares["v0"].sum(axis=0) == pytest.approx(1)


def test_chances_of_mines_are_counted():
    """Against every layout of a small board."""
    game = games.load("mines(rows=3,cols=3,mines=2,first_move=any)")
    inside = Inside(str(game.spiel), {"pimc": "pimc"}, None, 6000)
    state = game.deal(2, 0)
    state.apply_action(0)
    if state.is_terminal():
        pytest.fail("the deal of this test ends at once")
    shown, around = state.core.opened_cells[0][1], set(game.board.around(0))
    layouts = [set(m) for m in itertools.combinations(range(1, 9), 2) if len(set(m) & around) == shown]
    found = inside.belief(_asked(state))
    for cell, (share,) in zip(found["cards"], found["kinds"]["exact counting"]):
        row, col = map(int, cell.split(","))
        assert share == pytest.approx(np.mean([3 * row + col in m for m in layouts]), abs=0.03)


def test_tokens_are_those_that_the_model_reads(hearts):
    for spec in CHECKPOINTS:
        game, inside = games.load(spec), _inside(spec)
        tokenizer = tokenizers.make(game)
        for state in _decisions(game, 4, 2):
            view = game.view(state, state.current_player())
            told = [t for event in inside.tokens(_asked(state))["events"] for t in event["tokens"]]
            assert told == [tokenizer.vocab[t] for t in tokenizer.encode(view)]


def test_skats_worlds_are_worth_what_play_brings():
    """Late in the game, by every line of play from the true deal."""
    from trickformer.search.skat import worlds as _skat_worlds

    game, checked = games.load("skat"), 0

    class Truth:
        def __init__(self, state):
            self.state = lambda i: state

    def best(state, seat):
        if state.is_terminal():
            return float(game.outcomes.values[game.outcomes.of(game.scores(state), seat), 0])
        values = [best(state.child(a), seat) for a in state.legal_actions()]
        own = state.current_player() == state.soloist
        return max(values) if own == (seat == state.soloist) else min(values)

    for state in _decisions(game, 21, 60):
        if state.phase != "play" or len(state.plays) < 21:
            continue
        seat = state.current_player()
        (world,) = _skat_worlds.evaluate_worlds(Truth(state), 1, tuple(state.legal_actions()), True)
        for action, value in world.values.items():
            after = best(state.child(action), seat)
            # The solver plays for card points; what schwarz adds is counted only where it takes all 120.
            assert np.sign(value) == np.sign(after), (state.history(), action)
            checked += value == pytest.approx(after)
    assert checked > 10


def test_claims_are_certain():
    """Against a player of chance from the claimed line, and the exact score that can be forced."""
    game, seed = games.load("hearts"), random.randrange(2**31)
    draw, state = random.Random(seed), games.load("hearts").deal(3, 0)
    while len(state.history()) < 53 + 40:
        state.apply_action(draw.choice(state.legal_actions()))
    seat = state.current_player()
    sure = [score for score in range(-26, 27) if certain(game, state, seat, score)[0]]
    assert sure and sure == list(range(sure[0], 27)), seed

    def worst(at):
        if at.is_terminal():
            return game.scores(at)[seat]
        values = [worst(at.child(a)) for a in at.legal_actions()]
        return min(values) if at.current_player() == seat else max(values)

    assert sure[0] == worst(state), seed
    proved, line = certain(game, state, seat, sure[0])
    for action in line:
        state.apply_action(action)
    assert proved and game.scores(state)[seat] <= sure[0]
    assert certain(game, game.deal(3, 0), 0, 0, max_positions=1000) == (None, [])


@pytest.mark.slow
def test_a_soloist_claims_by_the_solver():
    """In Skat the solver says of every score what trying every line says, and has a line to show for it; before the
    last tricks too."""
    game, seed = games.load("skat"), random.randrange(2**31)
    draw, rules, checked = random.Random(seed), players.make("rules", game), 0
    for deal in range(100):
        if deal >= 12 and checked > 10:
            break
        state = game.deal(seed, deal)
        for n in range(100):
            if state.is_terminal():
                break
            mine = state.phase == "play" and state.current_player() == state.soloist
            if mine and len(state.plays) < 3:
                assert certain(game, state, state.soloist, -1000)[0] is True, (seed, deal)
                assert certain(game, state, state.soloist, 1000) == (False, []), (seed, deal)
            if mine and len(state.plays) >= 18:
                scores = {int(game.scores(end)[state.soloist]) for end in _ends(state)}
                for score in (s + d for s in scores for d in (0, 1)):
                    proved, line = certain(game, state, state.soloist, score)
                    assert proved == solve_by_minimax(game, state, state.soloist, score)[0], (seed, deal, score)
                    if proved:
                        end = state.clone()
                        for action in line:
                            end.apply_action(action)
                        assert end.is_terminal() and game.scores(end)[state.soloist] >= score, (seed, deal, score)
                    checked += 1
                break
            view = game.view(state, state.current_player())
            random_card = state.phase == "play" and draw.random() < 0.5
            said = (
                draw.choice(view.legal)
                if random_card
                else rules.act([view], [np.random.default_rng(n)], [{}])[0].action
            )
            state.apply_action(said)
    assert checked > 10, seed


def _ends(state):
    """The ends of some lines."""
    draw = random.Random(1)
    for _ in range(20):
        end = state.clone()
        while not end.is_terminal():
            end.apply_action(draw.choice(end.legal_actions()))
        yield end


def test_panels_of_worlds_are_those_that_a_game_can_show():
    for name in games.NAMES:
        assert room.world_panels(games.load(name)) == ("belief", "worlds")
    assert room.world_panels(Kuhn()) == ()  # its cards are not numbered as ours, and it brings no belief


def test_a_compared_player_decides_as_at_the_table(hearts):
    inside = _inside("hearts")
    for state in _decisions(hearts, 11, 3):
        asked = _asked(state)
        for spec in ("rules", "pimc:worlds=4,runs=50"):
            shown = inside.player(asked, spec)
            plain = Cast(hearts).decide(DecisionRequest(spec, *[getattr(asked, f) for f in asked.__slots__[1:]]))
            assert shown["action"] == plain.decision.action
            worth = None if plain.decision.value is None else plain.decision.value * hearts.worth[0]
            assert shown["value"] == worth and shown["unit"] == hearts.worth[1]
    assert inside.player(asked, "rules")["value"] is None


def test_a_player_that_sees_hidden_cards_is_not_compared(hearts, monkeypatch):
    inside = _inside("hearts")
    player = Cast(hearts).player("rules")
    monkeypatch.setattr(type(player), "needs_state", True)
    with pytest.raises(TrickformerError, match="hidden cards"):
        inside.player(_asked(_decisions(hearts, 11, 1)[0]), "rules")
