"""The table and the pages that show it: handles messages of pages, and sends the results to all pages.

While a page is open, the players decide in a worker process. A second worker computes the panels that pages request.
When the last page closes, a worker that is busy is ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from trickformer import players, tokenizers
from trickformer.base import CHANCE, Game, TrickformerError
from trickformer.belief import heads, sampler
from trickformer.belief.samplers import CardBelief
from trickformer.records.show import in_words
from trickformer.review.rating import seats_share_score
from trickformer.web import messages, scenes
from trickformer.web.cast import Cast, DecisionRequest, TimedDecision, ask
from trickformer.web.config import YOU, Play
from trickformer.web.offers import list_players, shipped_for, short
from trickformer.web.pages import Pages
from trickformer.web.table import Table
from trickformer.web.worker import CancellationError, Worker

PANELS = ("model", "search", "pimc", "belief", "worlds", "tokens")


def _make_inside(rules: str, specs: dict[str, str], learned: str | None, worlds: int) -> Any:
    """Make the panels of a game, in the worker."""
    from trickformer.web.inside import Inside

    return Inside(rules, specs, learned, worlds)


def _make_cast(rules: str) -> Cast:
    """Make the players of a game, in the worker."""
    from trickformer import games

    return Cast(games.load(rules))


class Room(Pages):
    """Pages of one table."""

    def __init__(self, settings: Play, table: Table, inside: Worker | None = None):
        """Open a room.

        Args:
            settings: Settings of `trickformer play`.
            table: Table that the pages show.
            inside: Worker with the panels of the game; a new one if None.
        """
        super().__init__()
        self.table = table
        self.settings = settings
        self._choices = list_players(table.game, [YOU, *table.seats, *table.specs])
        rules = str(table.game.spiel)
        self._players = Worker(_make_cast, rules)
        self._driving: asyncio.Task[None] | None = None
        specs, learned = _panel_players(table, settings)
        has = {*specs, *world_panels(table.game), *(["tokens"] if tokenizers.find(table.game) else [])}
        self.panels = tuple(panel for panel in PANELS if panel in has)
        self._inside = inside or Worker(_make_inside, rules, specs, learned, settings.worlds)
        self._looking: asyncio.Task[None] | None = None
        self._claiming: asyncio.Task[None] | None = None
        self._wanted: dict[object, tuple[str, ...]] = {}
        self._panel_messages: dict[str, dict[str, Any]] = {}  # messages of the finished panels for the decision `_at`
        self._at: DecisionRequest | None = None
        self._panel: str | None = None  # the panel that is being computed

    def enter(self, page: object) -> asyncio.Queue[str]:
        queue = super().enter(page)
        self.tell(page, self._table())
        self._drive()
        return queue

    def leave(self, page: object) -> None:
        self.pages.pop(page, None)
        self._wanted.pop(page, None)
        if not self.pages:  # nobody waits for a result
            self._stop()

    async def close(self) -> None:
        self._stop()
        self._players.cancel()
        self._inside.cancel()

    async def hear(self, page: object, text: str) -> None:
        message = messages.read(text)
        table = self.table
        match message:
            case messages.PlayAction():
                if message.ply != len(table.state.history()):
                    raise TrickformerError("the table has changed; look again")
                if table.seats[message.seat : message.seat + 1] != (YOU,):
                    raise TrickformerError("that seat is not yours")
                table.act(message.seat, message.action)
            case messages.Undo():
                self._stop()
                table.undo()
            case messages.Again():
                self._stop()
                table.again()
            case messages.Next():
                self._stop()
                table.next_deal()
            case messages.Match():
                if any(i >= len(self._choices) for i in message.seats):
                    raise TrickformerError("there is no such player on the list")
                self._stop()
                table.begin([self._choices[i] for i in message.seats], message.deal)
            case messages.Look():
                self._wanted[page] = tuple(
                    panel for panel in PANELS if panel in message.panels and panel in self.panels
                )
                if self._panel is not None and not self._is_wanted(self._panel):
                    self._inside.cancel()
                for panel in self._wanted[page] if self._at == self._own() else ():
                    if panel in self._panel_messages:
                        self.tell(page, self._panel_messages[panel])
                self._look()
                return
            case messages.Claim():
                if self._claiming is None or self._claiming.done():
                    self._claiming = asyncio.create_task(self._claim(page, message.score))
                return
            case messages.Cancel():
                self._stop()
                self._tell_all({"type": "thinking", "seat": None, "stopped": True})
                return
        self._refresh()

    def _refresh(self) -> None:
        self._tell_all(self._table())
        self._drive()
        self._look()

    def _own(self) -> DecisionRequest | None:
        """Return the request for the decision if a person is on turn."""
        turn = self.table.turn
        return ask(self.table) if turn is not None and self.table.seats[turn] == YOU else None

    def _look(self) -> None:
        """Start to compute the requested panels, one after the other."""
        if any(self._wanted.values()) and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._run_reporting_errors(self._look_on))

    async def _look_on(self) -> None:
        while (request := self._own()) is not None:
            if request != self._at:
                self._at, self._panel_messages = request, {}
            left = [p for p in PANELS if p not in self._panel_messages and self._is_wanted(p)]
            if not left:
                return
            panel = self._panel = left[0]
            about = {"type": "look", "panel": panel, "ply": len(request.history)}
            self._tell_wanting(about | {"busy": True})

            def report_progress(progress: tuple[int, int], about: dict[str, Any] = about) -> None:
                self._tell_wanting(about | {"busy": True, "progress": progress})

            try:
                message = about | {"data": await self._inside.do(panel, request, report_search=report_progress)}
            except TrickformerError as e:
                message = about | {"fault": str(e)}
            except CancellationError:
                if request == self._own() and self._is_wanted(panel):
                    self._tell_wanting(about | {"fault": "stopped"})
                    return
                continue
            finally:
                self._panel = None
            if request == self._own():
                self._panel_messages[panel] = message
                self._tell_wanting(message)

    def _is_wanted(self, panel: str) -> bool:
        return any(panel in wanted for wanted in self._wanted.values())

    def _tell_wanting(self, message: dict[str, Any]) -> None:
        for page in [page for page, wanted in self._wanted.items() if message["panel"] in wanted]:
            self.tell(page, message)

    async def _claim(self, page: object, score: int) -> None:
        """Play out the hand if the claimed score is certain; otherwise send an error to the page."""
        try:
            await self._play_out(score)
            self._refresh()
        except TrickformerError as e:
            self.tell(page, {"type": "error", "text": str(e)})
        except (CancellationError, asyncio.CancelledError):
            self.tell(page, {"type": "error", "text": "the proof of the claim was stopped"})

    async def _play_out(self, score: int) -> None:
        """Play out the hand. Raises TrickformerError if the score is not certain, and CancellationError."""
        request = self._own()
        if request is None:
            raise TrickformerError("a claim is made at one's own turn")
        proved, line = await self._inside.do("claim", request, score)
        if request != self._own():
            raise TrickformerError("the table has changed; look again")
        if proved is None:
            raise TrickformerError("there are too many lines of play to prove that now; claim again later in the hand")
        if not proved:
            raise TrickformerError(f"{score} is not certain: the others can prevent it")
        for action in line:
            assert self.table.turn is not None
            self.table.act(self.table.turn, action)

    def _tell_all(self, message: dict[str, Any]) -> None:
        for page in list(self.pages):
            self.tell(page, message)

    def _stop(self) -> None:
        """End all computations."""
        if self._driving is not None:
            self._driving.cancel()
            self._driving = None
        if self._claiming is not None:
            self._claiming.cancel()
            self._claiming = None
        if self._players.busy:
            self._players.cancel()
        if self._inside.busy:
            self._inside.cancel()

    def _drive(self) -> None:
        """Start the players' decisions if a page is open."""
        if self.pages and (self._driving is None or self._driving.done()):
            self._driving = asyncio.create_task(self._run_reporting_errors(self._play_on))

    async def _run_reporting_errors(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do work, and send its failure to the pages.

        The work is a function: a task that is cancelled before it begins would leave a coroutine that nobody awaits.
        """
        try:
            await work()
        except CancellationError:
            pass
        except TrickformerError as e:
            self._tell_all({"type": "thinking", "seat": None, "stopped": True})
            self._tell_all({"type": "error", "text": str(e)})

    async def _play_on(self) -> None:
        table = self.table
        while (seat := table.turn) is not None and table.seats[seat] != YOU:
            thinking = {"type": "thinking", "seat": seat, "stopped": False}
            self._tell_all(thinking)
            request = ask(table)

            def report_progress(progress: tuple[int, int], thinking: dict[str, Any] = thinking) -> None:
                self._tell_all(thinking | {"progress": progress})

            answer: TimedDecision = await self._players.do("decide", request, report_search=report_progress)
            if ask(table) != request:
                return
            table.act(seat, answer.decision.action, answer.decision, answer.seconds)
            self._tell_all(self._table())
        self._tell_all({"type": "thinking", "seat": None, "stopped": False})
        self._look()
        if table.over:
            await self._players.do("end", table.seats, tuple(map(int, table.state.history())))

    def _table(self) -> dict[str, Any]:
        """Return the message that describes the table."""
        table = self.table
        game = table.game
        me = next((p for p, who in enumerate(table.seats) if who == YOU and p == table.turn), table.seats.index(YOU))
        log = [[seat, what] for seat, what in table.log(me) if seat != CHANCE]
        return {
            "type": "table",
            "game": game.name,
            "deal": table.deal,
            "ply": len(table.state.history()),
            "seed": table.seed,
            "me": me,
            "turn": table.turn,
            "seats": [short(who) for who in table.seats],
            "scene": scenes.show(game, table.state, me).model_dump(mode="json", exclude_defaults=True),
            "log": log,
            "told": in_words(game, table.state) if table.over else "",
            "scores": list(game.scores(table.state)) if table.over else None,
            "hands": [[hand.deal, list(hand.scores)] for hand in table.hands],
            "totals": list(table.totals),
            "shared": seats_share_score(game),
            "best": "most" if game.higher_is_better else "fewest",
            "plays_to": game.plays_to,
            "undo": any(table.seats[m.seat] == YOU for m in table.moves),
            "players": [short(who) for who in self._choices],
            "panels": list(self.panels),
            "record": len(table.records) if table.over else None,
        }


def world_panels(game: Game) -> tuple[str, ...]:
    """List the panels that need sampled worlds.

    Args:
        game: The game.

    Returns:
        `worlds` if the game has a sampler, and `belief` if shares of worlds can be shown too.
    """
    try:
        belief = sampler(game)
    except TrickformerError:
        return ()
    pictured = game.name in ("hanabi", "mines") or isinstance(belief, CardBelief)
    return ("belief", "worlds") if pictured else ("worlds",)


def _panel_players(table: Table, settings: Play) -> tuple[dict[str, str], str | None]:
    """Return the spec of each panel's player, and the checkpoint if it has a belief head.

    The checkpoint is the one of the settings, or the shipped one. A search at the table keeps its options.
    """
    specs: dict[str, str] = {}
    checkpoint = settings.checkpoint or shipped_for(table.game)

    def like(name: str, otherwise: str) -> str:
        return next((spec for spec in table.specs if spec.partition(":")[0] == name), otherwise)

    if checkpoint is not None:
        specs["model"] = f"argmax:checkpoint={players.text(checkpoint)}"
        specs["search"] = like("gomcts", f"gomcts:checkpoint={players.text(checkpoint)}")
    specs["pimc"] = like("pimc", "pimc")
    for spec in specs.values():
        players.parse(spec)
    return specs, checkpoint if checkpoint in heads.head_checkpoints() else None
