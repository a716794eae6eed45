"""Features of Skat, against the plain Python twin of the rules."""

from __future__ import annotations

import numpy as np
import pytest
from support import skat_oracle as oracle
from support.skat_known import SIZES, STAGES, expected, split

from trickformer import _core, games, tokenizers
from trickformer.audit import views as audit
from trickformer.belief import sampler
from trickformer.games.skat import NUM_CARDS

CORE = _core.skat


@pytest.fixture(scope="module")
def skat():
    return games.load("skat")


@pytest.fixture(scope="module")
def tokenizer(skat):
    return tokenizers.make(skat)


@pytest.mark.slow
def test_features_are_the_twins(tokenizer):
    """At every decision and end of games of all kinds, for every seat."""
    assert (tokenizer.n_features, tokenizer.codec.tracker().n_features) == (sum(SIZES.values()), tokenizer.n_features)
    seen = np.zeros(tokenizer.n_features, bool)
    for policy in oracle.POLICIES:
        for seed in range(600, 608):
            trackers, heard = [tokenizer.tracker([]) for _ in range(3)], []
            told = [0] * 3
            for twin, action in oracle.playout(policy, seed):
                for seat, tracker in enumerate(trackers):
                    for word in twin.seen[seat][told[seat] :]:
                        tracker.push(tokenizer.vocab.index(word))
                    told[seat] = len(twin.seen[seat])
                    found = tracker.features()
                    wanted = expected(twin, seat, heard) | {"next": tracker.possible()[:NUM_CARDS]}
                    for name in ("script", "behind", "gain", "wins"):  # test_features.py and below look at them
                        wanted[name] = split(found)[name]
                    if not np.allclose(found, np.concatenate([wanted[name] for name in SIZES]), atol=1e-6):
                        wrong = [name for name, value in split(found).items() if not np.allclose(value, wanted[name])]
                        pytest.fail(f"{wrong}: policy {policy}, seed {seed}, seat {seat} after {twin.seen[seat]}")
                    seen |= found != 0
                if twin.stage == "auction" and action:
                    heard.append((twin.player, action))
    never = {name: np.flatnonzero(~hit).tolist() for name, hit in split(seen).items() if not hit.all()}
    # Nothing is decided while cards are dealt, taken or shown, or a leader is named; some rare numbers are missed.
    assert never.pop("stage") == [STAGES.index(s) for s in ("seat", "deal", "take", "show", "lead")]
    rare = {"bid class", "said", "skat", "void", "trumps out", "script", "at least", "behind", "gain", "wins"}
    assert set(never) <= rare, never


def test_what_the_script_thinks_of_cards(tokenizer):
    """Its choice is the best of what may be played. The last card of a trick leaves nothing to guess: who takes it, and
    with how many card points; those that decide the game count for more."""
    lasts = 0
    for policy in oracle.POLICIES:
        for seed in range(640, 660):
            trackers, told = [tokenizer.tracker([]) for _ in range(3)], [0] * 3
            for twin, _ in oracle.playout(policy, seed):
                for seat, tracker in enumerate(trackers):
                    for word in twin.seen[seat][told[seat] :]:
                        tracker.push(tokenizer.vocab.index(word))
                    told[seat] = len(twin.seen[seat])
                over = twin.result is not None
                found = split(trackers[0 if over else twin.player].features())
                thoughts = [found[name] for name in ("behind", "gain", "wins")]
                if twin.stage != "play" or over:
                    assert not any(part.any() for part in thoughts)
                    continue
                behind, gain, wins = thoughts
                legal = np.isin(oracle.DECK, twin.legal)
                assert found["script"][:NUM_CARDS] @ legal == 1 and behind @ found["script"][:NUM_CARDS] == 0
                assert (behind <= 0).all() and (behind >= -3).all() and not any(part[~legal].any() for part in thoughts)
                kind = twin.kind.replace("-ouvert", "")
                if kind == "null":
                    assert not gain.any() and not wins.any()
                    continue
                assert ((wins >= 0) & (wins <= 1)).all()
                if len(twin.played) % 3 < 2:
                    continue
                first, second = twin.played[-2:]
                for card in twin.legal:
                    plays = [first, second, (twin.player, card)]
                    ranks = oracle.order(kind, first[1])
                    best = min((p for p in plays if p[1] in ranks), key=lambda p: ranks.index(p[1]))[0]
                    own = (best == twin.soloist) == (twin.player == twin.soloist)
                    points, at = sum(oracle.POINTS[c[1]] for _, c in plays), oracle.DECK.index(card)
                    assert wins[at] == own and (gain[at] > 0) == (own and gain[at] != 0)
                    extra = abs(gain[at]) * 30 - points
                    assert min(abs(extra - n) for n in (0, 11.8, 13)) < 1e-3
                    lasts += 1
    assert lasts > 200


def test_features_are_the_same_whoever_asks(tokenizer):
    """Along whole sequences, token by token, and of many that grow; an open hand being shown and the end among them."""
    history, _ = CORE.random_games(True, 3, 0, 40)
    rows = tokenizer.codec.encode(history, (np.arange(40) % 3).astype(np.uint8))
    features, possible = tokenizers.follow(tokenizer, rows, True)
    lengths = (rows != tokenizer.eos).sum(axis=1).astype(np.int32)
    seats = _core.Seats(tokenizer.tracker([]), 40)
    pushed = seats.push(np.arange(40, dtype=np.int32), rows[rows != tokenizer.eos].astype(np.int32), lengths)
    assert np.array_equal(pushed, np.concatenate([features[i, :n] for i, n in enumerate(lengths)]))
    assert np.isfinite(features).all() and np.abs(features).max() <= 3
    for i, n in enumerate(lengths):
        tracker = tokenizer.tracker([])
        for t in range(n):
            tracker.push(int(rows[i, t]))
            assert np.array_equal(tracker.features(), features[i, t])
            assert np.array_equal(tracker.possible(), possible[i, t])
        assert not features[i, n:].any() and not possible[i, n:].any()


def test_features_do_not_depend_on_hidden_cards(skat, tokenizer):
    seen = {
        "features": lambda state, seat: tokenizer.tracker(tokenizer.encode(skat.view(state, seat))).features().tolist()
    }
    report = audit.audit(skat, sampler(skat), 25, 3, observers=seen, worlds=1)
    check = report.check("features: blind to exchanged cards")
    assert check.cases > 100 and not check.faults
