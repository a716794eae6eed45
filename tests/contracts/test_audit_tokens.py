"""The audit names each way in which a tokenizer, its trackers or the list of outcomes can be wrong, and whose fault it
is: planted in Oh Hell, one at a time. What it says of sound games is in test_audit.py and test_oh_hell.py."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest

from trickformer import games
from trickformer.audit import views as audit
from trickformer.audit.tokens import (
    AGAIN,
    COPIES,
    EXPECTS,
    FIT,
    FORM,
    IMAGINED,
    IMPOSSIBLE,
    INVERSE,
    OUTCOME,
    PREFIX,
    SIZES,
    TURN,
)
from trickformer.audit.views import EXTENDS, LEGAL
from trickformer.base import Outcomes, TrickformerError, View
from trickformer.belief import sampler

pytestmark = pytest.mark.usefixtures("installed")
SPEC = "oh_hell(players=3,cards=2)"
SEED = 5


def audited(game):
    """A short audit, with the sampler of the sound game."""
    sound = games.load(SPEC)
    worlds = audit.from_belief(sound, sampler(sound))

    def sample(state, view, n, rng):
        return worlds(state, sound.view(state, view.viewer), n, rng)

    return audit.audit(game, sample, 6, SEED, worlds=2)


def faults(report):
    return {c.name: c.example or "" for c in report.checks.values() if c.faults}


def oh_hell(tracker=None, tokenizer=None, game=None):
    """Oh Hell with members of the three classes replaced: each is given as a function of the sound class."""
    from oh_hell.game import OhHell
    from oh_hell.tokenizer import OhHellTokenizer, OhHellTracker

    tracking = type("Faulty", (OhHellTracker,), tracker(OhHellTracker) if tracker else {})

    def follow(self, tokens):
        found = tracking(self)
        for token in tokens:
            found.push(int(token))
        return found

    tokens = type("Tokens", (OhHellTokenizer,), {"tracker": follow} | (tokenizer(OhHellTokenizer) if tokenizer else {}))
    rules = type("Rules", (OhHell,), {"tokenizer": lambda self: tokens(self)} | (game(OhHell) if game else {}))
    return rules(games.load(SPEC).spiel)


def masked(method, change):
    """A tracker whose mask is changed in place."""

    def of(sound):
        def mask(self):
            found = getattr(sound, method)(self)
            change(self, found)
            return found

        return {method: mask}

    return of


def without_first(tracker, mask):
    if tracker.my_turn():
        mask[np.flatnonzero(mask)[:1]] = False


def without_last(tracker, mask):
    mask[np.flatnonzero(mask)[-1:]] = False


def cleared(tracker, mask):
    mask[:] = False


def refusing(sound):
    def push(self, token):
        if token not in self._possible():
            raise RuntimeError("boom\nand more")
        sound.push(self, token)

    return {"push": push}


def failing(sound):
    def push(self, token):
        if self._at == 4:
            raise KeyError("a card")
        sound.push(self, token)

    return {"push": push}


def forgetful(sound):
    """What a history of bids has said, a play clears."""

    def push(self, token):
        sound.push(self, token)
        if self._at > 7:
            self._legal = True

    return {"push": push}


def ends_late(sound):
    return {"terminal": lambda self: False}


def ends_early(sound):
    return {"terminal": lambda self: self._at >= self._tokenizer.n_positions - 3}


def early_outcome(sound):
    return {"outcome": lambda self: sound.outcome(self) if self.terminal() else None}


def other_error(sound):
    def outcome(self):
        if not self.terminal():
            raise KeyError("not yet")
        return sound.outcome(self)

    return {"outcome": outcome}


def result(says):
    """A tracker with another outcome of hands that are over and legal."""

    def of(sound):
        def outcome(self):
            found = sound.outcome(self)
            return found if found is None else says(found)

        return {"outcome": outcome}

    return of


def features(says):
    return lambda sound: {"features": lambda self: says(sound.features(self))}


def not_a_number(found):
    found[3] = np.nan
    return found


def missing(sound):
    def legal(self):
        raise AttributeError("'Faulty' object has no attribute 'legal'")

    return {"legal": property(legal)}


TRACKERS = {
    "what comes is not possible": (masked("possible", without_last), EXPECTS, r"possible\(\) lacks token \d+ \('"),
    "a legal action is missing": (masked("legal", without_first), TURN, r"legal\(\) has the tokens .* legal actions"),
    "nothing is legal": (masked("legal", cleared), TURN, r"my_turn\(\) is True, and legal\(\) has the tokens \[\]"),
    "never its turn": (lambda sound: {"my_turn": lambda self: False}, TURN, r"my_turn\(\) is False, and the seat"),
    "always its turn": (lambda sound: {"my_turn": lambda self: True}, TURN, "is True, and .* is not the seat's action"),
    "legal where it is not on turn": (
        lambda sound: {"legal": lambda self: self.possible()},
        TURN,
        r"my_turn\(\) is False, and legal\(\) has",
    ),
    "a copy is the original": (lambda sound: {"copy": lambda self: self}, COPIES, "the tracker itself"),
    "a copy shares its lists": (lambda sound: {"copy": copy.copy}, COPIES, r"have changed the \w+\(\) of its original"),
    "a copy is at another place": (
        lambda sound: {"copy": lambda self: type(self)(self._tokenizer)},
        COPIES,
        r"a copy gives another \w+\(\)",
    ),
    "an impossible token raises": (
        refusing,
        IMPOSSIBLE,
        r"push\(\d+\) of an impossible token raises RuntimeError: boom;",
    ),
    "a token that comes raises": (failing, EXPECTS, r"push\(\d+\) raises KeyError: 'a card';"),
    "an impossible token is not marked": (
        lambda sound: {"is_legal": lambda self: True},
        IMPOSSIBLE,
        r"is_legal\(\) is True after token",
    ),
    "a mark is forgotten": (forgetful, IMPOSSIBLE, r"is_legal\(\) is True after token"),
    "what comes is marked": (
        lambda sound: {"is_legal": lambda self: sound.is_legal(self) and self._at < 6},
        EXPECTS,
        r"is_legal\(\) is False after token",
    ),
    "no end": (ends_late, IMPOSSIBLE, r"terminal\(\) is False at n_positions = 14 tokens"),
    "an early end": (ends_early, OUTCOME, r"terminal\(\) is True, and the hand goes on"),
    "an end among the cards": (
        lambda sound: {"terminal": lambda self: sound.terminal(self) or self._at == 2},
        EXPECTS,
        r"terminal\(\) is True before token",
    ),
    "possible tokens are marked": (
        lambda sound: {"is_legal": lambda self: sound.is_legal(self) and (0 not in self.bids or self._at < 12)},
        IMAGINED,
        r"is_legal\(\) is False after token \d+ .*, which possible\(\) allows",
    ),
    "possible tokens without an end": (
        lambda sound: {
            "possible": lambda self: (
                sound.possible(self) if not sound.terminal(self) else np.arange(len(self.legal())) < 1
            ),
            "terminal": lambda self: sound.terminal(self) and not self.is_legal(),
        },
        IMAGINED,
        r"possible tokens go on after n_positions = 14",
    ),
    "one outcome for all": (result(lambda found: 0), OUTCOME, r"outcome\(\) is 0, scores \(.*\), not \d+, scores \("),
    "no outcome": (result(lambda found: None), OUTCOME, r"outcome\(\) is None, not \d+"),
    "an outcome that is none": (result(lambda found: 10**6), OUTCOME, r"outcome\(\) is 1000000, not \d+"),
    "an outcome before the end": (early_outcome, OUTCOME, r"outcome\(\) gives None before the end"),
    "an outcome before the end raises another": (other_error, OUTCOME, "raises KeyError: 'not yet', not ValueError"),
    "features of double precision": (features(lambda f: f.astype(float)), FORM, r"gives float64 \[\d+\], not float32"),
    "features too few": (features(lambda f: f[1:]), FORM, r"gives float32 \[\d+\], not float32 \[\d+\]"),
    "features that are no numbers": (features(not_a_number), FORM, r"features\(\) has nan at 3"),
    "a mask of numbers": (
        lambda sound: {"possible": lambda self: sound.possible(self).astype(int)},
        FORM,
        r"possible\(\) gives int64 \[\d+\], not bool",
    ),
    "a mask too short": (lambda sound: {"legal": lambda self: np.zeros(5, bool)}, FORM, r"legal\(\) gives bool \[5\]"),
    "a mask that is a list": (lambda sound: {"legal": lambda self: []}, FORM, r"legal\(\) gives list, not bool"),
    "no such method": (missing, FORM, "'Faulty' object has no attribute 'legal'"),
}


def check(game, row, says, place):
    report = audited(game)
    assert not report.good
    found = faults(report)
    assert row in found, f"seed {SEED}: {report}"
    assert re.search(says, found[row]), found[row]
    assert re.match(place, found[row]), found[row]
    return found


HERE = r"deal \d+, seat [0-2], after \d+ tokens: .*; history( \d+)+$"


@pytest.mark.slow
@pytest.mark.parametrize("name", TRACKERS)
def test_it_finds_what_is_wrong_with_a_tracker(name):
    tracker, row, says = TRACKERS[name]
    check(oh_hell(tracker=tracker), row, says, HERE)


def test_a_seat_with_a_fault_is_followed_no_further_in_the_hand():
    report = audited(oh_hell(tracker=refusing))
    assert set(faults(report)) == {IMPOSSIBLE}
    assert report.check(IMPOSSIBLE).faults <= 6 * 3


def encoded(change):
    """A tokenizer whose tokens are changed."""
    return lambda sound: {"encode": lambda self, view: change(self, sound.encode(self, view))}


def decoded(change):
    return lambda sound: {"decode": lambda self, tokens: change(sound.decode(self, tokens))}


def raising(method):
    def of(sound):
        def fails(self, given):
            raise RuntimeError("boom\nand more")

        return {method: fails}

    return of


def trusting(sound):
    """Takes any tokens for a view."""

    def decode(self, tokens):
        try:
            return sound.decode(self, tokens)
        except ValueError:
            return ()

    return {"decode": decode}


def strict(sound):
    def decode(self, tokens):
        try:
            return sound.decode(self, tokens)
        except ValueError:
            raise KeyError("no view") from None

    return {"decode": decode}


def turning(sound):
    """Lists the own cards the other way round once all have bid."""

    def encode(self, view):
        tokens = sound.encode(self, view)
        if len(tokens) > 6:
            tokens[1:3] = tokens[2:0:-1]
        return tokens

    def decode(self, tokens):
        if not set(tokens.tolist()) <= set(range(len(self.vocab))) or self.eos in tokens[:-1]:
            raise ValueError("no view")
        return sound.decode(self, np.concatenate([tokens[:1], np.sort(tokens[1:3]), tokens[3:]]))

    return {"encode": encode, "decode": decode}


def late(sound):
    """What it is made of tokens is one token behind."""

    def tracker(self, tokens):
        return sound.tracker(self, tokens[:-1] if len(tokens) > 3 else tokens)

    return {"tracker": tracker}


TOKENIZERS = {
    "two names": (lambda sound: {"vocab": ("one", "two")}, SIZES, r"eos is \d+, but vocab"),
    "too many names": (
        lambda sound: {"vocab": tuple(map(str, range(300)))},
        SIZES,
        "vocab has 300 names, 300 of them different, not 1 to 256",
    ),
    "a name twice": (lambda sound: {"vocab": ("a",) * 60}, SIZES, "60 names, 1 of them different"),
    "no n_positions": (lambda sound: {"n_positions": None}, SIZES, "n_positions is None, not a whole number from 1"),
    "no features_version": (lambda sound: {"features_version": ""}, SIZES, "features_version is ''"),
    "script_features beyond the features": (
        lambda sound: {"script_features": [10_000]},
        SIZES,
        r"script_features are \[10000\], not indices below \d+",
    ),
    "initial_embeddings of fewer positions": (
        lambda sound: {
            "initial_embeddings": lambda self: (np.eye(len(self.vocab), dtype=np.float32), np.zeros((3, 2), np.float32))
        },
        SIZES,
        r"initial_embeddings\(\) of positions are float32 \[3, 2\], not float32 \[14, any\]",
    ),
    "initial_embeddings fail": (
        lambda sound: {"initial_embeddings": lambda self: 1 / 0},
        SIZES,
        r"initial_embeddings\(\) raises ZeroDivisionError: division by zero",
    ),
    "n_positions too few": (
        encoded(lambda self, t: np.tile(t, 4)),
        FIT,
        r"encode\(\) gives 16 tokens, n_positions is 14",
    ),
    "n_features too few": (
        lambda sound: {"n_features": 5},
        FORM,
        r"features\(\) gives float32 \[\d+\], not float32 \[5\]",
    ),
    "tokens of 64 bits": (
        encoded(lambda self, t: t.astype(np.int64)),
        FIT,
        r"encode\(\) gives int64 \[\d\], not int32",
    ),
    "tokens in a list": (encoded(lambda self, t: t.tolist()), FIT, "gives list, not int32"),
    "a token that is none": (encoded(lambda self, t: t - 100), FIT, r"gives token -\d+, but vocab has the tokens 0 to"),
    "no end token": (encoded(lambda self, t: t[t != self.eos]), FIT, "the end token stands last.* no place"),
    "an early end token": (
        encoded(lambda self, t: np.append(t, [self.eos] * (len(t) == 8)).astype(np.int32)),
        FIT,
        r"the hand goes on, without an end token, but encode\(\) has it at \[8\]",
    ),
    "encode fails": (raising("encode"), FIT, r"encode\(\) raises RuntimeError: boom;"),
    "decode forgets": (decoded(lambda events: events[:-1]), INVERSE, r"event \d of the view is \[Event.*gives none"),
    "decode errs": (
        decoded(lambda events: (events[1], *events[1:])),
        INVERSE,
        r"event 0 of the view is \[Event\(actor=-1, action=None.*decode\(\) gives \[Event\(actor=-1, action=\d",
    ),
    "decode gives a list": (decoded(list), INVERSE, r"decode\(\) gives list, not a tuple"),
    "decode fails": (raising("decode"), INVERSE, r"decode\(encode\(\)\) raises RuntimeError: boom;"),
    "decode takes anything": (trusting, INVERSE, "that encode no view; it must raise ValueError"),
    "decode raises another": (strict, INVERSE, "raises KeyError: 'no view', not ValueError"),
    "tokens change": (turning, PREFIX, r"token 1 was token \d+ \('..'\), and is token \d+ \('..'\) at a later"),
    "actions have other tokens": (lambda sound: {"token": lambda self, a: a + 1}, TURN, r"legal actions are \["),
    "tokens have other actions": (lambda sound: {"action": lambda self, t: 52}, TURN, r"action\(token\(\d+\)\) is 52"),
    "a token has no action": (raising("action"), TURN, r"action\(token\(\)\) raises RuntimeError: boom;"),
    "a tracker lags": (late, AGAIN, r"a tracker made of all tokens gives another \w+\(\)"),
    "no tracker": (raising("tracker"), FORM, r"tracker\(\) of no tokens raises RuntimeError: boom;"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOKENIZERS)
def test_it_finds_what_is_wrong_with_a_tokenizer(name):
    tokenizer, row, says = TOKENIZERS[name]

    def of(sound):
        """n_positions and the like are set by the sound class: members that are values stand after that."""
        given = tokenizer(sound)
        values = {key: value for key, value in given.items() if not callable(value)}

        def __init__(self, game):
            sound.__init__(self, game)
            vars(self).update(values)

        return {"__init__": __init__} | {key: value for key, value in given.items() if callable(value)}

    found = check(oh_hell(tokenizer=of), row, says, "" if row == SIZES else HERE)
    if name == "encode fails":
        assert found["tokens: blind to exchanged cards"].endswith(": RuntimeError: boom")


def fewer_outcomes(sound):
    def __init__(self, spiel):
        sound.__init__(self, spiel)
        kept = [i for i, label in enumerate(self.outcomes.labels) if label[0] == 0]
        self.outcomes = Outcomes(tuple(self.outcomes.labels[i] for i in kept), self.outcomes.values[kept])

    return {"__init__": __init__}


def viewed(change):
    return lambda sound: {"view": lambda self, state, viewer: change(sound.view(self, state, viewer))}


GAMES = {
    "outcomes are missing": (
        fewer_outcomes,
        "outcomes: list contains the scores of a hand",
        r"scores \(1\d, \d+, \d+\), seat \d, after these OpenSpiel actions",
    ),
    "a view forgets": (
        viewed(lambda v: View(v.viewer, (*v.events[:2], *v.events[2:][-1:]), v.legal)),
        EXTENDS,
        r"seat \d, after these OpenSpiel actions",
    ),
    "a view has no legal actions": (
        viewed(lambda v: View(v.viewer, v.events, ())),
        LEGAL,
        r"seat \d, after these OpenSpiel actions",
    ),
    "a view has a legal action too few": (
        viewed(lambda v: View(v.viewer, v.events, v.legal[1:])),
        LEGAL,
        r"seat \d, after these OpenSpiel actions",
    ),
}


@pytest.mark.parametrize("name", GAMES)
def test_it_finds_what_is_wrong_with_a_game(name):
    game, row, says = GAMES[name]
    check(oh_hell(game=game), row, "", says)


@pytest.mark.parametrize("method", ["view", "scores", "exchange"])
def test_a_game_that_raises_is_one_line(method):
    def game(sound):
        def fails(self, *given):
            raise RuntimeError("boom\nand more")

        return {method: fails}

    says = r"deal 0 of oh_hell raises RuntimeError: boom \(test_audit_tokens.py"
    with pytest.raises(TrickformerError, match=says):
        audited(oh_hell(game=game))


def test_the_sound_game_has_none_of_these_faults():
    report = audited(oh_hell())
    assert report.good, str(report)
    assert {SIZES, FIT, INVERSE, PREFIX, FORM, EXPECTS, TURN, AGAIN, COPIES, IMPOSSIBLE, IMAGINED, OUTCOME} < set(
        report.checks
    )
