"""The audit passes what is sound, and names OpenSpiel's known faults and planted ones."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError
from support.kuhn import Kuhn, KuhnBelief

from trickformer import games, tokenizers
from trickformer.audit import views as audit
from trickformer.base import Event, Outcomes, View
from trickformer.belief import sampler
from trickformer.games.hearts import Hearts


def faults(report: audit.ViewAudit) -> dict[str, int]:
    return {c.name: c.faults for c in report.checks.values() if c.faults}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "deals"),
    [
        ("hearts", 4),
        ("hearts(pass_cards=False)", 4),
        ("hearts(can_lead_hearts_instead_of_qs=True,must_break_hearts=True)", 4),
        ("skat", 16),
        ("skat(scores=value)", 16),
        ("crew", 16),
        ("crew(distress=left)", 10),
        ("crew(mission=12)", 14),
        ("hanabi", 40),
        ("hanabi(players=4,max_life_tokens=9)", 4),
    ],
)
def test_games_and_their_samplers_are_sound(game: str, deals: int) -> None:
    report = audit.command(audit.Audit(game=game, deals=deals, seed=1))
    assert report.good, str(report)
    assert set(report.checks) == {
        "view: blind to exchanged cards",
        "tokens: blind to exchanged cards",
        "features: blind to exchanged cards",
        "view: extends earlier ones",
        "view: has the legal actions",
        "tokens: sizes and names are consistent",
        "tokens: fit the vocabulary and n_positions",
        "tokens: decode to the events of the view",
        "tokens: extend earlier ones",
        "tracker: masks bool [V], features float32 [n_features]",
        "tracker: copies are independent",
        "tracker: an impossible token is marked",
        "tracker: possible tokens lead to an end",
        "tracker: the next token was possible",
        "tracker: own turn and legal actions as in the view",
        "tracker: same if it gets all tokens at once",
        "tracker: outcome of the hand at its end",
        "worlds: replay legally",
        "worlds: give the same view",
        "worlds: vary",
        "worlds: the true deal is possible",
        "outcomes: list contains the scores of a hand",
    }
    assert report.result()["checks"]["worlds: vary"]["cases"] > 20
    assert str(report) == str(audit.command(audit.Audit(game=game, deals=deals, seed=1)))


def test_it_finds_the_revokes_of_openspiels_resampler() -> None:
    report = audit.command(audit.Audit(game="hearts", deals=4, seed=1, sampler="openspiel"))
    assert not report.good
    assert set(faults(report)) == {"worlds: replay legally"}
    check = report.check("worlds: replay legally")
    assert 0.2 < check.faults / check.cases < 0.6  # about a third, more in late tricks
    assert check.example is not None and check.example in str(report)


@pytest.mark.slow
def test_it_finds_the_received_cards_in_openspiels_observation_struct() -> None:
    game = games.load("hearts")
    seen = {
        "struct": lambda state, viewer: state.to_observation_struct(viewer).to_json(),
        "string": lambda state, viewer: state.information_state_string(viewer),
    }
    report = audit.audit(game, sampler(game), 10, 0, observers=seen, worlds=1, stops=30)
    assert set(faults(report)) == {"struct: blind to exchanged cards"}
    example = report.check("struct: blind to exchanged cards").example
    assert example is not None
    assert len(example.split("actions: ")[1].split()) < 65, "shown before the pass is over"


class Leaky(Hearts):
    """Its view names the lowest card of the next seat."""

    def view(self, state, viewer):
        view = super().view(state, viewer)
        held = [a for i, a in enumerate(state.history()[1:53]) if i % 4 == (viewer + 1) % 4]
        return View(view.viewer, (*view.events, Event(-1, None, (min(held),))), view.legal)


def test_it_finds_a_view_that_shows_a_hidden_card() -> None:
    sound = games.load("hearts")
    game = Leaky(sound.spiel)
    worlds = audit.from_belief(sound, sampler(sound))

    def blind(state, view, n, rng):  # the sampler of the sound game is no part of the fault
        return worlds(state, sound.view(state, view.viewer), n, rng)

    # Only the sound view's cards count as seen: the leak itself is what is under test.
    def exchange(state, view, rng):
        return sound.exchange(state, sound.view(state, view.viewer), rng)

    report = audit.audit(game, blind, 4, 0, observers={"view": game.view}, exchange=exchange)
    assert {"view: blind to exchanged cards", "worlds: give the same view"} <= set(faults(report))


class Peeking(Hearts):
    """Its views are sound; the tokenizer below looks at the state that they were made of."""

    def view(self, state, viewer):
        self.peeked = state.history()[1:53][(viewer + 1) % 4 :: 4]
        return super().view(state, viewer)


def test_it_finds_features_that_tell_a_hidden_card(monkeypatch) -> None:
    game = Peeking(games.load("hearts").spiel)
    sound = tokenizers.make(game)

    class Tracker:
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def copy(self):
            return Tracker(self.inner.copy())

        def features(self):
            return np.append(self.inner.features(), np.float32(min(game.peeked) / 52))

    class Tokenizer:
        n_features = sound.n_features + 1

        def __getattr__(self, name):
            return getattr(sound, name)

        def tracker(self, tokens):
            return Tracker(sound.tracker(tokens))

    monkeypatch.setattr(tokenizers, "find", lambda game: Tokenizer())
    report = audit.audit(game, sampler(game), 4, 0)
    assert set(faults(report)) == {"features: blind to exchanged cards"}


def test_it_finds_a_sampler_that_always_tells_the_truth() -> None:
    game = games.load("hearts")
    report = audit.audit(game, lambda state, view, n, rng: [state.clone()] * n, 3, 0)
    assert set(faults(report)) == {"worlds: vary"}


def test_it_finds_a_support_without_the_true_deal() -> None:
    game = games.load("hearts")
    belief = sampler(game)
    truth = belief.truth
    belief.truth = lambda state: replace(truth(state), hidden=(truth(state).hidden + 1) % 4)
    assert set(faults(audit.audit(game, belief, 3, 0))) == {"worlds: the true deal is possible"}


def test_it_audits_any_game() -> None:
    """With hooks of its own: in Kuhn poker cards and bets share their numbers."""
    game, belief = Kuhn(), KuhnBelief(Kuhn())

    def worlds(state, view, n, rng):
        belief.reset(view)
        found = belief.sample(n, rng)
        return [found.state(i) for i in range(n)]

    def exchange(state, view, rng):
        cards = state.history()[:3]
        unseen = [c for c in range(4) if c != cards[view.viewer]]
        deal = iter(rng.permutation(unseen).tolist())
        twin = game.spiel.new_initial_state()
        for action in [c if p == view.viewer else next(deal) for p, c in enumerate(cards)] + state.history()[3:]:
            twin.apply_action(action)
        return twin

    row = "outcomes: list contains the scores of a hand"
    assert set(faults(audit.audit(game, worlds, 4, 0, exchange=exchange))) == {row}  # the test's game lists none
    results = {pot for pot in itertools.product(range(-2, 5), repeat=3) if sum(pot) == 0}
    game.outcomes = Outcomes(tuple(sorted(results)), np.zeros((len(results), 3), np.float32))
    report = audit.audit(game, worlds, 40, 0, exchange=exchange)
    assert not faults(report)
    assert report.check("view: blind to exchanged cards").cases > 10


def test_an_audit_without_cases_is_not_good() -> None:
    report = audit.ViewAudit("hearts", 1, 0, {"x": audit.PropertyCount("x")})
    assert not report.good
    *_, untested, worlds, verdict = str(report).splitlines()
    assert untested == "  x    not tested: no position suited it; use more --deals"
    assert worlds == "  worlds:    not tested: no worlds were sampled; use more --deals"
    assert verdict == "The audit fails: 2 checks were not tested."
    report.checks |= {"y": audit.PropertyCount("y", 3, 2), "worlds: z": audit.PropertyCount("worlds: z")}
    assert "2 faults in 3 cases" in str(report) and "no worlds were sampled" not in str(report)
    assert str(report).endswith("The audit fails: 1 check has faults, 2 checks were not tested.")
    assert not audit.ViewAudit("hearts", 1, 0, {"y": audit.PropertyCount("y", 1)}).good  # no worlds
    passed = audit.ViewAudit("hearts", 1, 0, {"worlds: z": audit.PropertyCount("worlds: z", 1)})
    assert str(passed).endswith("The audit passes.") and "good in 1 case\n" in str(passed)
    with pytest.raises(ValidationError):
        audit.Audit(game="hearts", deals=0)
