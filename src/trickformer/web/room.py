"""The table and the pages that show it: handles messages of pages, and sends the results to all pages.

While a page is open, the players decide in a worker process. A second worker computes the panels that pages request.
When the last page closes, busy workers are killed.

Several people can share a table. A page sees the seats of its link (`Access`), and the panels of its own decisions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from trickformer import players, tokenizers
from trickformer.base import Game, TrickformerError
from trickformer.belief import heads, sampler
from trickformer.belief.samplers import CardBelief
from trickformer.records.show import in_words
from trickformer.review.rating import seats_share_score
from trickformer.review.result import MISTAKE
from trickformer.web import messages, scenes
from trickformer.web.cast import Cast, DecisionRequest, TimedDecision, make_request
from trickformer.web.config import YOU, Play
from trickformer.web.offers import list_players, shipped_for, short
from trickformer.web.pages import HOST, Access, Pages
from trickformer.web.table import Table
from trickformer.web.worker import CancellationError, Worker

PANELS = get_args(messages.Panel)


class _Job(NamedTuple):
    """Part of the analysis that pages request: a panel, or the decision of one of the players to compare."""

    panel: str
    player: int | None = None  # place on the table's list of players


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

    def __init__(
        self,
        settings: Play,
        table: Table,
        inside: Worker | None = None,
        links: Mapping[Access, str] = MappingProxyType({}),
    ):
        """Open a room.

        Args:
            settings: Settings of `trickformer play`.
            table: Table that the pages show.
            inside: Worker with the panels of the game; a new one if None.
            links: Addresses of guests and spectators, which the host's page shows, relative to its own.
        """
        super().__init__()
        self.table = table
        self._links = links
        self._access: dict[object, Access] = {}
        self.settings = settings
        self.choices = list_players(table.game, [YOU, *table.seats, *table.specs])
        rules = str(table.game.spiel)
        self._player_worker = Worker(_make_cast, rules)
        self._players_task: asyncio.Task[None] | None = None
        specs, learned = _panel_players(table, settings)
        has = {*specs, *world_panels(table.game), *(["tokens"] if tokenizers.find(table.game) else [])}
        self.panels = tuple(panel for panel in PANELS if panel in has)
        self._panel_worker = inside or Worker(_make_inside, rules, specs, learned, settings.worlds)
        self._panels_task: asyncio.Task[None] | None = None
        self._claim_task: asyncio.Task[None] | None = None
        self._last_claim: DecisionRequest | None = None  # decision at which a score was claimed last
        self._jobs_by_page: dict[object, tuple[_Job, ...]] = {}
        self._panel_request: DecisionRequest | None = None  # decision that the panels are about
        self._panel_messages: dict[_Job, dict[str, Any]] = {}  # messages of the panels that are finished for it
        self._current_job: _Job | None = None  # panel that is being computed

    def enter(self, page: object, access: Access = HOST) -> asyncio.Queue[str]:
        queue = super().enter(page, access)
        self._access[page] = access
        self.send(page, self._table_message(access))
        self._send_absence()
        self._start_players()
        return queue

    def leave(self, page: object) -> None:
        self.pages.pop(page, None)
        self._access.pop(page, None)
        self._jobs_by_page.pop(page, None)
        self._send_absence()
        if not self.pages:  # nobody waits for a result
            self._stop()

    async def close(self) -> None:
        self._stop()
        self._player_worker.cancel()
        self._panel_worker.cancel()

    @property
    def is_checking_claim(self) -> bool:
        """True while a claim is checked."""
        return self._claim_task is not None and not self._claim_task.done()

    async def receive(self, page: object, text: str) -> None:
        message = messages.TABLE.validate_json(text)
        table = self.table
        access = self._access.get(page)
        if access is None:  # the page was removed, because it did not read its messages
            return
        self._refuse_rights(access, message)
        match message:
            case messages.PlayAction():
                if message.ply != len(table.state.history()):
                    raise TrickformerError("the table has changed; look again")
                if message.seat not in self._own_seats(access):
                    raise TrickformerError("that seat is not yours")
                table.act(message.seat, message.action)
            case messages.Undo():
                self._stop()
                table.undo()
            case messages.Again():
                self._stop()
                table.again()
            case messages.Next():
                if message.hand not in (None, table.hand_count):
                    return  # another person was faster
                self._stop()
                table.next_deal()
            case messages.Match():
                if any(i >= len(self.choices) for i in message.seats):
                    raise TrickformerError("there is no such player on the list")
                self._stop()
                table.begin([self.choices[i] for i in message.seats], message.deal)
            case messages.Annotate():
                if message.deal != table.deal:
                    raise TrickformerError("the table has changed; look again")
                if message.seat not in self._own_seats(access):
                    raise TrickformerError("that seat is not yours")
                table.annotate(message.seat, message.card, " ".join(message.text.split()))
                self._send_table(access)  # for the others nothing has changed
                return
            case messages.Look():
                if any(i >= len(self.choices) or self.choices[i] == YOU for i in message.players):
                    raise TrickformerError("there is no such player on the list")
                panels = [_Job(panel) for panel in self.panels if panel in message.panels]
                self._jobs_by_page[page] = (*panels, *(_Job("players", i) for i in dict.fromkeys(message.players)))
                if self._current_job is not None and not self._is_wanted(self._current_job):
                    self._panel_worker.cancel()
                is_current = self._panel_request == self._person_request() and table.turn in self._own_seats(access)
                for job in self._jobs_by_page[page] if is_current else ():
                    if job in self._panel_messages:
                        self.send(page, self._panel_messages[job])
                self._start_panels()
                return
            case messages.Claim():
                request = self._person_request()
                assert request is not None  # a claim is refused except at one's own turn
                if self.settings.guest_seats and request == self._last_claim:
                    raise TrickformerError("with several people only one claim is checked at a decision")
                if not self.is_checking_claim:
                    self._last_claim = request
                    self._claim_task = asyncio.create_task(self._claim(page, request, message.score))
                return
            case messages.Cancel():
                self._stop()
                self._send_to_all({"type": "thinking", "seat": None, "stopped": True})
                return
        self.refresh()

    def _refuse_rights(self, access: Access, message: messages.TableMessage) -> None:
        """Raise TrickformerError if a message is not allowed to the holder of a link.

        A spectator only watches. A guest decides, asks for panels, stops or claims at its own turn, and deals the next
        hand after this one. The host may do everything but decide, claim and see panels at another's turn."""
        if access.watches:
            raise TrickformerError("a spectator only watches")
        has_turn = self.table.turn in self._own_seats(access)
        match message:
            case messages.Claim() if not has_turn:
                raise TrickformerError("a claim is made at one's own turn")
            case messages.Undo() | messages.Again() | messages.Match():
                is_allowed = False
            case messages.Next():
                is_allowed = self.table.over
            case messages.Cancel():
                is_allowed = has_turn
            case _:
                is_allowed = True
        if access != HOST and not is_allowed:
            raise TrickformerError("only the host of the table can do that now")

    def _own_seats(self, access: Access) -> tuple[int, ...]:
        """List the seats that the holder of a link plays, in the order in which they were at the first deal."""
        table = self.table
        if access.watches:
            return ()
        if access.seat is None:
            first_seats = [seat for seat in range(table.game.players) if seat not in self.settings.guest_seats]
        else:
            first_seats = [access.seat]
        return tuple(seat for seat in map(table.seat_now, first_seats) if table.seats[seat] == YOU)

    def _seat_of(self, access: Access) -> int | None:
        """Return the seat that a guest has now; None for host and spectators."""
        return None if access.seat is None else self.table.seat_now(access.seat)

    def refresh(self) -> None:
        """Send the table to all pages, and start what the next decision needs: players and panels."""
        self._send_table()
        self._send_absence()  # a deal may have moved people to other seats
        self._start_players()
        self._start_panels()

    def _person_request(self) -> DecisionRequest | None:
        """Return the request for the current decision if a person is on turn; otherwise None."""
        turn = self.table.turn
        return make_request(self.table) if turn is not None and self.table.seats[turn] == YOU else None

    def _start_panels(self) -> None:
        """Start to compute the requested panels, one after the other."""
        if any(self._jobs_by_page.values()) and (self._panels_task is None or self._panels_task.done()):
            self._panels_task = asyncio.create_task(self._run_reporting_errors(self._compute_panels))

    async def _compute_panels(self) -> None:
        while (request := self._person_request()) is not None:
            is_new = request != self._panel_request
            if is_new:
                self._panel_request, self._panel_messages = request, {}
            wanted = dict.fromkeys(job for page in self._viewers() for job in self._jobs_by_page[page])
            left = [job for job in wanted if job not in self._panel_messages]
            if not left:
                return
            job = self._current_job = min(
                left, key=lambda job: ((*PANELS, "players").index(job.panel), job.player or 0)
            )
            about = {"type": "look", "panel": job.panel, "player": job.player, "ply": len(request.history)}
            for shown in wanted if is_new else [job]:  # what pages have of another deal may be at the same ply
                self._send_to_viewers(shown, about | {"panel": shown.panel, "player": shown.player, "busy": True})

            def report_progress(progress: tuple[int, int], job: _Job = job, about: dict[str, Any] = about) -> None:
                self._send_to_viewers(job, about | {"busy": True, "progress": progress})

            try:
                message = about | {"data": await self._compute(job, request, report_progress)}
            except TrickformerError as e:
                message = about | {"fault": str(e)}
            except CancellationError:
                if request == self._person_request() and self._is_wanted(job):
                    self._send_to_viewers(job, about | {"fault": "stopped"})
                    return
                continue
            finally:
                self._current_job = None
            if request == self._person_request():
                self._panel_messages[job] = message
                self._send_to_viewers(job, message)

    async def _compute(self, job: _Job, request: DecisionRequest, report: Callable[[tuple[int, int]], None]) -> Any:
        if job.player is None:
            return await self._panel_worker.do(job.panel, request, report_search=report)
        return await self._panel_worker.do("player", request, self.choices[job.player], report_search=report)

    def _is_wanted(self, job: _Job) -> bool:
        return any(job in self._jobs_by_page[page] for page in self._viewers())

    def _viewers(self) -> list[object]:
        """List the pages that may see panels of the current decision: those of the person on turn."""
        turn = self.table.turn
        return [page for page in self._jobs_by_page if turn in self._own_seats(self._access[page])]

    def _send_to_viewers(self, job: _Job, message: dict[str, Any]) -> None:
        for page in self._viewers():
            if job in self._jobs_by_page.get(page, ()):
                self.send(page, message)

    async def _claim(self, page: object, request: DecisionRequest, score: int) -> None:
        """Play out the hand if the claimed score is certain; otherwise send an error to the page."""
        try:
            await self._play_out(request, score)
            self.refresh()
        except TrickformerError as e:
            self.send(page, {"type": "error", "text": str(e)})
        except (CancellationError, asyncio.CancelledError):
            self.send(page, {"type": "error", "text": "the proof of the claim was stopped"})

    async def _play_out(self, request: DecisionRequest, score: int) -> None:
        """Play out the hand from the decision at which the score was claimed.

        Raises:
            TrickformerError: The score is not certain, or the table has changed.
            CancellationError: The proof was stopped.
        """
        proved, line = await self._panel_worker.do("claim", request, score)
        if request != self._person_request():
            raise TrickformerError("the table has changed; look again")
        if proved is None:
            raise TrickformerError("there are too many lines of play to prove that now; claim again later in the hand")
        if not proved:
            raise TrickformerError(f"{score} is not certain: the others can prevent it")
        for number, action in enumerate(line):
            assert self.table.turn is not None
            self.table.act(self.table.turn, action, continues_claim=number > 0)

    def _send_to_all(self, message: dict[str, Any]) -> None:
        for page in list(self.pages):
            self.send(page, message)

    def _send_table(self, only: Access | None = None) -> None:
        """Send the table to all pages, or only to the pages of one link. Each page gets what its link may see."""
        shown = [(page, access) for page, access in self._access.items() if only in (None, access)]
        views = {access: self._table_message(access) for access in {access for _, access in shown}}
        for page, access in shown:
            self.send(page, views[access])

    def _send_absence(self) -> None:
        """Send the seats of people who have no page open."""
        present = {seat for access in self._access.values() for seat in self._own_seats(access)}
        self._send_to_all({"type": "absent", "seats": [seat for seat in self.table.people if seat not in present]})

    def _stop(self) -> None:
        """End all computations."""
        if self._players_task is not None:
            self._players_task.cancel()
            self._players_task = None
        if self._claim_task is not None:
            self._claim_task.cancel()
            self._claim_task = None
        if self._player_worker.busy:
            self._player_worker.cancel()
        if self._panel_worker.busy:
            self._panel_worker.cancel()

    def _start_players(self) -> None:
        """Start the players' decisions if a page is open."""
        if self.pages and (self._players_task is None or self._players_task.done()):
            self._players_task = asyncio.create_task(self._run_reporting_errors(self._run_players))

    async def _run_reporting_errors(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do work, and send its failure to the pages.

        The work is a function and no coroutine, which would stay unawaited if the task is cancelled before it begins.
        """
        try:
            await work()
        except CancellationError:
            pass
        except TrickformerError as e:
            self._send_to_all({"type": "thinking", "seat": None, "stopped": True})
            self._send_to_all({"type": "error", "text": str(e)})

    async def _run_players(self) -> None:
        table = self.table
        while (seat := table.turn) is not None and table.seats[seat] != YOU:
            thinking = {"type": "thinking", "seat": seat, "stopped": False}
            self._send_to_all(thinking)
            request = make_request(table)

            def report_progress(progress: tuple[int, int], thinking: dict[str, Any] = thinking) -> None:
                self._send_to_all(thinking | {"progress": progress})

            answer: TimedDecision = await self._player_worker.do("decide", request, report_search=report_progress)
            if make_request(table) != request:
                return
            table.act(seat, answer.decision.action, answer.decision, answer.seconds)
            self._send_table()
        self._send_to_all({"type": "thinking", "seat": None, "stopped": False})
        self._start_panels()
        if table.over:
            await self._player_worker.do("end", table.seats, tuple(map(int, table.state.history())))

    def _table_message(self, access: Access) -> dict[str, Any]:
        """Return the message that describes the table as the holder of a link sees it."""
        table = self.table
        game = table.game
        own = self._own_seats(access)
        first = own[0] if own else table.seat_now(self.settings.seat if access.seat is None else access.seat)
        me = table.turn if table.turn is not None and table.turn in own else first  # seat at the bottom of the page
        viewer = scenes.OPEN if access.watches else me
        annotations = {card: text for (seat, card), text in table.annotations.items() if own and seat == me}
        scene = scenes.to_json(scenes.annotate(scenes.show(game, table.state, viewer, bool(own)), annotations))
        return {
            "type": "table",
            "game": game.name,
            "deal": table.deal,
            "hand": table.hand_count,
            "ply": len(table.state.history()),
            "me": me,
            "you": me if own else None,
            "turn": table.turn,
            "seats": [short(who) for who in table.seats],
            "order": [table.seat_now(seat) for seat in range(game.players)],
            "people": [seat for seat in table.people if seat not in own],
            "rights": "watch" if access.watches else "host" if access == HOST else "guest",
            "open": access.watches,
            "links": [[self._seat_of(guest), path] for guest, path in self._links.items()] if access == HOST else [],
            "scene": scene if own else _without_actions(scene),
            "log": [scenes.to_json(entry) for entry in scenes.log(game, table.state, viewer, bool(own))],
            "told": in_words(game, table.state) if table.over else "",
            "scores": list(game.scores(table.state)) if table.over else None,
            "hands": [[hand.deal, list(hand.scores)] for hand in table.hands],
            "totals": list(table.totals),
            "shared": seats_share_score(game),
            "best": "most" if game.higher_is_better else "fewest",
            "plays_to": game.plays_to,
            "undo": any(table.seats[m.seat] == YOU for m in table.moves),
            "players": [short(who) for who in self.choices],
            "panels": list(self.panels),
            "warning": {
                "is_on": self.settings.warn is not None,
                "limit": self.settings.warn or MISTAKE * game.worth[0],
                "unit": game.worth[1],
            },
            "record": len(table.records) if table.over else None,
        }


def _without_actions(part: Any) -> Any:
    """Remove the possible actions from a part of a scene in JSON."""
    match part:
        case dict():
            removed = ("action", "options", "choices", "pick", "confirm")
            return {key: _without_actions(value) for key, value in part.items() if key not in removed}
        case list():
            return [_without_actions(item) for item in part]
        case _:
            return part


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

    def spec_at_table(name: str, otherwise: str) -> str:
        return next((spec for spec in table.specs if spec.partition(":")[0] == name), otherwise)

    if checkpoint is not None:
        specs["model"] = f"argmax:checkpoint={players.text(checkpoint)}"
        specs["search"] = spec_at_table("gomcts", f"gomcts:checkpoint={players.text(checkpoint)}")
    specs["pimc"] = spec_at_table("pimc", "pimc")
    for spec in specs.values():
        players.parse(spec)
    return specs, checkpoint if checkpoint in heads.head_checkpoints() else None
