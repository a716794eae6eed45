"""The features of Hearts against plain Python that reads the tokens, OpenSpiel's states, and every deal there is."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from support.hearts_oracle import assignments, unseen_cards
from support.play import hearts_with

from trickformer import _core, tokenizers
from trickformer.audit.differential import all_options
from trickformer.games.hearts import NUM_CARDS, PLAYERS, QUEEN_OF_SPADES

SIZES = {
    "own": 52, "next": 52, "unseen": 52, "not held": 156, "trick": 52, "stage": 7, "turn": 4, "place": 4, "led": 4,
    "winner": 4, "rank": 13, "broken": 1, "queen": 4, "points": 4, "took": 4, "moon": 2, "void": 12, "tricks": 13,
}  # fmt: skip
STAGES = ["deal", "direction", "pass", "receive", "leader", "play", "end"]
HEARTS = {c for c in range(NUM_CARDS) if c % 4 == 2}
SCORING = HEARTS | {QUEEN_OF_SPADES}
OPTIONS = [
    {},
    {"pass_cards": False},
    {"no_pts_on_first_trick": False, "can_lead_any_club": True},
    {"must_break_hearts": False},
    {"qs_breaks_hearts": False, "can_lead_hearts_instead_of_qs": True},
    {"can_lead_hearts_instead_of_qs": True},
    {"jd_bonus": True, "avoid_all_tricks_bonus": True, "can_lead_any_club": True},
]


def parts(row):
    ends = np.cumsum(list(SIZES.values()))
    assert len(row) == ends[-1]
    return dict(zip(SIZES, np.split(row, ends[:-1])))


class Reader:
    """A seat's tokens, one by one, kept as plain sets; seats count from the own one."""

    def __init__(self, rules):
        self.rules = rules
        self.tokens = []
        self.dealt, self.passed, self.received = [], [], []
        self.direction = 0
        self.stage = "seat"
        self.hands = None  # what each other seat may hold, card by card
        self.tricks = []  # [(seat, card)]
        self.broken = not rules["must_break_hearts"]

    def read(self, token):
        self.tokens.append(token)
        if self.stage == "seat":
            self.seat, self.stage = token - NUM_CARDS, "deal"
        elif self.stage == "deal":
            self.dealt.append(token)
            self.stage = "direction" if len(self.dealt) == 13 else "deal"
        elif self.stage == "direction":
            self.direction = token - NUM_CARDS - PLAYERS
            self.stage = "pass" if self.direction else "leader"
        elif self.stage == "pass":
            self.passed.append(token)
            self.stage = "receive" if len(self.passed) == 3 else "pass"
        elif self.stage == "receive":
            self.received.append(token)
            self.stage = "leader" if len(self.received) == 3 else "receive"
        elif self.stage == "leader":
            self.begin((token - NUM_CARDS - self.seat) % PLAYERS)
        else:
            self.play(token)

    def begin(self, leader):
        self.stage, self.turn, self.tricks = "play", leader, [[]]
        self.mine = set(self.dealt) - set(self.passed) | set(self.received)
        self.hands = {p: set(range(NUM_CARDS)) - self.mine for p in (1, 2, 3)}
        for p in (1, 2, 3):
            if p != self.direction:
                self.hands[p] -= set(self.passed)
            if leader and p != leader:
                self.hands[p].discard(0)

    def play(self, card):
        trick, seat, first = self.tricks[-1], self.turn, len(self.tricks) == 1
        if seat:
            shown = None  # the only cards that this seat can have held
            if not trick:
                if not first and not self.broken and card in HEARTS:
                    shown = SCORING if self.rules["can_lead_hearts_instead_of_qs"] else HEARTS
            elif card % 4 != trick[0][1] % 4:
                shown = {c for c in range(NUM_CARDS) if c % 4 != trick[0][1] % 4}
                if first and self.rules["no_pts_on_first_trick"] and card in SCORING:
                    shown &= SCORING
            if shown is not None:
                self.hands[seat] &= shown
        else:
            self.mine.discard(card)
        for held in self.hands.values():
            held.discard(card)
        self.broken |= card in HEARTS or (card == QUEEN_OF_SPADES and self.rules["qs_breaks_hearts"])
        trick.append((seat, card))
        self.turn = (seat + 1) % PLAYERS
        if len(trick) == PLAYERS:
            self.turn = self.winner(trick)
            self.tricks.append([])
            if len(self.tricks) == 14:
                self.stage = "end"

    def winner(self, trick):
        return max((c, p) for p, c in trick if c % 4 == trick[0][1] % 4)[1]

    def expected(self, possible):
        """The features by name, each as a set of places that are 1; points, over 26, as a dict."""
        found = {name: set() for name in SIZES}
        found["stage"] = {STAGES.index(self.stage)}
        found["next"] = {t for t in possible if t < NUM_CARDS}
        if self.hands is None:
            dealt, passed, received = set(self.dealt), set(self.passed), set(self.received)
            found["own"] = dealt - passed | received
            found["unseen"] = set(range(NUM_CARDS)) - found["own"]
            found["not held"] = {(p - 1) * 52 + c for p in (1, 2, 3) if p != self.direction for c in passed}
            found["trick"] = passed
            found["turn"] = {0} if self.stage == "pass" else set()
            found["points"] = {}
            return found
        *done, trick = self.tricks
        unseen = set(range(NUM_CARDS)) - self.mine - {c for t in self.tricks for _, c in t}
        taken = {p: {c for t in done if self.winner(t) == p for _, c in t} for p in range(PLAYERS)}
        found["own"], found["unseen"] = self.mine, unseen
        found["not held"] = {(p - 1) * 52 + c for p in (1, 2, 3) for c in unseen - self.hands[p]}
        found["void"] = {
            (p - 1) * 4 + s for p in (1, 2, 3) for s in range(4) if s not in {c % 4 for c in self.hands[p]}
        }
        found["broken"] = {0} if self.broken else set()
        found["queen"] = {p for p in taken if QUEEN_OF_SPADES in taken[p]}
        found["took"] = {p for p in taken if taken[p]}
        points = {p: len(taken[p] & HEARTS) + 13 * (QUEEN_OF_SPADES in taken[p]) for p in taken}
        found["points"] = {p: n / 26 for p, n in points.items() if n}
        takers = list(found["points"])
        found["moon"] = {min(takers[0], 1)} if len(takers) == 1 else set()
        if self.stage == "end":
            return found
        found["tricks"], found["turn"], found["place"] = {len(done)}, {self.turn}, {len(trick)}
        if trick:
            found["trick"] = {c for _, c in trick}
            found["led"] = {trick[0][1] % 4}
            found["winner"] = {self.winner(trick)}
            found["rank"] = {dict(trick)[self.winner(trick)] // 4}
        return found


def as_rows(found):
    """Numbers of `expected`, float32 by name."""
    rows = {}
    for name, size in SIZES.items():
        rows[name] = np.zeros(size, np.float32)
        for at in found[name]:
            rows[name][at] = found[name][at] if name == "points" else 1
    return rows


def histories(game, seed, n, random_share):
    """Hands of random and scripted players, some of whose moves are random too: uint8 [n, 117]."""
    table = tokenizers.make(game)
    return _core.hearts.mixed_hands(table.rules, seed, 0, n, random_share, 0.1)[0]


def one_sided(game, seed, n):
    """As `histories`: random hands without passes in which a seat holds little but hearts. It discards points on the
    first trick, or wins it and leads one before hearts are broken."""
    rng, ace = random.Random(seed), 48
    few = [HEARTS - {2} | {ace}, HEARTS - {2, 6} | {QUEEN_OF_SPADES, ace}, HEARTS - {2} | {QUEEN_OF_SPADES}]
    found = np.full((n, 117), 255, np.uint8)
    for row, kind in zip(found, range(n)):
        special, rest = sorted(few[kind % 3]), sorted(set(range(NUM_CARDS)) - few[kind % 3])
        rng.shuffle(rest)
        hands = [rest[:13], rest[13:26], rest[26:]]
        hands.insert(kind // 3 % PLAYERS, special)
        state = game.spiel.new_initial_state()
        for action in [0, *(hands[i % PLAYERS][i // PLAYERS] for i in range(NUM_CARDS))]:
            state.apply_action(action)
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        row[: len(state.history())] = state.history()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("random_share", [0.0, 1.0, None])
def test_features_are_those_of_the_tokens_read_in_plain_python(random_share):
    """At every token of hands, one-sided ones too, under 7 option sets picked by hand and 9 drawn from all."""
    drawn = random.Random(2).sample(list(all_options()), 9)
    voids = known = 0
    for number, game in enumerate([hearts_with(**options) for options in OPTIONS] + drawn):
        tokenizer = tokenizers.make(game)
        assert (tokenizer.n_features, sum(SIZES.values())) == (440, 440)
        played = one_sided(game, number, 12) if random_share is None else histories(game, number, 8, random_share)
        for hand, history in enumerate(played):
            for seat in {hand % 4, (hand // 4 + 1) % 4}:
                tokens = tokenizer.codec.encode(history[None], np.array([seat], np.uint8))
                features, possible = tokenizers.follow(tokenizer, tokens, True)
                reader = Reader(game.rules)
                for t, token in enumerate(tokens[0].tolist()):
                    if token == tokenizer.eos:
                        break
                    reader.read(token)
                    got = parts(features[0, t])
                    for name, value in as_rows(reader.expected(np.flatnonzero(possible[0, t]).tolist())).items():
                        assert np.array_equal(got[name], value), (
                            f"{name} of option set {number} {game.rules}, hand {hand}, seat {seat}, "
                            f"after {t + 1} tokens: {np.flatnonzero(got[name] != value)}"
                        )
                    voids += bool(got["void"].any())
                    known += bool(got["not held"].any() and not got["void"].any())
                assert reader.stage == "end"
    assert min(voids, known) > 500


@pytest.mark.parametrize("options", OPTIONS[:5])
def test_features_are_those_of_openspiels_states(options):
    """Of each decision what OpenSpiel itself says: hands, turn, the legal cards, points, the trick."""
    game = hearts_with(**options)
    tokenizer, ranks, suits = tokenizers.make(game), "23456789TJQKA", "CDHS"

    def numbers(names):
        return {ranks.index(c[0]) * 4 + suits.index(c[1]) for c in names}

    checked = 0
    for hand, history in enumerate(histories(game, 77, 6, 0.5)):
        actions = history[history != 255].tolist()
        state = game.spiel.new_initial_state()
        for at, action in enumerate([*actions, None]):
            if at > NUM_CARDS:
                struct = state.to_struct()
                for seat in range(PLAYERS):
                    tokens = tokenizer.encode(game.view(state, seat))
                    if state.is_terminal():
                        tokens = tokens[:-1]
                    got = parts(tokenizer.tracker(tokens).features())
                    where = f"hand {hand}, seat {seat}: {state.history()}"
                    hands = [numbers(names) for names in struct.hands]
                    assert set(np.flatnonzero(got["own"])) == hands[seat], where
                    playing = struct.phase == "Play"
                    others = set().union(*(hands[p] for p in range(PLAYERS) if p != seat))
                    if playing:
                        assert set(np.flatnonzero(got["unseen"])) == others, where
                        barred = got["not held"].reshape(3, 52)
                        for p in (1, 2, 3):
                            assert not barred[p - 1][list(hands[(seat + p) % PLAYERS])].any(), where
                        assert np.flatnonzero(got["turn"]).tolist() == [(state.current_player() - seat) % PLAYERS]
                        assert bool(got["broken"][0]) == (struct.hearts_broken or not game.rules["must_break_hearts"])
                    if state.current_player() == seat:
                        assert np.flatnonzero(got["next"]).tolist() == state.legal_actions(), where
                    checked += 1
            if action is not None:
                state.apply_action(action)
        assert state.is_terminal()
    assert checked > 1000


def test_before_any_token_all_cards_are_unseen_and_nothing_else_is_known():
    got = parts(tokenizers.make(hearts_with()).tracker([]).features())
    assert got.pop("unseen").all()
    assert not any(part.any() for part in got.values())


@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[2], OPTIONS[4], OPTIONS[5]])
def test_cards_not_held_are_all_there_is_to_know(options):
    """At endings with few hidden cards: the deals that OpenSpiel explains are just those that give no seat a card that
    it cannot hold by the features."""
    game = hearts_with(**options)
    tokenizer, rng = tokenizers.make(game), random.Random(5)
    checked = informed = 0
    for hand, history in enumerate([*histories(game, 5, 16, 0.5), *one_sided(game, 5, 12)]):
        actions = history[history != 255].tolist()
        cut, viewer = len(actions) - rng.randrange(5, 10), rng.randrange(PLAYERS)
        state = game.spiel.new_initial_state()
        for action in actions[:cut]:
            state.apply_action(action)
        unseen = unseen_cards(game, state, viewer)
        got = parts(tokenizer.tracker(tokenizer.encode(game.view(state, viewer))).features())
        assert np.flatnonzero(got["unseen"]).tolist() == unseen
        barred = got["not held"].reshape(3, 52)
        others = [p for p in range(PLAYERS) if p != viewer]
        played = [step.player for step in state.full_history()[len(actions) - NUM_CARDS :]]
        sizes = [13 - played.count(p) for p in others]
        found, every = set(), 0
        for first in combinations(unseen, sizes[0]):
            for second in combinations([c for c in unseen if c not in first], sizes[1]):
                owner = {c: others[0] if c in first else others[1] if c in second else others[2] for c in unseen}
                every += 1
                if not any(barred[(p - viewer) % PLAYERS - 1][c] for c, p in owner.items()):
                    found.add(tuple(owner[c] for c in unseen))
        assert found == assignments(game, state, viewer), f"hand {hand} from seat {viewer}: {state.history()}"
        checked += 1
        informed += len(found) < every
    assert checked == 28 and informed > 4


@pytest.mark.parametrize("options", OPTIONS)
def test_possible_is_what_may_be_pushed(options):
    """Token by token: a copy that goes on by it stays legal."""
    game = hearts_with(**options)
    tokenizer = tokenizers.make(game)
    for share in (0.0, 0.5, 1.0):
        for hand, history in enumerate(histories(game, 21, 4, share)):
            tokens = tokenizer.codec.encode(history[None], np.array([hand % 4], np.uint8))[0].tolist()
            tracker = tokenizer.tracker([])
            for t, token in enumerate(tokens[: tokens.index(tokenizer.eos)]):
                tracker.push(token)
                asked = []
                for candidate in range(len(tokenizer.vocab)):
                    copy = tracker.copy()
                    copy.push(candidate)
                    asked.append(copy.is_legal())
                assert tracker.possible().tolist() == asked, (
                    f"share {share}, hand {hand}, after {t + 1} tokens: {tokens}"
                )
                assert any(asked)
