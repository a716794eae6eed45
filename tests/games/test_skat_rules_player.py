"""`rules` at Skat: legal, a function of the view alone, the same in bulk, strong, and right where the play is plain."""

from collections import Counter

import numpy as np
import pytest

from trickformer import _core, games, players
from trickformer.belief import sampler
from trickformer.games.skat import ACTIONS, CARDS, GRAND, NULL

CORE = _core.skat
TOKEN = {name: number for number, name in enumerate((*ACTIONS, "seat0", "seat1", "seat2"))}
NOTHING = 255
RANDOM, RULES = 0, 1


def moves(row):
    """The deal and the players' actions of a row of history."""
    actions = row[row != NOTHING].tolist()
    return actions[:32], actions[32:]


def finished(row):
    """The game of a row of history at its end. Raises ValueError on an illegal action."""
    deck, actions = moves(row)
    state = CORE.State(np.array(deck, dtype=np.uint8))
    for action in actions:
        state.apply_action(action)
    return state


def test_every_action_is_legal_and_the_scores_are_the_rules():
    """Alone and among random players, who lead it to views that its own games never reach."""
    history, scores, seated = CORE.mixed_games(True, 11, 0, 4000, 0.5)
    phases = Counter()
    for i, row in enumerate(history):
        deck, actions = moves(row)
        state = CORE.State(np.array(deck, dtype=np.uint8))
        for action in actions:
            if seated[i, state.current_player()] == RULES:
                phases[state.phase] += 1
            state.apply_action(action)
        assert state.is_terminal(), f"seed 11, game {i}"
        assert state.result().scores(True) == tuple(scores[i]), f"seed 11, game {i}"
    assert all(phases[phase] > 0 for phase in range(6)), phases


def test_bulk_games_go_on_where_others_stop():
    history, scores, _ = CORE.mixed_games(True, 5, 0, 300, 0.0)
    again, same, _ = CORE.mixed_games(True, 5, 200, 100, 0.0)
    assert (again == history[200:]).all()
    assert (same == scores[200:]).all()
    assert (CORE.random_games(True, 5, 0, 300)[0][:, :32] == history[:, :32]).all()
    plain = CORE.mixed_games(False, 5, 0, 300, 0.0)[1]
    assert ((plain > 0) == (scores > 50)).all()


def test_seats_of_mixed_games_are_drawn_as_asked():
    seated = CORE.mixed_games(True, 3, 0, 8000, 0.5)[2]
    counts = np.bincount(seated @ [1, 2, 4], minlength=8)
    assert ((counts - 1000) ** 2 / 1000).sum() < 24.3  # chi-square, 7 degrees of freedom, p = 0.001
    assert not CORE.mixed_games(True, 3, 0, 100, 1.0)[2].any()
    assert CORE.mixed_games(True, 3, 0, 100, 0.0)[2].all()


def test_the_player_plays_what_the_bulk_games_play():
    """Through views, in one call for all tables; and where it sits among random players."""
    game, player = games.load("skat"), players.make("rules", games.load("skat"))
    rows = [(row, (RULES,) * 3) for row in CORE.mixed_games(True, 7, 0, 12, 0.0)[0]]
    history, _, seated = CORE.mixed_games(True, 7, 0, 12, 0.5)
    for row, who in [*rows, *zip(history, seated)]:
        deck, actions = moves(row)
        state = game.spiel.new_initial_state()
        for card in deck:
            state.apply_action(card)
        views, played = [], []
        for action in actions:
            seat = state.current_player()
            if who[seat] == RULES:
                views.append(game.view(state, seat))
                played.append(action)
            state.apply_action(action)
        chosen = player.act(views, [], []) if views else []
        assert [d.action for d in chosen] == played


@pytest.mark.parametrize("seed", range(12))
def test_it_is_a_function_of_the_view_alone(seed):
    """The same in another deal with the same view, and whatever it was asked before."""
    game = games.load("skat")
    player, belief = players.make("rules", game), sampler(game)
    rng = np.random.default_rng(seed)
    state = game.deal(seed, seed)
    while not state.is_terminal():
        view = game.view(state, state.current_player())
        decision = player.act([view], [], [])[0]
        assert decision.action in view.legal
        if rng.random() < 0.3:
            belief.reset(view)
            twin = game.view(belief.sample(1, rng).state(0), view.viewer)
            assert player.act([twin], [], [])[0] == decision
        state.apply_action(decision.action if rng.random() < 0.7 else int(rng.choice(view.legal)))


def test_it_beats_random_players_clearly():
    _, scores, seated = CORE.mixed_games(True, 19, 0, 3000, 0.5)
    mixed = (seated.min(axis=1) == RANDOM) & (seated.max(axis=1) == RULES)
    rules, other = scores[mixed][seated[mixed] == RULES], scores[mixed][seated[mixed] == RANDOM]
    assert rules.mean() > other.mean() + 50


def test_its_contracts_and_its_share_of_games_won_are_those_of_skat_players():
    """XSkat's computers play 394 of 400 games, 114 of them grand, and win 325: docs/results/skat-rules.md."""
    ends = [finished(row) for row in CORE.mixed_games(True, 23, 0, 2000, 0.0)[0]]
    played = [s for s in ends if s.soloist >= 0]
    won = np.mean([s.result().won for s in played])
    kinds = Counter(s.kind for s in played)
    assert 0.93 < len(played) / 2000 < 0.98
    assert 0.80 < won < 0.86
    assert sum(s.result().overbid for s in played) < 0.02 * len(played)
    assert all(kinds[suit] > 0.07 * len(played) for suit in range(4)), kinds
    assert 0.27 < kinds[GRAND] / len(played) < 0.36
    assert kinds[NULL] < 0.1 * len(played)


# ------------------------------------------------------------------------------------------ plain decisions


def choose(seat, hand, *told):
    """The action of the seat that was dealt `hand` and then heard these words."""
    words = [*sorted(hand.split(), key=CARDS.index), *(w for part in told for w in part.split())]
    tokens = [TOKEN[f"seat{seat}"], *(TOKEN[w] for w in words)]
    return ACTIONS[CORE.rules_player([CORE.SeatView(np.array(tokens, dtype=np.int32))])[0]]


FOREHAND_PLAYS = "pass pass 18 pick-up"


@pytest.mark.parametrize(
    ("why", "seat", "hand", "told", "right"),
    [
        (
            "the partner's ace holds: the ten goes in",
            2,
            "HT H8 D7 D9 DQ C7 C8 SQ S7 S9",
            (FOREHAND_PLAYS, "clubs seat0 H7 HA"),
            "HT",
        ),
        (
            "void, behind a partner who holds the trick: points are thrown in",
            2,
            "DT D7 D8 C7 C8 SQ S7 S9 S8 DQ",
            (FOREHAND_PLAYS, "clubs seat0 H7 HA"),
            "DT",
        ),
        (
            "the soloist holds the trick: no points for it",
            2,
            "HK H8 D7 D9 DQ C7 C8 SQ S7 S9",
            (FOREHAND_PLAYS, "clubs seat0 HA H7"),
            "H8",
        ),
        (
            "last, the soloist takes with the ten, not with a jack",
            2,
            "CJ SJ CT CA C9 HA HT D7 D8 S7",
            ("pass 18 pass pick-up DQ SQ DQ SQ clubs seat0 C7 CK",),
            "CA CT",
        ),
        (
            "void, the soloist ruffs ace and ten, and not with a jack",
            2,
            "CJ SJ CT CA C9 C8 HT D7 D8 HA",
            ("pass 18 pass pick-up DQ SQ DQ SQ clubs seat0 SA ST",),
            "CA CT C9 C8",
        ),
        (
            "without the jack of spades the soloist leads neither ace nor ten of trumps, nor low from an ace",
            0,
            "CJ HJ CA CT C9 C8 SA S7 HK H8",
            (FOREHAND_PLAYS, "D7 DQ D7 DQ clubs seat0"),
            "CJ HJ C8 C9 H8 SA",
        ),
        (
            "null: as high as stays under",
            2,
            "H7 H8 HT HA S7 S8 S9 D7 D8 C7",
            ("pass 18 pass pick-up C9 CT C9 CT null seat0 H9 HJ",),
            "HT",
        ),
        (
            "null: a defender stays under the soloist's card",
            2,
            "H7 HK S7 S8 S9 D7 D8 C7 C8 CK",
            (FOREHAND_PLAYS, "null seat0 HJ HT"),
            "H7",
        ),
    ],
)
def test_plain_cards(why, seat, hand, told, right):
    assert choose(seat, hand, *told) in right.split(), why


def test_what_hands_are_worth():
    weak = "DK DQ HK HQ H9 SK SQ S9 CK C9"
    strong = "CJ SJ HJ CA CT CK C9 HA HT D7"
    assert choose(1, weak) == "pass"
    assert choose(0, weak, "18") == "pass"
    assert choose(0, weak, "pass pass") == "pass"
    assert choose(1, strong) == "18"
    assert choose(0, strong, "18") == "hold"
    assert choose(1, strong, "18 hold 20 hold") == "22"
    assert choose(0, strong, "264") == "pass"
    assert choose(0, "CJ SJ HJ DJ CA CT CK SA ST HA", "pass pass 18") == "hand"
    assert choose(0, "CJ SJ HJ DJ CA CT CK SA ST HA", "pass pass 18 hand") == "grand"


def test_a_singleton_ten_is_laid_away():
    told = ["pass pass 18 pick-up", "DT HT"]
    laid = []
    for _ in range(2):
        laid.append(choose(0, "CJ SJ CA CK CQ C9 C8 SA S9 S7", *told, *laid))
    assert set(laid) <= {"DT", "HT", "S9", "S7"} and {"DT", "HT"} & set(laid)
    assert choose(0, "CJ SJ CA CK CQ C9 C8 SA S9 S7", *told, *laid) in {"clubs", "grand"}


def test_a_bid_is_covered_where_a_game_can_cover_it():
    """With the two highest jacks and a fine suit of diamonds 27 is the game's value, and 30 wants another."""
    hand = "CJ SJ DA DT DK D9 D8 HA S7 S8"
    skat = "pick-up H7 C7"
    laid = []
    for _ in range(2):
        laid.append(choose(0, hand, "27 hold pass pass", skat, *laid))
    assert choose(0, hand, "27 hold pass pass", skat, *laid) in ("diamonds", "grand")
    laid = []
    for _ in range(2):
        laid.append(choose(0, hand, "30 hold pass pass", skat, *laid))
    assert choose(0, hand, "30 hold pass pass", skat, *laid) != "diamonds"


def test_views_off_turn_are_refused():
    tokens = np.array([TOKEN["seat0"], *range(10)], dtype=np.int32)
    with pytest.raises(ValueError, match="not on turn"):
        CORE.rules_player([CORE.SeatView(tokens)])
