"""The example package: its rules against a twin, its tracker against brute force, and all that trickformer does with a
game, through the entry points of an installed package alone."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from support import oh_hell_twin as twin

from trickformer import games, players, tokenizers
from trickformer.audit import views as audit
from trickformer.base import PUBLIC, Event, TrickformerError, UnknownNameError, View
from trickformer.belief import sampler
from trickformer.plumbing import plugins

pytestmark = pytest.mark.usefixtures("installed")
SPECS = [f"oh_hell(players={p},cards={c})" for p, c in product((3, 4, 5), (1, 2, 5, 10))]
SMALL = "oh_hell(players=3,cards=3)"


def words(game, state):
    """The twin of a state whose cards are dealt."""
    deck, size = state.history()[: game.players * game.cards + 1], game.cards
    hands = [[twin.DECK[c] for c in deck[size * p : size * (p + 1)]] for p in range(game.players)]
    return twin.Twin(hands, twin.DECK[deck[-1]])


def word(action):
    return twin.DECK[action] if action < 52 else action - 52


def compared(game, state, other, choose):
    """Plays a state and its twin to the end and compares them at each step. Returns the actions."""
    actions = []
    while not state.is_terminal():
        assert state.current_player() == other.turn()
        legal = state.legal_actions()
        assert {word(a) for a in legal} == other.choices() and legal == sorted(set(legal))
        actions.append(choose(legal))
        state.apply_action(actions[-1])
        other.do(word(actions[-1]))
    assert other.turn() is None and game.scores(state) == other.scores()
    assert state.returns() == list(other.scores())
    return actions


def test_a_state_tells_tricks_winners_and_scores():
    game, rng = games.load(SMALL), random.Random(1)
    for index in range(20):
        state = game.deal(3, index)
        compared(game, state, words(game, state), rng.choice)
        text = game.describe(state)
        won = [int(seat) for seat in re.findall(r"^trick \d: .*, won by seat (\d)$", text, re.MULTILINE)]
        assert [won.count(seat) for seat in range(3)] == state.taken and len(won) == 3
        assert text.endswith("scores " + " ".join(map(str, game.scores(state))))


@pytest.mark.parametrize("spec", SPECS)
def test_random_deals_are_those_of_the_twin(spec):
    game, rng = games.load(spec), random.Random(1)
    for index in range(40):
        state = game.deal(3, index)
        line = compared(game, state, words(game, state), rng.choice)
        assert len(line) == game.players * (game.cards + 1)  # bids and cards


@pytest.mark.parametrize(("players_", "cards", "least"), [(3, 1, 10), (4, 1, 24), (3, 2, 200)])
def test_every_line_of_small_deals_is_that_of_the_twin(players_, cards, least):
    """All bids and plays; and all results that occur are outcomes. With one card there are 2^n bids but for n."""
    game, lines = games.load(f"oh_hell(players={players_},cards={cards})"), 0

    def walk(state, line):
        nonlocal lines
        if state.is_terminal():
            lines, rest = lines + 1, iter(line)
            assert compared(game, start.clone(), words(game, start), lambda _: next(rest)) == line
            assert [game.outcomes.of(game.scores(state), p) for p in range(game.players)]
            return
        for action in state.legal_actions():
            walk(state.child(action), [*line, action])

    for index in range(2):
        start = game.deal(5, index)
        walk(start, [])
    assert lines == least if cards == 1 else lines > least


def test_outcomes_are_the_results_that_can_be():
    """Of all bids that are allowed and all ways to share the tricks out."""
    for players_, cards in ((3, 1), (3, 4), (4, 3), (5, 2)):
        game, found = games.load(f"oh_hell(players={players_},cards={cards})"), set()
        numbers = list(product(range(cards + 1), repeat=players_))
        tricks = [t for t in numbers if sum(t) == cards]
        for bids in (b for b in numbers if sum(b) != cards):
            found |= {tuple(10 + b if b == t else 0 for b, t in zip(bids, taken)) for taken in tricks}
        impossible = set(game.outcomes.labels) - found
        # Of one card two cannot fail while the others make 0: their bids would be 0 and 1, which add up.
        assert found < set(game.outcomes.labels) if cards == 1 else not impossible
        assert all(sorted(label) == [0, 0, *[10] * (players_ - 2)] for label in impossible)
        own, *others = game.outcomes.labels[-1]
        assert game.outcomes.values[-1, 0] == pytest.approx((own - np.mean(others)) / 20)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_tokens_tell_the_view_and_back(spec):
    game = games.load(spec)
    tokenizer, rng, longest = tokenizers.make(game), random.Random(2), 0
    for index in range(2):
        state = game.deal(4, index)
        while True:
            for seat in range(game.players):
                view = game.view(state, seat)
                tokens = tokenizer.encode(view)
                tracker = tokenizer.tracker(tokens)
                longest = max(longest, len(tokens))
                assert tokens.dtype == np.int32 and tokenizer.decode(tokens) == view.events
                assert tracker.is_legal() and tracker.terminal() == state.is_terminal()
                assert tracker.my_turn() == bool(view.legal)
                assert np.flatnonzero(tracker.legal()).tolist() == [tokenizer.token(a) for a in view.legal]
                assert len(tracker.features()) == tokenizer.n_features and tracker.features().dtype == np.float32
                if state.is_terminal():
                    assert tracker.outcome() == game.outcomes.of(game.scores(state), seat)
            if state.is_terminal():
                break
            state.apply_action(rng.choice(state.legal_actions()))
    assert longest == tokenizer.n_positions
    for wrong in ([], [0], tokens[: 1 + game.cards], np.append(tokens[:-1], 0), np.append(tokens, tokenizer.eos)):
        with pytest.raises(ValueError):
            tokenizer.decode(np.array(wrong, np.int32))
    with pytest.raises(ValueError):
        tokenizer.encode(game.view(state, PUBLIC))


def known_voids(game, view):
    """Each other seat's cards and the suits that it may still hold, and the cards unseen, from the events."""
    own, turned = view.events[0].seen, view.events[1].action
    plays = [(e.actor, twin.DECK[e.action]) for e in view.events[2:] if e.action < 52]
    suits = {p: set("CDHS") for p in range(game.players)}
    for i, (seat, card) in enumerate(plays):
        led = plays[i - i % game.players][1][1]
        if card[1] != led:
            suits[seat].discard(led)
    left = {p: game.cards - sum(seat == p for seat, _ in plays) for p in range(game.players) if p != view.viewer}
    seen = {twin.DECK[c] for c in own} | {twin.DECK[turned]} | {card for _, card in plays}
    led = plays[len(plays) - len(plays) % game.players][1][1] if len(plays) % game.players else None
    return left, suits, set(twin.DECK) - seen, led


@pytest.mark.parametrize(("spec", "checks"), [("oh_hell(players=5,cards=10)", 150), ("oh_hell(players=4,cards=8)", 60)])
def test_the_tracker_allows_exactly_what_some_deal_does(spec, checks):
    """Each card of another seat's turn, against a search for a deal by augmenting paths. With 51 of 52 cards dealt the
    suits run short; seats that discard when they can make more voids."""
    game, checked, refused = games.load(spec), 0, 0
    tokenizer, rng = tokenizers.make(game), random.Random(7)
    for index in range(30):
        state = game.deal(9, index)
        while not state.is_terminal() and checked < checks:
            seat, legal = state.current_player(), state.legal_actions()
            plays = len(state.history()) - game.players * (game.cards + 1) - 1
            viewer = (seat + 1) % game.players
            if plays > 8 and rng.random() < 0.15:
                view = game.view(state, viewer)
                left, suits, unseen, led = known_voids(game, view)
                possible = np.flatnonzero(tokenizer.tracker(tokenizer.encode(view)).possible())
                expected = set()
                for card in unseen:
                    if card[1] not in suits[seat]:
                        continue
                    after = suits[seat] - ({led} if led and card[1] != led else set())
                    needs = [(n - (p == seat), after if p == seat else suits[p]) for p, n in left.items()]
                    if twin.can_be_dealt(needs, unseen - {card}):
                        expected.add(card)
                    elif card[1] in suits[seat]:
                        refused += 1
                assert {twin.DECK[t] for t in possible} == expected, f"deal {index}, {state}"
                checked += 1
            state.apply_action(rng.choice(legal))
    assert checked == checks
    if "cards=10" in spec:
        assert refused > 0


def test_a_history_that_cannot_be_goes_on_to_an_end():
    game = games.load(SMALL)
    tokenizer, rng = tokenizers.make(game), np.random.default_rng(1)
    for _ in range(200):
        tracker = tokenizer.tracker([])
        twins, pushed = [], 0
        while not tracker.terminal():
            twins.append(tracker.copy())
            tracker.push(int(rng.integers(len(tokenizer.vocab))))
            pushed += 1
            assert tracker.features().shape == (tokenizer.n_features,) and tracker.possible().dtype == bool
        assert pushed == tokenizer.n_positions and not tracker.is_legal() and tracker.outcome() is None
        assert twins[0].is_legal() and not twins[0].terminal()


@pytest.mark.slow
def test_sampled_worlds_are_uniform_over_the_deals_that_explain_the_view():
    """By enumeration, after a trick of a game with two cards each: a pair of cards for the two others."""
    game, rng, tested = games.load("oh_hell(players=3,cards=2)"), random.Random(3), 0
    belief = sampler(game)
    for index in range(40):
        state = game.deal(6, index)
        while len(state.history()) < 7 + 3 + 3:
            state.apply_action(rng.choice(state.legal_actions()))
        viewer = state.current_player()
        view = game.view(state, viewer)
        _, suits, unseen, _ = known_voids(game, view)
        others = [(viewer + 1) % 3, (viewer + 2) % 3]
        if sum(len(suits[p]) for p in others) > 6:  # two voids at least
            continue
        pairs = [(a, b) for a in unseen for b in unseen - {a} if a[1] in suits[others[0]] and b[1] in suits[others[1]]]
        belief.reset(view)
        worlds = belief.sample(8 * len(pairs), np.random.default_rng(index))
        counts = dict.fromkeys(pairs, 0)
        played = {e.action for e in view.events}
        for row in worlds.hidden.tolist():
            held = [[c for c in row[2 * p : 2 * p + 2] if c not in played] for p in others]
            counts[tuple(twin.DECK[cards[0]] for cards in held)] += 1  # another pair would be a KeyError
        chi = sum((n - 8) ** 2 / 8 for n in counts.values())
        assert abs(chi - (len(pairs) - 1)) < 4 * np.sqrt(2 * (len(pairs) - 1)), f"deal {index}: {chi} of {len(pairs)}"
        assert np.isfinite(belief.log_prob(belief.truth(state))).all()
        assert len({tuple(row) for row in worlds.hidden.tolist()}) > len(pairs) / 2
        again = belief.sample(5, np.random.default_rng(index)).hidden
        assert np.array_equal(again, belief.sample(5, np.random.default_rng(index)).hidden)
        tested += 1
        if tested == 2:
            return
    raise AssertionError("no such endgame was found")


def test_a_world_that_does_not_explain_the_view_has_no_probability():
    game = games.load(SMALL)
    belief, state = sampler(game), game.deal(1, 1)
    belief.reset(game.view(state, 0))
    worlds = belief.sample(3, np.random.default_rng(0))
    assert (belief.log_prob(worlds) == 0).all()
    worlds.hidden[0, 0] = worlds.hidden[0, 4]
    worlds.hidden[1, [0, 4]] = worlds.hidden[1, [4, 0]]
    assert belief.log_prob(worlds).tolist() == [-np.inf, -np.inf, 0]


@pytest.mark.slow
def test_the_audit_finds_no_fault():
    for spec in (SMALL, "oh_hell(players=5,cards=4)"):
        report = audit.command(audit.Audit(game=spec, deals=4, seed=1))
        assert report.good, str(report)
        assert len(report.checks) == 22


class Leaky:
    """Shows every seat a card of the next."""

    def __init__(self, game):
        self.game, self.sound = game, type(game).view

    def __call__(self, state, viewer):
        view = self.sound(self.game, state, viewer)
        shown = state.history()[self.game.cards * ((viewer + 1) % self.game.players)]
        return View(viewer, (*view.events, Event(-1, None, (shown,))), view.legal)


def test_the_audit_finds_a_view_that_shows_a_card():
    game = games.load(SMALL)
    leaky = Leaky(game)
    seen = {"view": leaky}
    report = audit.audit(game, sampler(game), 4, 0, observers=seen)
    assert report.check("view: blind to exchanged cards").faults > 0


def test_the_bidder_keeps_the_contract_of_a_player_and_beats_random(command):
    code, out, err = command("tournament", SMALL, "--a", "bidder", "--b", "random", "--deals", 40, "--json")
    assert code == 0, err
    assert json.loads(out)["rows"]["All"]["ci95"][0] > 0
    code, out, _ = command("players")
    assert any(line.startswith("bidder ") and "a scripted player of Oh Hell" in line for line in out.splitlines())
    assert "    boldness=0.0  Tricks added" in command("players", "bidder")[1]
    assert "bidder" in players.names() and "oh_hell" in plugins.names(plugins.GAMES)
    with pytest.raises(TrickformerError, match="'bidder' plays oh_hell only, not hearts"):
        players.make("bidder", games.load("hearts"))
    assert players.resolve("bidder:boldness=1") == "bidder:boldness=1.0"


@pytest.fixture(scope="module")
def trained(tmp_path_factory, installed):
    """A model that began with random hands and nothing else, by the command line, in a process of its own."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    sizes = {"bootstrap-hands": 400, "iterations": 1, "sequences": 300, "held-out": 60, "tables": 150, "match-deals": 2}
    options = [f"--{key}={value}" for key, value in sizes.items()]
    train = [sys.executable, "-W", "error", "-m", "trickformer", "train", SMALL, "--preset", "tiny"]
    done = subprocess.run([*train, *options, "--out", str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(folder / "model-1")
    return folder


@pytest.mark.slow
def test_training_begins_with_players_of_the_game(trained):
    text = (trained / "config.toml").read_text()
    assert 'bootstrap = ["random"]' in text and 'baseline = "random"' in text and "seats_kept = 3" in text
    entries = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]
    measured = [e for e in entries if e["stage"] == "measure"]
    assert len(measured) == 2 and all(e["illegal_rate"] == 0 and "regret" in e for e in measured)
    assert {e["opponent"] for e in entries if e["stage"] == "match"} == {"previous", "baseline"}


@pytest.mark.slow
def test_a_trained_model_beats_random(trained, command):
    """The number of deals was fixed beforehand; a deal with its six seatings is one sample."""
    argmax = f"argmax:checkpoint={trained / 'model-1'}"
    code, out, err = command("tournament", SMALL, "--a", argmax, "--b", "random", "--deals", 100, "--seed", 1, "--json")
    assert code == 0, err
    low, high = json.loads(out)["rows"]["All"]["ci95"]
    assert 0 < low < high


@pytest.mark.slow
@pytest.mark.parametrize(
    "player", ["argmax", "imitation", "gomcts:runs=6", "pimc:worlds=3", "rollout:worlds=3", "ismcts:runs=6", "spiel"]
)
def test_every_player_sits_down(player, trained, command):
    name, _, options = player.partition(":")
    if name in ("argmax", "imitation", "gomcts"):
        options = ",".join(filter(None, [options, f"checkpoint={trained / 'model-1'}"]))
    spec = f"{name}:{options}" if options else name
    match = ["tournament", SMALL, "--a", spec, "--b", spec, "--deals", 2, "--json"]
    code, out, err = command(*match)
    assert code == 0, err
    found = json.loads(out)
    assert found["rows"]["All"]["difference"] == 0 and found["higher_is_better"]
    if name == "gomcts":
        assert found["illegal"]["a"] == {"illegal": 0, "searched": found["illegal"]["a"]["searched"]}
        assert found["illegal"]["a"]["searched"] > 0


def test_pimc_values_actions_by_the_mean_of_what_they_end_in():
    game = games.load("oh_hell(players=3,cards=2)")
    pimc = players.make("pimc:worlds=40,runs=2", game)
    ace, king, queen, two = (twin.DECK.index(c) for c in ("AH", "KH", "QD", "2C"))
    rest = [c for c in range(52) if c not in (ace, king, queen, two)]
    for last, bids in ((queen, (0, 0, 1)), (two, (0, 1, 2))):  # seat 0 holds the highest trump, and must win with it
        state = game.spiel.new_initial_state()
        for card in (king, last, *rest[:4], ace):
            state.apply_action(card)
        for bid in bids:
            state.apply_action(52 + bid)
        (decision,) = pimc.act([game.view(state, 0)], [np.random.default_rng(1)], [{}])
        assert decision.visits == dict.fromkeys((king, last), 80) or decision.visits == dict.fromkeys((last, king), 80)
        assert decision.value < 0  # the bid of 0 cannot be made, and another may be
    state = game.spiel.new_initial_state()
    for card in (king, two, *rest[:4], ace):
        state.apply_action(card)
    (decision,) = pimc.act([game.view(state, 0)], [np.random.default_rng(1)], [{}])
    assert decision.action == 52 + 1 and decision.value > 0  # of all bids: the king takes one trick, the two hardly one
    for bid in (1, 0, 0):
        state.apply_action(52 + bid)
    state.apply_action(two)
    done = game.view(state, 1)
    (forced,) = pimc.act([View(1, done.events, done.legal[:1])], [np.random.default_rng(1)], [{}])
    assert forced.action == done.legal[0] and forced.visits is None


@pytest.mark.slow
def test_workers_find_the_installed_game(tmp_path, installed):
    """Processes that are spawned, and the records that one process writes."""
    match = [sys.executable, "-m", "trickformer", "tournament", SMALL, "--a", "bidder", "--b", "random", "--deals", "4"]
    records = []
    for workers in ("1", "2"):
        folder = tmp_path / workers
        done = subprocess.run([*match, "--workers", workers, "--out", folder], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
        records.append(sorted((r["deal"], r["seating"], r["scores"], r["history"]) for r in lines))
    assert records[0] == records[1] and len(records[0]) == 4 * 6


def test_a_game_without_tokens_is_played_and_audited_but_not_learned(monkeypatch, command, tmp_path):
    monkeypatch.setattr(type(games.load("oh_hell")), "tokenizer", lambda self: None)
    report = audit.command(audit.Audit(game=SMALL, deals=3, seed=1))
    assert report.good and not any(name.startswith(("tokens", "features", "tracker")) for name in report.checks)
    code, _, err = command("tournament", SMALL, "--a", "pimc:worlds=2", "--b", "random", "--deals", 1, "--json")
    assert code == 0, err
    code, _, err = command("train", SMALL, "--preset", "tiny", "--out", tmp_path / "run")
    assert code == 2 and err.startswith("error: no model plays oh_hell: it has no tokenizer") and err.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["audit", "oh_hel"], "unknown game 'oh_hel'; choose from: crew, hanabi, hearts, mines, oh_hell, skat"),
        (["audit", "oh_hell(players=6)"], "option players of oh_hell is 3 to 5, not 6"),
        (["audit", "oh_hell(cards=True)"], "option cards of oh_hell is 1 to 10, not True"),
        (["audit", "oh_hell(colour=1)"], "unknown option of oh_hell 'colour'"),
        (["train", "oh_hel"], "unknown game 'oh_hel'"),
        (["train", SMALL, "--quick"], "leave out --rollout-network"),
        (["train", SMALL, "--label-worlds"], "leave out --label-worlds"),
        (["tournament", SMALL, "--a", "biddr", "--b", "random"], "unknown player 'biddr'; choose from"),
        (["tournament", SMALL, "--a", "rules", "--b", "random"], "player 'rules' plays hearts, skat, crew only"),
        (["tournament", SMALL, "--a", "pimc:nodes=3", "--b", "random"], "player 'pimc': nodes=3 is for crew"),
        (["tournament", SMALL, "--a", "argmax", "--b", "random"], "no checkpoint is shipped for oh_hell"),
    ],
)
def test_bad_input_is_one_line(command, arguments, says, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out, err = command(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("error: ") and says in err
    assert list(tmp_path.iterdir()) == []


def _distribution(folder, name, points):
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)


def test_a_package_that_is_broken_is_named(tmp_path, monkeypatch, command):
    broken = "nowhere = no.such.module\ntwice = a\ntorn = torn\nempty = void"
    _distribution(tmp_path, "one", f"[trickformer.games]\n{broken}\n[trickformer.players]\ntorn = torn\nempty = void\n")
    (tmp_path / "torn.py").write_text("1 +")
    (tmp_path / "void.py").write_text("")
    _distribution(tmp_path, "two", "[trickformer.games]\ntwice = b\n[trickformer.players]\nhearts = x\nrandom = y\n")
    monkeypatch.syspath_prepend(tmp_path)
    for game, says in (
        ("nowhere", "cannot be imported: ModuleNotFoundError: No module named"),
        ("torn", "cannot be imported: SyntaxError: invalid syntax"),
        ("empty", "'empty' of trickformer.games (void) does not export load"),
        ("twice", "one and two both declare 'twice'"),
    ):
        code, out, err = command("audit", game)
        assert (code, out, err.count("\n")) == (2, "", 1) and says in err
    code, out, err = command("players")
    assert code == 0 and not err and "\nrandom " in out and "'empty' of trickformer.players (void)" in out
    code, out, err = command("tournament", "hearts", "--a", "empty", "--b", "random")
    assert (code, out, err.count("\n")) == (2, "", 1) and "does not export Options and make" in err
    for name in ("torn", "void"):
        sys.modules.pop(name, None)
    assert games.load("hearts").name == "hearts" and players.module("random").__name__ == "trickformer.players.random"
    assert players.names().count("random") == 1
    with pytest.raises(UnknownNameError, match="nowhere"):
        games.load("elsewhere")


@pytest.mark.slow
def test_the_seed_and_index_name_one_deal():
    """Whoever deals: the tournament, and the tables of self-play."""
    game = games.load(SMALL)
    tables = tokenizers.bulk(game).tables(5, 2, 3)
    for i, row in enumerate(tables.history().tolist()):
        assert row == game.deal(5, 2 + i).history()
    decks = {tuple(game.deal(5, i).history()) for i in range(50)}
    assert len(decks) == 50
    state = game.spiel.new_initial_state()
    while state.is_chance_node():
        state.apply_action(game.chance(state, 5, 7))
    assert state.history() == game.deal(5, 7).history()
    first = np.bincount([game.deal(8, i).history()[0] for i in range(2600)], minlength=52)
    assert ((first - 50) ** 2 / 50).sum() < 93  # chi-square, 51 degrees of freedom, p = 0.0003


def test_the_page_shows_the_code_that_stands():
    """Every block of Python in docs/add-a-*.md is in the package, line by line, or in the Leduc poker of the tests, and
    every command of it is here."""
    from pathlib import Path

    root = Path(__file__).parents[2]
    page = "\n".join(path.read_text() for path in sorted((root / "docs").glob("add-a-*.md")))
    files = [p for kind in ("*.py", "*.toml") for p in sorted((root / "examples").rglob(kind))]
    files.append(root / "tests" / "support" / "leduc.py")
    code = "\n".join(p.read_text() for p in files)
    blocks = re.findall(r"```(?:python|toml)\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 4
    lines = {line.strip() for line in code.splitlines()}
    for line in "\n".join(blocks).splitlines():
        assert line.strip() in lines | {"", "..."}, line
