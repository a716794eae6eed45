"""Checks of `trickformer engines check`: an engine must follow the protocol and its own description."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trickformer import games, players
from trickformer.base import Decision, Game, Memo, Player, TrickformerError, UnknownNameError, View, decision_rng
from trickformer.engines import entries, process
from trickformer.engines.config import Conformance
from trickformer.engines.entries import Program
from trickformer.players.engine import EnginePlayer
from trickformer.plumbing import plugins
from trickformer.plumbing.report import Report
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

if TYPE_CHECKING:
    from trickformer.base import State

_LABELS = {"answers": "legal answers", "hidden cards": "blind to hidden cards"}  # names of checks in the report
_KEY = (
    "follows seeds: the same seed gives the same hand. many tables at once, started again in a hand: this does not "
    "change the hands. A dash: a measurement only, or the engine does not claim the property, or it was not tried."
)
_MAX_EXCHANGES = 50  # decisions that the check of hidden cards repeats with other hidden cards


@dataclass(frozen=True)
class Check:
    """Result of the check of one property of an engine. The fields are keys of `--json`."""

    name: str
    good: bool | None  # whether the property holds; None if the engine does not claim it or nothing could be tried
    seen: str  # the observation, in words


class _RestartingEngine(Player):
    """An engine that is restarted before every fourth call."""

    def __init__(self, engine: EnginePlayer):
        self._engine, self._calls = engine, 0

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        self._calls += 1
        if self._calls % 4 == 0:
            self._engine.restart()
        return self._engine.act(views, rng, memo)


def check(config: Conformance) -> list[Check]:
    """Check an engine.

    Args:
        config: The engine and the hands that it plays.

    Returns:
        The result for each property. If the engine fails in the first hands, there is only one result.

    Raises:
        TrickformerError: The engine cannot be started or does not play the game.
    """
    _require_engine(config.engine)
    game = games.load(config.game or _first_game(config.engine))
    engine = _make_engine_player(config.engine, game)
    claims_seeds = bool(engine.hello.seeds)  # the engine claims that equal seeds give equal actions
    checks: list[Check] = []
    start = time.perf_counter()
    try:
        histories = _play_hands(game, engine, config, 1)
    except TrickformerError as e:
        return [Check("answers", False, str(e))]
    elapsed = time.perf_counter() - start
    turns = sum(turns for _, turns in histories)
    checks.append(Check("answers", not engine.faults, f"{turns} decisions, {engine.faults} faults"))

    def compare(name: str, player: Player, tables: int) -> Check:
        """Play the hands again in another way and count those that differ."""
        try:
            again = _play_hands(game, player, config, tables)
        except TrickformerError as e:
            return Check(name, False, str(e))
        differ = sum(a != b for a, b in zip(histories, again))
        return Check(name, not differ if claims_seeds else None, f"{differ} of {len(again)} hands differ")

    in_order = compare("follows seeds", _make_engine_player(config.engine, game), 1)
    at_once = compare(
        "many tables at once", _make_engine_player(config.engine, game), max(2, min(engine.hello.tables, config.deals))
    )
    restarted = compare("started again in a hand", _RestartingEngine(_make_engine_player(config.engine, game)), 1)
    checks += [in_order, at_once, restarted]
    if in_order.good:
        try:
            checks.append(_check_hidden_cards(game, engine, config, [history for history, _ in histories]))
        except TrickformerError as e:
            checks.append(Check("hidden cards", False, str(e)))
    else:  # the answers could differ without any change of the cards
        checks.append(Check("hidden cards", None, "not tried, because the engine does not follow seeds"))
    checks.append(Check("speed", None, f"{turns / elapsed:,.0f} decisions/s, one at a time"))
    return checks


def _first_game(engine: str) -> str:
    """Return the first of our games that the engine lists in its `hello`."""
    options = _require_engine(engine)
    engine_games = process.start(None, options.command, options.model_dump()["timeout"]).hello.games
    our_games = (*games.NAMES, *plugins.names(plugins.GAMES))
    game = next((name for name in our_games if name in engine_games or "*" in engine_games), None)
    if game is None:
        raise TrickformerError(f"{engine} plays none of {', '.join(our_games)}; give --game")
    return game


def _require_engine(spec: str) -> Program:
    """Return the options of an engine's spec. Raises TrickformerError if the spec is bad or of another player."""
    try:
        name, options = players.parse(spec)
    except UnknownNameError:
        if (name := spec.partition(":")[0].strip()) in players.names():
            raise  # an option is unknown
        raise _no_engine(name) from None
    if not isinstance(options, Program):
        raise _no_engine(name)
    return options


def _no_engine(name: str) -> TrickformerError:
    known = entries.read()
    names = f"which names {', '.join(known)}; name one" if known else "which names none; add it"
    return TrickformerError(f"no engine {name!r} in {entries.path()}, {names}, or give engine:cmd=PROGRAM")


def _make_engine_player(spec: str, game: Game) -> EnginePlayer:
    player = players.make(spec, game)
    if not isinstance(player, EnginePlayer):
        raise _no_engine(spec)
    return player


def _seat(game: Game, deal: int) -> int:
    """Return the seat of the engine, which changes from deal to deal."""
    return deal % game.players


def _play_hands(game: Game, player: Player, config: Conformance, tables: int) -> list[tuple[tuple[int, ...], int]]:
    """Play hands at a number of parallel tables. Random players have the other seats.

    Returns:
        The actions of each hand, and the number of the player's decisions.
    """
    hands = [Hand(d, tuple(int(s != _seat(game, d)) for s in range(game.players))) for d in range(config.deals)]
    records = play(game, [player, players.make("random", game)], hands, config.seed, tables)
    by_deal = {r.deal: (r.history, r.decisions[_seat(game, r.deal)]) for r in records}
    return [by_deal[deal] for deal in range(config.deals)]


def _check_hidden_cards(
    game: Game, engine: EnginePlayer, config: Conformance, histories: list[tuple[int, ...]]
) -> Check:
    """Check that the engine's answers do not depend on cards that are hidden from it."""
    tried = differ = 0
    for deal, history in enumerate(histories):
        state: State = game.spiel.new_initial_state()
        number = 0  # decisions of the engine before this one
        for action in history:
            if tried < _MAX_EXCHANGES and state.current_player() == (seat := _seat(game, deal)):
                view = game.view(state, seat)
                twin = game.exchange(state, view, np.random.default_rng([config.seed, deal, number]))
                if twin is not None and len(view.legal) > 1:
                    answers = [_answer(engine, game.view(s, seat), config.seed, deal, number) for s in (state, twin)]
                    tried, differ = tried + 1, differ + (answers[0] != answers[1])
                number += 1
            state.apply_action(action)
    seen = f"{differ} of {tried} answers differ when hidden cards are exchanged"
    return Check("hidden cards", not differ if tried else None, seen)


def _answer(engine: EnginePlayer, view: View, seed: int, deal: int, number: int) -> int:
    rng = decision_rng(seed, deal, view.viewer, number)
    return engine.act([view], [rng], [{}])[0].action


def make_report(engine: str, checks: Sequence[Check]) -> Report:
    """Make the report of the checks of an engine.

    Args:
        engine: Name or spec of the engine.
        checks: Result of `check`.
    """
    words: dict[bool | None, str] = {True: "yes", False: "NO", None: "-"}
    rows = [(_LABELS.get(c.name, c.name), words[c.good], c.seen) for c in checks]
    table = (("check", "holds", "measured"), rows)
    return Report([vars(c) for c in checks], f"engine {engine}", [("", table)], keys=[_KEY], words=True)
