"""`rules` at The Crew: legal, a function of the view alone, the same in bulk, far better than chance, and right where
the play is plain."""

import numpy as np
import pytest

from trickformer import _core, games, players, tokenizers
from trickformer.games import missions
from trickformer.games.crew import ACTIONS, CARDS, NUM_CARDS, PREAMBLE

CORE = _core.crew
NOTHING = 255
PAGES = {page.id: page for page in missions.read()}


def book(*numbers, distress="off"):
    return CORE.Logbook([PAGES[n].mission(distress) for n in numbers or PAGES])


def success(number, n, random=0.0):
    return CORE.mixed_games(book(number), 5, 0, n, random)[1].mean()


@pytest.mark.parametrize("distress", ["off", "left", "right"])
def test_every_action_is_legal_and_the_result_is_that_of_the_rules(distress):
    """Alone and among random players, who lead it to tables that its own games never reach."""
    history, results, seated = CORE.mixed_games(book(distress=distress), 11, 0, 1500, 0.4)
    phases = set()
    for i, row in enumerate(history):
        actions = row[row != NOTHING].tolist()
        state = CORE.State(PAGES[actions[0]].mission(distress), np.array(actions[1:PREAMBLE], dtype=np.uint8))
        for action in actions[PREAMBLE:]:
            if state.current_player() >= 0 and seated[i, state.current_player()]:
                phases.add(state.phase)
            state.apply_action(action)  # raises on an illegal one
        assert state.is_terminal(), f"seed 11, game {i}"
        assert (state.result > 0) == results[i], f"seed 11, game {i}"
    # It leaves task tokens where they are, so that it never says where one goes.
    assert len(phases) == 9 + (distress != "off"), phases


def test_bulk_games_go_on_where_others_stop_and_deal_as_random_games_do():
    history, results, seated = CORE.mixed_games(book(), 5, 0, 300, 0.5)
    again = CORE.mixed_games(book(), 5, 200, 100, 0.5)
    for whole, part in zip((history, results, seated), again):
        assert (whole[200:] == part).all()
    assert (CORE.random_games(book(), 5, 0, 300)[0][:, :PREAMBLE] == history[:, :PREAMBLE]).all()


def test_seats_of_mixed_games_are_drawn_as_asked():
    seated = CORE.mixed_games(book(), 3, 0, 8000, 0.5)[2]
    counts = np.bincount(seated @ [1, 2, 4, 8], minlength=16)
    assert ((counts - 500) ** 2 / 500).sum() < 37.7  # chi-square, 15 degrees of freedom, p = 0.001
    assert not CORE.mixed_games(book(), 3, 0, 50, 1.0)[2].any()
    assert CORE.mixed_games(book(), 3, 0, 50, 0.0)[2].all()


@pytest.mark.parametrize("distress", ["off", "right"])
def test_the_player_plays_what_the_bulk_games_play(distress):
    """Through views, in one call for all tables; and where it sits among random players."""
    game = games.load("crew" if distress == "off" else f"crew(distress={distress})")
    player = players.make("rules", game)
    history, _, seated = CORE.mixed_games(tokenizers.make(game).codec, 7, 0, 40, 0.3)
    for row, who in zip(history, seated):
        state = game.spiel.new_initial_state()
        views, played = [], []
        for action in row[row != NOTHING].tolist():
            seat = state.current_player()
            if seat >= 0 and who[seat]:
                views.append(game.view(state, seat))
                played.append(action)
            state.apply_action(action)
        assert [d.action for d in player.act(views, [], [])] == played if views else True


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_it_is_a_function_of_the_view_alone(seed):
    """The same in another deal with the same view, and whatever it was asked before."""
    game, rng, twins = games.load("crew"), np.random.default_rng(seed), 0
    player = players.make("rules", game)
    for index in range(4):
        state = game.deal(seed, index)
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(game.chance(state, seed, 0))
                continue
            view = game.view(state, state.current_player())
            decision = player.act([view], [], [])[0]
            assert decision.action in view.legal
            for _ in range(4):
                twin = swapped(game, state, rng)
                if twin is not None and game.view(twin, view.viewer) == view:
                    twins += 1
                    assert player.act([game.view(twin, view.viewer)], [], [])[0] == decision, f"seed {seed}"
            state.apply_action(decision.action if rng.random() < 0.8 else int(rng.choice(view.legal)))
    assert twins > 5


def swapped(game, state, rng):
    """The same course after two cards of the deal have changed places, or None where the rules forbid it."""
    history = state.history()
    a, b = 1 + rng.integers(NUM_CARDS, size=2)
    history[a], history[b] = history[b], history[a]
    twin = game.spiel.new_initial_state()
    for action in history:
        if action not in twin.legal_actions():
            return None
        twin.apply_action(action)
    return twin


@pytest.mark.parametrize(
    ("number", "least"),
    [
        (1, 0.8),
        (2, 0.6),
        (4, 0.45),
        (5, 0.75),
        (8, 0.3),
        (10, 0.3),
        (13, 0.8),
        (16, 0.6),
        (20, 0.6),
        (33, 0.75),
        (44, 0.35),
    ],
)
def test_it_succeeds_where_chance_does_not(number, least):
    found, chance = success(number, 1000), success(number, 1000, random=1.0)
    assert found > least
    assert found > chance + 0.35


def test_over_all_missions_it_succeeds_ten_times_as_often_as_chance():
    scripted = CORE.mixed_games(book(), 9, 0, 5000, 0.0)[1].mean()
    assert scripted > 0.33
    assert scripted > 10 * CORE.mixed_games(book(), 9, 0, 5000, 1.0)[1].mean()


def test_games_of_the_core_know_it():
    game = games.load("crew")
    tokenizer, fast = tokenizers.make(game), tokenizers.fast(game)
    for cast in (["rules"], ["random"], ["rules", "random"]):
        tokens, outcomes = fast.core_hands(cast, 3, 0, 20).encode_hands(np.arange(20), np.arange(20) % 4)
        assert tokens.shape == (20, tokenizer.n_positions)
        assert set(outcomes.tolist()) <= {0, 1}
    assert fast.core_hands(["rules", "gomcts"], 3, 0, 20) is None


# ------------------------------------------------------------------------------------------ plain decisions


def table(number, hands, *said):
    """The choice of `rules` at a mission after these words; hands: of seats 0 to 3, cards that are not named go to the
    hands that lack some. Chance's words are cards too."""
    named = [hand.split() for hand in hands]
    rest = [c for c in CARDS if not any(c in hand for hand in named)]
    for hand in named:
        while len(hand) < 10:
            hand.append(rest.pop())
    game = games.load(f"crew(mission={number})")
    state = game.spiel.new_initial_state()
    for action in (number, *(CARDS.index(c) for hand in named for c in hand)):
        state.apply_action(action)
    for word in (w for part in said for w in part.split()):
        state.apply_action(ACTIONS.index(word))
    view = game.view(state, state.current_player())
    return ACTIONS[players.make("rules", game).act([view], [], [])[0].action]


COMMANDER = "R4 P1 P2 P3 P9 B1 B2 G1 G2 Y1"
OTHERS = ("P4 P5 B8 B9 B3 G3 G4 Y2 Y3 Y4", "P6 P7 P8 B4 B5 G5 G6 Y5 Y6 R1", "B6 B7 G7 G8 G9 Y7 Y8 Y9 R2 R3")
QUIET = "silent silent silent silent"


@pytest.mark.parametrize(
    ("why", "number", "hands", "said", "right"),
    [
        ("of two tasks, the one with its colour's 9 in hand", 2, (COMMANDER, *OTHERS), ("P5 Y6",), "P5"),
        ("its 9 takes the task that another holds", 1, (COMMANDER, *OTHERS), ("P5 P5", QUIET), "P9"),
        (
            "no overtaking of the owner with the task in the trick",
            1,
            (COMMANDER, *OTHERS),
            ("P5 P5", QUIET, "P9"),
            "P5",
        ),
        (
            "a task of somebody else is not captured where it need not be",
            2,
            ("R4 P9 P2 B1 B2 B3 G1 G2 Y1 Y2", "P8 P3 B4 B5 B6 G3 G4 Y3 Y4 Y5", "P1 P4 P5 P6 P7 B7 B8 B9 G5 G6"),
            ("P1 B9 B9 P1", QUIET, "P2"),
            "P8",
        ),
        ("weak hands feel bad", 5, ("R4 R3 P9 P8 B9 B8 G9 G8 Y9 Y8", "P1 P2 P3 B1 B2 B3 G1 G2 Y1 Y2"), (), "no"),
        (
            "who feels bad is sick",
            5,
            ("R4 R3 P9 P8 B9 B8 G9 G8 Y9 Y8",),
            ("yes no yes",),
            "across",
        ),
        (
            "a task is taken on with the highest card of it",
            24,
            (COMMANDER, "Y9 Y8 Y2 B3 B4 B5 P4 P5 G3 G4"),
            ("Y3",),
            "yes",
        ),
        (
            "the commander gives it to who said yes",
            24,
            (COMMANDER, "Y9 Y8 Y2 B3 B4 B5 P4 P5 G3 G4"),
            ("Y3 yes no no",),
            "left",
        ),
        (
            "the own task's highest card is shown",
            1,
            ("R4 P8 P2 B1 B2 B3 G1 G2 Y1 Y2",),
            ("P5 P5",),
            "highest",
        ),
        ("and it is that card", 1, ("R4 P8 P2 B1 B2 B3 G1 G2 Y1 Y2",), ("P5 P5 highest",), "P8"),
        (
            "the task goes to its owner who wins the trick",
            1,
            ("R4 P9 P2 B1 B2 B3 G1 G2 Y1 Y2", "P4 P3 P8 B4 B5 B6 G3 G4 Y3 Y4"),
            ("P4 P4", QUIET, "P9"),
            "P4",
        ),
    ],
)
def test_plain_decisions(why, number, hands, said, right):
    hands = (*hands, *[""] * (4 - len(hands)))
    assert table(number, hands, *said) == right, why


def test_views_off_turn_are_refused():
    game = games.load("crew(mission=1)")
    state, tokenizer = game.deal(0, 0), tokenizers.make(game)
    seat = (state.current_player() + 1) % 4
    with pytest.raises(ValueError, match="not on turn"):
        CORE.rules_player([CORE.SeatView(tokenizer.codec, tokenizer.encode(game.view(state, seat)))])
