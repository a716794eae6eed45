"""Audit of a game and a sampler of its worlds: hidden cards must not be visible, and sampled worlds must be possible.

The audit plays random hands and stops at random decisions. There it makes these tests for each seat. It exchanges
hidden cards and replays the history, which must not change the seat's view. It also samples worlds for the view. Each
world must replay legally and give an equal view, and the worlds must vary. If the belief can compute the probability of
the true deal, the probability must be positive.

At every decision, views must extend earlier views, and the tokenizer and its trackers must fulfil their contracts
(audit/tokens.py). At the end the scores must be among the game's outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer.audit.tokens import Walk, describe_exception
from trickformer.base import Belief, Game, TrickformerError, View, deal_seed, replay
from trickformer.belief.samplers import ExactBelief
from trickformer.plumbing.text import count_noun

if TYPE_CHECKING:
    from trickformer.base import State

Observer = Callable[["State", int], Any]  # (state, viewer) -> an object that must depend on the viewer's view only
Sampler = Callable[["State", View, int, np.random.Generator], Sequence["State"]]  # n worlds for a view
# Returns a state with hidden cards exchanged, of which the seat must have the same view; None if there is none.
Exchange = Callable[["State", View, np.random.Generator], "State | None"]
EXTENDS, LEGAL = "view: extends earlier ones", "view: has the legal actions"  # names of checks
_WORLDS = "worlds:"  # beginning of the names of the checks of sampled worlds
# Sentences that explain the checks, at the head of the report.
_KEY = (
    "Exchanged cards: the audit swaps hidden cards, or moves hidden mines, at random decisions. That must not change "
    "what the seat is shown.",
    "Worlds: the audit samples full deals for the seat at the same decisions. Each must be possible and fit its view. "
    "vary: they must not all be the same deal.",
    "outcomes: the scores of each hand that is played must be in the game's list of outcomes.",
    "tracker: follows a seat's tokens and lists the tokens that some deal allows next.",
    "V, n_features and n_positions: numbers of tokens in the vocabulary, of features, and of positions in a sequence.",
)


class Audit(BaseModel):
    """Options of an audit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(description="Game of `trickformer games`, such as hearts or 'hearts(jd_bonus=True)'.")
    deals: int = Field(20, ge=1, le=1_000_000_000, description="Number of random hands to audit.")
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the hands and of the sampled worlds.")
    sampler: Literal["belief", "openspiel"] = Field(
        "belief", description="Sampler of worlds to audit: belief (the game's own) or openspiel (OpenSpiel's)."
    )


@dataclass(slots=True)
class PropertyCount:
    """Number of cases in which one property was checked, and number of cases in which it failed."""

    name: str
    cases: int = 0
    faults: int = 0
    example: str | None = None  # description of the first fault: its history, with seat, scores or exception if known

    def count(self, good: bool, where: Callable[[], str]) -> None:
        """Count one case.

        Args:
            good: Whether the property holds.
            where: Returns a description of the position; called at the first fault only.
        """
        self.cases += 1
        if not good:
            self.faults += 1
            self.example = self.example or where()


@dataclass(slots=True)
class ViewAudit:
    """Result of an audit. It is good if every check had cases, worlds included, and none had a fault."""

    game: str
    deals: int
    seed: int
    checks: dict[str, PropertyCount] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        return self._has_worlds and all(c.cases and not c.faults for c in self.checks.values())

    @property
    def _has_worlds(self) -> bool:
        """True if any sampled worlds were checked, with or without cases."""
        return any(name.startswith(_WORLDS) for name in self.checks)

    def check(self, name: str) -> PropertyCount:
        """Return the check of a name; it is created if necessary.

        Args:
            name: Name of the check.
        """
        return self.checks.setdefault(name, PropertyCount(name))

    def result(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        checks = {c.name: {"cases": c.cases, "faults": c.faults, "example": c.example} for c in self.checks.values()}
        return {"game": self.game, "deals": self.deals, "seed": self.seed, "good": self.good, "checks": checks}

    def __str__(self) -> str:
        deals = count_noun(self.deals, "deal")
        lines = [f"audit of {self.game}: {deals}, seed {self.seed}. A check is good if it holds in all cases tried."]
        lines += _KEY
        width = max(map(len, self.checks), default=0)
        for c in self.checks.values():
            if not c.cases:
                lines.append(f"  {c.name:{width}}    not tested: no position suited it; use more --deals")
                continue
            verdict = count_noun(c.faults, "fault") if c.faults else "good"
            lines.append(f"  {c.name:{width}}  {verdict:>12} in {count_noun(c.cases, 'case')}")
            if c.example:
                lines.append(f"    first at {c.example}")
        if not self._has_worlds:
            lines.append(f"  {_WORLDS:{width}}    not tested: no worlds were sampled; use more --deals")
        return "\n".join([*lines, self._verdict()])

    def _verdict(self) -> str:
        """Return the sentence that sums up the audit."""
        if self.good:
            return "The audit passes."
        n_faulty = sum(c.faults > 0 for c in self.checks.values())
        n_untested = sum(not c.cases for c in self.checks.values()) + (not self._has_worlds)
        parts = [f"{_count_checks(n_faulty)} faults"] if n_faulty else []
        parts += [f"{_count_checks(n_untested, past=True)} not tested"] if n_untested else []
        return f"The audit fails: {', '.join(parts)}."


def _count_checks(n: int, past: bool = False) -> str:
    """Return the subject and the verb of a clause about checks: "1 check has" or, in the past, "3 checks were"."""
    verb = ("was" if n == 1 else "were") if past else ("has" if n == 1 else "have")
    return f"{count_noun(n, 'check')} {verb}"


def from_belief(game: Game, belief: Belief) -> Sampler:
    """Return a sampler that draws worlds from a belief. The belief receives the view only.

    Args:
        game: The game.
        belief: Belief of the game.
    """

    def sample(state: State, view: View, n: int, rng: np.random.Generator) -> Sequence[State]:
        belief.reset(view)
        worlds = belief.sample(n, rng)
        return [worlds.state(int(i)) for i in np.flatnonzero(worlds.feasible)]

    return sample


def _sample_by_openspiel(state: State, view: View, n: int, rng: np.random.Generator) -> Sequence[State]:
    """Draw worlds by OpenSpiel's `resample_from_infostate`; raise TrickformerError if the game has none."""
    import pyspiel

    try:
        return [state.resample_from_infostate(view.viewer, rng.random) for _ in range(n)]
    except pyspiel.SpielError:
        raise TrickformerError("OpenSpiel has no sampler of this game; audit ours: --sampler belief") from None


def _default_observers(game: Game) -> dict[str, Observer]:
    """Return functions that compute what a seat is shown: its view and, if there is a tokenizer, tokens and features.

    Args:
        game: The game.
    """
    from trickformer import tokenizers

    functions: dict[str, Observer] = {"view": game.view}
    tokenizer = tokenizers.find(game)
    if tokenizer is not None:

        def tokens(state: State, viewer: int) -> np.ndarray:
            return tokenizer.encode(game.view(state, viewer))

        functions["tokens"] = lambda state, viewer: tokens(state, viewer).tolist()
        functions["features"] = lambda state, viewer: tokenizer.tracker(tokens(state, viewer)).features().tolist()
    return functions


def audit(
    game: Game,
    belief: Belief | Sampler,
    deals: int,
    seed: int,
    *,
    observers: Mapping[str, Observer] | None = None,
    exchange: Exchange | None = None,
    worlds: int = 16,
    stops: int = 6,
) -> ViewAudit:
    """Audit random hands. A small number of hands can miss a rare fault, so the report counts each check's cases.

    Exceptions of the tokenizer and its trackers count as faults in the report.

    Args:
        game: The game.
        belief: A belief, or a sampler, which also receives the true state.
        deals: Number of hands.
        seed: Seed of the hands and the worlds.
        observers: Functions by name whose result must depend on the view only; None: the view, tokens and features.
        exchange: Exchanges hidden cards; None: `game.exchange`.
        worlds: Number of worlds that are sampled for each seat at a stop.
        stops: Expected number of stops in a hand of the greatest length; shorter hands have proportionally fewer.

    Raises:
        TrickformerError: The game or the sampler raises an exception.
    """
    from trickformer import tokenizers

    report = ViewAudit(game.name, deals, seed)
    observers = _default_observers(game) if observers is None else observers
    sample = belief if callable(belief) else from_belief(game, belief)
    exchange = exchange or game.exchange
    for name in observers:
        report.check(f"{name}: blind to exchanged cards")
    for name in (EXTENDS, LEGAL):
        report.check(name)
    tokenizer = tokenizers.find(game)
    walk = None if tokenizer is None else Walk(game, tokenizer, lambda name, *case: report.check(name).count(*case))
    for index in range(deals):
        with _as_trickformer_error(f"deal {index} of {game.name}"):
            _hand(game, index, belief, sample, observers, exchange, worlds, stops, walk, report)
    return report


def command(config: Audit) -> ViewAudit:
    """Audit a game with its own sampler, or OpenSpiel's.

    Args:
        config: Options of the audit.

    Raises:
        TrickformerError: The game or its sampler cannot be loaded, or raises an exception.
    """
    from trickformer import belief, games

    game = games.load(config.game)
    with _as_trickformer_error(f"the sampler of {game.name}"):
        sampler = _sample_by_openspiel if config.sampler == "openspiel" else belief.sampler(game)
    return audit(game, sampler, config.deals, config.seed)


@contextmanager
def _as_trickformer_error(what: str) -> Generator[None]:
    """Convert exceptions to TrickformerError, because the audited game causes them, not this program."""
    try:
        yield
    except (TrickformerError, MemoryError, OSError):
        raise
    except Exception as e:
        at = extract_tb(e.__traceback__)[-1]
        raise TrickformerError(
            f"{what} raises {describe_exception(e)} ({Path(at.filename).name}:{at.lineno}, {at.name})"
        ) from e


def _hand(
    game: Game,
    index: int,
    belief: Belief | Sampler,
    sample: Sampler,
    observers: Mapping[str, Observer],
    exchange: Exchange,
    worlds: int,
    stops: int,
    walk: Walk | None,
    report: ViewAudit,
) -> None:
    """Play and audit one random hand."""
    rng, seed = np.random.default_rng(deal_seed(report.seed, index)), report.seed
    state, length = game.deal(seed, index), game.spiel.max_game_length()
    views: list[View] = []
    acted: tuple[int, int] | None = None  # seat and action of the last decision
    if walk is not None:
        walk.begin(index, np.random.default_rng([deal_seed(seed, index), 1]))
    while True:
        if state.is_chance_node():
            state.apply_action(game.chance(state, seed, index))
            continue
        earlier_views, views = views, [game.view(state, seat) for seat in range(game.players)]
        for earlier, view in zip(earlier_views, views):
            extends = view.events[: len(earlier.events)] == earlier.events
            report.check(EXTENDS).count(extends, _where(state, view.viewer))
        for seat, view in enumerate(views):
            legal = state.legal_actions() if seat == state.current_player() else []
            report.check(LEGAL).count(view.legal == tuple(legal), _where(state, seat))
        scores = game.scores(state) if state.is_terminal() else None
        if walk is not None:
            walk.look(views, acted, scores, lambda state=state: f"history {_history(state)}")
        if scores is not None:
            break
        if rng.random() < stops / length:
            for viewer in range(game.players):
                _check_seat(game, state, viewer, sample, observers, exchange, worlds, rng, report)
                if isinstance(belief, ExactBelief):
                    is_possible = np.isfinite(_truth_log_prob(game, belief, state, viewer))
                    report.check("worlds: the true deal is possible").count(bool(is_possible), _where(state, viewer))
        acted = state.current_player(), int(rng.choice(state.legal_actions()))
        state.apply_action(acted[1])
    for seat in range(game.players):
        outcome = (*scores[seat:], *scores[:seat])
        report.check("outcomes: list contains the scores of a hand").count(
            outcome in game.outcomes.index,
            lambda outcome=outcome, seat=seat: f"scores {outcome}, {_where(state, seat)()}",
        )


def _check_seat(
    game: Game,
    state: State,
    viewer: int,
    sample: Sampler,
    observers: Mapping[str, Observer],
    exchange: Exchange,
    worlds: int,
    rng: np.random.Generator,
    report: ViewAudit,
) -> None:
    """Check one seat at a stop: its view with hidden cards exchanged, and worlds that are sampled for it."""
    view, where = game.view(state, viewer), _where(state, viewer)
    exchanged = exchange(state, view, rng)
    if exchanged is not None:
        for name, observer in observers.items():
            check = report.check(f"{name}: blind to exchanged cards")
            try:
                is_same = observer(state, viewer) == observer(exchanged, viewer)
            except Exception as e:  # a tokenizer may raise anything
                check.count(False, lambda e=e: f"{where()}: {describe_exception(e)}")
            else:
                check.count(is_same, where)
    sampled = sample(state, view, worlds, rng)
    histories = set()
    for world in sampled:
        actions = [step.action for step in world.full_history()]
        replayed = replay(game.spiel, actions)
        report.check("worlds: replay legally").count(replayed is not None, where)
        if replayed is not None:
            report.check("worlds: give the same view").count(game.view(replayed, viewer) == view, where)
        histories.add(tuple(actions))
    # Worlds must vary if the exchange has shown that there are at least two. An exchange of two cards in one hand does
    # not show that, because no seat's view changes. With one player, every exchange counts: it moves mines, which
    # no view shows. Fewer than 16 worlds may be equal by chance.
    several_exist = exchanged is not None and (
        game.players == 1 or any(game.view(exchanged, p) != game.view(state, p) for p in range(game.players))
    )
    if several_exist and len(sampled) >= 16:
        report.check("worlds: vary").count(len(histories) > 1, where)


def _truth_log_prob(game: Game, belief: ExactBelief[Any], state: State, viewer: int) -> float:
    """Return the logarithm of the probability that the belief gives to the true state."""
    belief.reset(game.view(state, viewer))
    return float(belief.log_prob(belief.truth(state))[0])


def _where(state: State, viewer: int) -> Callable[[], str]:
    return lambda: f"seat {viewer}, after these OpenSpiel actions: {_history(state)}"


def _history(state: State) -> str:
    return " ".join(map(str, state.history()))
