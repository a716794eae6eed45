"""Audits a game and a sampler of its worlds: nothing hidden may be seen, and every sampled world must be possible.

Random hands are stopped at random decisions. At each, for each seat, hidden cards are exchanged in the history
and the history is replayed: what the seat sees may not change. And worlds are sampled for what the seat sees: each
must replay legally, give an equal view, and between them they must vary; where the sampler can say so, the true
deal must be one that it can draw. At every decision a later view must go on from earlier ones, and the tokenizer and
its trackers must keep what they promise (audit/tokens.py); at the end the scores must be among the outcomes."""

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

if TYPE_CHECKING:
    from trickformer.base import State

Observer = Callable[["State", int], Any]  # (state, viewer) -> what the viewer sees
Sampler = Callable[["State", View, int, np.random.Generator], Sequence["State"]]  # n worlds for a view
Exchange = Callable[["State", View, np.random.Generator], "State | None"]
GOES_ON, LEGAL = "view: goes on from earlier ones", "view: has the legal actions"  # names of checks


class Audit(BaseModel):
    """An audit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str = Field(description="Game string of OpenSpiel, such as hearts or 'hearts(jd_bonus=True)'.")
    deals: int = Field(20, ge=1, le=1_000_000_000, description="Number of random hands to audit.")
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the hands and of the sampled worlds.")
    sampler: Literal["belief", "openspiel"] = Field(
        "belief", description="Sampler of worlds to audit: belief, the game's own, or openspiel, OpenSpiel's."
    )


@dataclass(slots=True)
class PropertyCount:
    """How often one property was looked at, and how often it failed."""

    name: str
    cases: int = 0
    faults: int = 0
    example: str | None = None  # the first fault: seat and history of the state

    def count(self, good: bool, where: Callable[[], str]) -> None:
        """Take note of one case; `where` is asked at the first fault only."""
        self.cases += 1
        if not good:
            self.faults += 1
            self.example = self.example or where()


@dataclass(slots=True)
class ViewAudit:
    """What an audit found; good where no check has a fault and every one had cases."""

    game: str
    deals: int
    seed: int
    checks: dict[str, PropertyCount] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        return all(c.cases and not c.faults for c in self.checks.values())

    def check(self, name: str) -> PropertyCount:
        """The check of that name, new if need be."""
        return self.checks.setdefault(name, PropertyCount(name))

    def result(self) -> dict[str, Any]:
        """One JSON object."""
        checks = {c.name: {"cases": c.cases, "faults": c.faults, "example": c.example} for c in self.checks.values()}
        return {"game": self.game, "deals": self.deals, "seed": self.seed, "good": self.good, "checks": checks}

    def __str__(self) -> str:
        lines = [f"audit of {self.game}: {self.deals} deals, seed {self.seed}"]
        width = max(map(len, self.checks), default=0)
        for c in self.checks.values():
            verdict = "no case" if not c.cases else f"{c.faults} faults" if c.faults else "good"
            lines.append(f"  {c.name:{width}}  {verdict:>12} in {c.cases:,} cases")
            if c.example:
                lines.append(f"    first at {c.example}")
        return "\n".join(lines)


def from_belief(game: Game, belief: Belief) -> Sampler:
    """The worlds of a belief, which gets to see the view only."""

    def sample(state: State, view: View, n: int, rng: np.random.Generator) -> Sequence[State]:
        belief.reset(view)
        worlds = belief.sample(n, rng)
        return [worlds.state(int(i)) for i in np.flatnonzero(worlds.feasible)]

    return sample


def from_openspiel(state: State, view: View, n: int, rng: np.random.Generator) -> Sequence[State]:
    """The worlds of the game's own `resample_from_infostate`. Raises TrickformerError where it has none."""
    import pyspiel

    try:
        return [state.resample_from_infostate(view.viewer, rng.random) for _ in range(n)]
    except pyspiel.SpielError:
        raise TrickformerError("OpenSpiel has no sampler of this game; audit ours: --sampler belief") from None


def observers(game: Game) -> dict[str, Observer]:
    """What a seat is shown of a state: its view, and where the game has a tokenizer its tokens and their features."""
    from trickformer import tokenizers

    found: dict[str, Observer] = {"view": game.view}
    tokenizer = tokenizers.find(game)
    if tokenizer is not None:

        def tokens(state: State, viewer: int) -> np.ndarray:
            return tokenizer.encode(game.view(state, viewer))

        found["tokens"] = lambda state, viewer: tokens(state, viewer).tolist()
        found["features"] = lambda state, viewer: tokenizer.tracker(tokens(state, viewer)).features().tolist()
    return found


def audit(
    game: Game,
    belief: Belief | Sampler,
    deals: int,
    seed: int,
    *,
    seen: Mapping[str, Observer] | None = None,
    exchange: Exchange | None = None,
    worlds: int = 16,
    stops: int = 6,
) -> ViewAudit:
    """Looks into `deals` random hands at about `stops` decisions each, with `worlds` sampled for each seat.

    belief: a Belief, or a Sampler, which sees the state too. seen: what may depend on the view only, by name;
    `observers(game)` if not given. exchange: `game.exchange` if not given. A fault that is rare goes unseen in few
    deals: the report says how many cases there were. Faults of the tokenizer and its trackers are in the report, what
    they raise too. Raises TrickformerError where the game or the sampler raises something."""
    from trickformer import tokenizers

    report = ViewAudit(game.name, deals, seed)
    seen = observers(game) if seen is None else seen
    sample = belief if callable(belief) else from_belief(game, belief)
    exchange = exchange or game.exchange
    for name in seen:
        report.check(f"{name}: blind to exchanged cards")
    for name in (GOES_ON, LEGAL):
        report.check(name)
    tokenizer = tokenizers.find(game)
    walk = None if tokenizer is None else Walk(game, tokenizer, lambda name, *case: report.check(name).count(*case))
    for index in range(deals):
        with _in_one_line(f"deal {index} of {game.name}"):
            _hand(game, index, belief, sample, seen, exchange, worlds, stops, walk, report)
    return report


def command(config: Audit) -> ViewAudit:
    """The audit of a game with its own sampler, or OpenSpiel's. Raises what loading the game and its sampler do."""
    from trickformer import belief, games

    game = games.load(config.game)
    with _in_one_line(f"the sampler of {game.name}"):
        sampler = from_openspiel if config.sampler == "openspiel" else belief.sampler(game)
    return audit(game, sampler, config.deals, config.seed)


@contextmanager
def _in_one_line(what: str) -> Generator[None]:
    """What is raised is bad input: the game is under audit, not this program."""
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
    seen: Mapping[str, Observer],
    exchange: Exchange,
    worlds: int,
    stops: int,
    walk: Walk | None,
    report: ViewAudit,
) -> None:
    """One deal, played at random."""
    rng, seed = np.random.default_rng(deal_seed(report.seed, index)), report.seed
    state, length = game.deal(seed, index), game.spiel.max_game_length()
    views: list[View] = []
    acted: tuple[int, int] | None = None
    if walk is not None:
        walk.begin(index, np.random.default_rng([deal_seed(seed, index), 1]))
    while True:
        if state.is_chance_node():
            state.apply_action(game.chance(state, seed, index))
            continue
        before, views = views, [game.view(state, seat) for seat in range(game.players)]
        for earlier, view in zip(before, views):
            goes_on = view.events[: len(earlier.events)] == earlier.events
            report.check(GOES_ON).count(goes_on, _where(state, view.viewer))
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
                _look(game, state, viewer, sample, seen, exchange, worlds, rng, report)
                if isinstance(belief, ExactBelief):
                    found = np.isfinite(_truth_log_prob(game, belief, state, viewer))
                    report.check("worlds: can be the true deal").count(bool(found), _where(state, viewer))
        acted = state.current_player(), int(rng.choice(state.legal_actions()))
        state.apply_action(acted[1])
    for seat in range(game.players):
        told = (*scores[seat:], *scores[:seat])
        report.check("outcomes: name the scores of a hand").count(
            told in game.outcomes.index, lambda told=told, seat=seat: f"scores {told}, {_where(state, seat)()}"
        )


def _look(
    game: Game,
    state: State,
    viewer: int,
    sample: Sampler,
    seen: Mapping[str, Observer],
    exchange: Exchange,
    worlds: int,
    rng: np.random.Generator,
    report: ViewAudit,
) -> None:
    view, where = game.view(state, viewer), _where(state, viewer)
    twin = exchange(state, view, rng)
    if twin is not None:
        for name, observer in seen.items():
            check = report.check(f"{name}: blind to exchanged cards")
            try:
                same = observer(state, viewer) == observer(twin, viewer)
            except Exception as e:  # whatever a tokenizer raises
                check.count(False, lambda e=e: f"{where()}: {describe_exception(e)}")
            else:
                check.count(same, where)
    found = sample(state, view, worlds, rng)
    histories = set()
    for world in found:
        actions = [step.action for step in world.full_history()]
        replayed = replay(game.spiel, actions)
        report.check("worlds: replay legally").count(replayed is not None, where)
        if replayed is not None:
            report.check("worlds: give the same view").count(game.view(replayed, viewer) == view, where)
        histories.add(tuple(actions))
    # Two cards of one hand may have been exchanged, which is no other world to anybody; few worlds can agree by chance.
    # With one player there is nobody else, and an exchange is another world.
    other = twin is not None and (
        game.players == 1 or any(game.view(twin, p) != game.view(state, p) for p in range(game.players))
    )
    if other and len(found) >= 16:
        report.check("worlds: vary").count(len(histories) > 1, where)


def _truth_log_prob(game: Game, belief: ExactBelief[Any], state: State, viewer: int) -> float:
    belief.reset(game.view(state, viewer))
    return float(belief.log_prob(belief.truth(state))[0])


def _where(state: State, viewer: int) -> Callable[[], str]:
    return lambda: f"seat {viewer}, history {_history(state)}"


def _history(state: State) -> str:
    return " ".join(map(str, state.history()))
