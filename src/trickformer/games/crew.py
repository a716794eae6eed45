"""The Crew: The Quest for Planet Nine, four players, each mission by itself.

OpenSpiel's own `crew` deals tasks of a sort of its own and has no missions; this is `trickformer_crew`, on the rules of
the core (cpp/crew/rules.hpp). Missions are data (crew_missions.toml); docs/crew.md lists the points that the rulebook
leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspiel

from trickformer import _core, openspiel
from trickformer.base import (
    CHANCE,
    PUBLIC,
    Event,
    Game,
    Outcomes,
    SearchSettings,
    Summary,
    TrickformerError,
    View,
    action_event,
    deal_seed,
)
from trickformer.games import crew_verdict, missions
from trickformer.plumbing.tables import mean_of_games

if TYPE_CHECKING:
    from trickformer.base import State

NUM_CARDS, PLAYERS, HAND, TRICKS, PLAYS = 40, 4, 10, 10, 40
COLOURS, ROCKETS = "PBGY", "R"
CARDS = (*(f"{colour}{value}" for colour in COLOURS for value in range(1, 10)), *(f"R{value}" for value in range(1, 5)))
COLOUR_CARDS = 36  # the first of them; tasks are of these
COMMANDERS_CARD, PINK_NINE = 39, 8

# Actions: the cards, then what is said. A seat is counted from the actor clockwise.
SEAT = NUM_CARDS
TILE = SEAT + PLAYERS
YES = TILE + len(missions.TILES)
NO, HIGHEST, ONLY, LOWEST, UNLABELLED, SILENT = range(YES + 1, YES + 7)
NUM_ACTIONS = SILENT + 1
SEATS = ("self", "left", "across", "right")
ACTIONS = (
    *CARDS,
    *SEATS,
    *(f"token-{tile}" for tile in missions.TILES),
    *("yes", "no", "highest", "only", "lowest", "unlabelled", "silent"),
)

(REVEAL, TILE_FROM, TILE_TO, NAME, DRAFT, ASK, APPOINT, APPOINT_LAST, PASS, RADIO, RADIO_CARD, PLAY, DRAW, OVER) = (
    range(14)
)
PREAMBLE = 1 + NUM_CARDS  # chance actions before the first event of a mission: its number, the deal

# Section 6.3 of the GO-MCTS paper: everybody plays the newest model, and first games are played until enough have
# succeeded. A sequence a game is kept, as in the other games; the paper does not say how many it kept.
_USUAL: dict[str, Any] = {"roles": "all", "bucket": 32}
_LITTLE = _USUAL | {"noise": 0.05, "label_worlds": True, "label_share": 1.0, "label_playouts": 2, "match_deals": 500}
TRAINING = {
    "paper": _USUAL | {"bootstrap_hands": 10_000_000, "sequences": 2_000_000, "tries": 2_000},
    "paper-small": _USUAL | {"tries": 2_000},
    "small": _LITTLE | {"seats_kept": 2, "bootstrap_hands": 120_000, "augment": True, "threshold": 0.2, "window": 6},
    "tiny": _LITTLE | {"match_deals": 100},
}

_PARAMETERS = {"mission": 0, "distress": "off", "file": ""}
_TYPE = openspiel.game_type(
    "trickformer_crew",
    "The Crew: The Quest for Planet Nine",
    PLAYERS,
    _PARAMETERS,
    pyspiel.GameType.Utility.IDENTICAL,
)


class CrewGame(pyspiel.Game):
    """`trickformer_crew`. Parameters: `mission`, a number of the logbook, 0 for one drawn by chance; `distress`, off,
    left or right: whether, and where to, each passes a card before the first trick; `file`, missions of one's own."""

    def __init__(self, params: dict[str, Any] | None = None):
        parameters: dict[str, Any] = _PARAMETERS | (params or {})
        number, distress = parameters["mission"], parameters["distress"]
        if distress not in missions.DISTRESS:
            raise ValueError(f"distress of trickformer_crew is one of {', '.join(missions.DISTRESS)}, not {distress!r}")
        pages = missions.read(parameters["file"])
        if number:
            pages = tuple(page for page in pages if page.id == number)
            if not pages:
                raise ValueError(f"mission of trickformer_crew: there is no mission {number}")
        self.missions = {page.id: page.mission(distress) for page in pages}
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=max(NUM_CARDS, *self.missions) + 1,
            num_players=PLAYERS,
            min_utility=0.0,
            max_utility=1.0,
            max_game_length=_core.crew.MAX_ACTIONS,
        )
        super().__init__(_TYPE, info, parameters)

    def new_initial_state(self) -> CrewState:
        return CrewState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> openspiel.Observer:
        """An observer that has strings only."""
        return openspiel.Observer(_text, iig_obs_type, params)


class CrewState(openspiel.CardState):
    """A mission; the rules are the core's. Chance draws the mission, deals ten cards each to seats 0 to 3, turns up
    the task cards when they are due, and draws where a mission has it."""

    def __init__(self, game: CrewGame):
        super().__init__(game)
        self.missions = game.missions
        self.mission: _core.crew.Mission | None = None

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """What chance may turn up, each as likely as the others."""
        if self.mission is None:
            left = sorted(self.missions)
        elif self.core is None:
            left = sorted(set(range(NUM_CARDS)) - set(self.deck))
        else:
            left = self.core.legal_actions()
        return [(action, 1 / len(left)) for action in left]

    def _apply_action(self, action: int) -> None:
        if self.core is not None:
            self.core.apply_action(action)
        elif self.mission is None:
            if action not in self.missions:
                raise ValueError(f"there is no mission {action}; the missions are {ranges(list(self.missions))}")
            self.mission = self.missions[action]
        else:
            self.deck.append(action)
            if len(self.deck) == NUM_CARDS:
                self.core = _core.crew.State(self.mission, np.array(self.deck, dtype=np.uint8))

    def _action_to_string(self, player: int, action: int) -> str:
        if player != pyspiel.PlayerId.CHANCE:
            return ACTIONS[action]
        if self.mission is None:
            return f"mission {action}"
        what = "deal" if self.core is None else "task" if self.core.phase == REVEAL else "draw"
        return f"{what} {CARDS[action]}"

    def returns(self) -> list[float]:
        """1 to everybody for success, else 0."""
        return [float(self.is_terminal() and self.core is not None and self.core.result > 0)] * PLAYERS

    def __str__(self) -> str:
        if self.mission is None:
            return "choosing a mission"
        rules = _rules(self.mission)
        lines = [f"mission {self.mission.id}" + (f": {', '.join(rules)}" if rules else "")]
        core = self.core
        if core is None:
            return "\n".join([*lines, "dealing " + " ".join(CARDS[card] for card in self.deck)])
        lines += [" ".join([f"seat {p} holds", *(CARDS[c] for c in core.hand(p))]) for p in range(PLAYERS)]
        parts = {"commander": core.commander, "member": core.member, "first four": core.first_four, "last": core.last}
        lines.append(", ".join(f"{name} seat {seat}" for name, seat in parts.items() if seat >= 0))
        lines += [_task(core, *task) for task in core.tasks if task[0] >= 0]
        lines.append(
            " ".join(["moves", *(_format_action(step.player, step.action) for step in self.full_history()[PREAMBLE:])])
        )
        for seat, message in enumerate(core.messages):
            if message is not None:
                label, card, before = message
                lines.append(f"seat {seat} shows {CARDS[card]}, {ACTIONS[label]}, before trick {before // PLAYERS + 1}")
        leaders = [core.commander, *core.winners]
        plays = [((leaders[i // PLAYERS] + i) % PLAYERS, CARDS[card]) for i, card in enumerate(core.plays)]
        lines += openspiel.trick_lines(plays, PLAYERS, core.leader)
        lines.append("tricks won " + " ".join(str(core.winners.count(p)) for p in range(PLAYERS)))
        if core.result:
            why = "; ".join(crew_verdict.failures(core, rules, CARDS))
            lines.append(f"{'won' if core.result > 0 else 'lost'} in trick {len(core.winners)}" + (why and f": {why}"))
            lines.append(openspiel.score_line([int(core.result > 0)] * PLAYERS))
        return "\n".join(lines)


def _rules(mission: _core.crew.Mission) -> list[str]:
    """The special rules of a mission."""
    return [rule for i, rule in enumerate(missions.RULES) if _core.crew.RULE_TOKEN + i in mission.tokens]


def _task(core: Any, card: int, token: int, owner: int, done: bool) -> str:
    tile = "" if token == missions.NO_TILE else f" ({missions.TILES[token]})"
    whose = "of nobody yet" if owner < 0 else f"of seat {owner}"
    how = f"won in trick {core.plays.index(card) // PLAYERS + 1}" if done else "open"
    return f"task {CARDS[card]}{tile} {whose}, {how}"


def _format_action(player: int, action: int) -> str:
    return ("" if player < 0 else f"{player}:") + ACTIONS[action]


def _text(state: Any, viewer: int) -> str:
    if state.core is None:
        return f"dealing {len(state.deck)}"
    view = _view(state, viewer)
    words = [f"mission {view.events[0].action}"]
    for event in view.events[1:]:
        what = [ACTIONS[event.action]] if event.action is not None else [CARDS[c] for c in event.seen]
        words.append(("" if event.actor == CHANCE else f"{event.actor}:") + " ".join(what))
    return f"{view.viewer} | " + " | ".join(words)


pyspiel.register_game(_TYPE, CrewGame)


class Crew(Game):
    """The game `trickformer_crew`. All seats share a score, 1 for success and 0; a team sits in all of them."""

    name = "crew"
    players = PLAYERS
    higher_is_better = True
    worth = 1.0, "missions"
    baseline = "rules"
    labels_are_results = False  # a solver has part in them
    # Section 9.3, but for the threshold, 0.01 there: our models judge rare actions badly. What they imagine of partners
    # does not succeed either, so that GO-MCTS plays on in worlds (docs/results/recipe.md); by a script, which is quick.
    search = SearchSettings(runs=50, steps=5, c=0.1, threshold=0.2)
    training = TRAINING

    def __init__(self, spiel: pyspiel.Game):
        self.spiel = spiel
        given = spiel.get_parameters()
        pages = missions.read(given["file"])
        self.pages = {page.id: page for page in pages if given["mission"] in (0, page.id)}
        self.missions = {number: page.mission(given["distress"]) for number, page in self.pages.items()}
        self.book = _core.crew.Logbook(list(self.missions.values()))
        labels = tuple((won,) * PLAYERS for won in (0, 1))
        self.outcomes = Outcomes(labels, np.array(labels, dtype=np.float32))

    def view(self, state: State, viewer: int) -> View:
        """What `viewer` knows of a state whose cards are dealt.

        Of a distress pass others see that a card was laid down; of the draw everybody sees the card lost and the card
        gained, once all have drawn."""
        return _view(state, viewer)

    def mission(self, state: State) -> int | None:
        """The number of the mission; None before it is drawn."""
        game: Any = state
        return game.mission.id if game.mission is not None else None

    def trick(self, state: State) -> int | None:
        """None where no card is to be played: while tasks are given away, and messages sent."""
        game: Any = state
        core = game.core
        return len(core.plays) // PLAYERS + 1 if core is not None and core.phase == PLAY else None

    def failures(self, state: State) -> list[str]:
        """Why a mission is lost, in words: the tasks, orders and rules that the last trick broke; nothing where it is
        not."""
        game: Any = state
        return crew_verdict.failures(game.core, _rules(game.mission), CARDS)

    def summary(self, histories: Sequence[Sequence[int]], seats: Sequence[Sequence[int]]) -> Summary:
        """Summarize the missions that a team won: in all games and, where several were played, by mission."""
        by_mission: dict[int, list[bool]] = {}
        for history in histories:
            number, cards = history[0], np.array(history[1:PREAMBLE], dtype=np.uint8)
            core = _core.crew.State(self.missions[number], cards)
            for action in history[PREAMBLE:]:
                core.apply_action(action)
            by_mission.setdefault(number, []).append(core.result > 0)
        found: Summary = {"missions won": mean_of_games([won for games in by_mission.values() for won in games])}
        if len(by_mission) > 1:
            found |= {f"mission {number} won": mean_of_games(by_mission[number]) for number in sorted(by_mission)}
        return found

    def chance(self, state: State, seed: int, index: int) -> int:
        """The mission, the next card of two shuffled decks, cards and tasks; or a card of a hand."""
        core, number = state.core, state.move_number()
        dealt = self.chance_actions(seed, index)
        if number < PREAMBLE:
            return dealt[number]
        if core.phase == REVEAL:
            return dealt[PREAMBLE + sum(card >= 0 for card, *_ in core.tasks)]
        cards = core.legal_actions()
        return cards[int(self.draws(seed, index)[core.step] * len(cards))]

    def chance_actions(self, seed: int, index: int) -> tuple[int, ...]:
        """What chance does in a deal but for `draws`: the mission, the deck of cards, the deck of tasks."""
        key = deal_seed(seed, index)
        return *_shuffle(key, tuple(self.missions)), *_tasks(key)

    def draws(self, seed: int, index: int) -> list[float]:
        """By the seat that draws, the place of its card among those that it may draw, at least 0 and below 1."""
        key = deal_seed(seed, index)
        return [np.random.default_rng([key, 2, seat]).random() for seat in range(PLAYERS)]

    def deal(self, seed: int, index: int, mission: int | None = None) -> State:
        """Deal `index` of series `seed`, at the first decision; its cards are the same in every mission. Chance draws
        the mission unless it is given."""
        state = self.spiel.new_initial_state()
        if mission is not None:
            state.apply_action(mission)
        while state.is_chance_node():
            state.apply_action(self.chance(state, seed, index))
        return state

    def seatings(self, kinds: int) -> tuple[tuple[int, ...], ...]:
        """Each kind in all four seats: scores are shared, so that a mixed table would compare nobody."""
        return tuple((kind,) * PLAYERS for kind in range(kinds))


def _view(state: Any, viewer: int) -> View:
    history = state.full_history()
    if len(history) < PREAMBLE:
        raise ValueError("a view begins when all cards are dealt")
    deck = [step.action for step in history[1:PREAMBLE]]
    core = state.core
    events = [action_event(CHANCE, history[0].action), Event(core.commander, None, (COMMANDERS_CARD,))]
    if viewer != PUBLIC:
        events.append(Event(CHANCE, None, tuple(sorted(deck[HAND * viewer : HAND * (viewer + 1)]))))
    if _ALL_PINK in state.mission.tokens:
        events.append(Event(deck.index(PINK_NINE) // HAND, None, (PINK_NINE,)))
    steps = history[PREAMBLE:]
    for step, (phase, last) in zip(steps, _secret(state, deck, steps)):
        seat, action = step.player, step.action
        if phase == PASS:
            events.append(action_event(seat, action if seat == viewer else None))
            if last and viewer != PUBLIC:
                giver = (viewer - core.distress) % PLAYERS
                events.append(Event(giver, None, (core.passed_cards[giver],)))
        elif phase == DRAW:
            if last and viewer != PUBLIC:
                events.append(Event(CHANCE, None, (core.drawn_cards[(viewer + 1) % PLAYERS],)))
                events.append(Event(CHANCE, None, (core.drawn_cards[viewer],)))
        else:
            events.append(action_event(seat, action))
    on_turn = viewer != PUBLIC and state.current_player() == viewer
    return View(viewer, tuple(events), tuple(state.legal_actions()) if on_turn else ())


def _secret(state: Any, deck: list[int], steps: list[Any]) -> Iterable[tuple[int, bool]]:
    """Of each step its phase where not all see it whole (PASS, DRAW; else OVER), and whether it is the last of it."""
    if not state.core.distress and _DRAW not in state.mission.tokens:
        return repeat((OVER, False))
    replay, found = _core.crew.State(state.mission, np.array(deck, dtype=np.uint8)), []
    for step in steps:
        phase = replay.phase
        replay.apply_action(step.action)
        found.append((phase if phase in (PASS, DRAW) else OVER, replay.phase != phase))
    return found


_ALL_PINK, _DRAW = (
    _core.crew.RULE_TOKEN + list(missions.RULES).index(rule)
    for rule in ("left_of_pink9_wins_all_pink", "random_draw_after_trick1")
)


def deal_order(holders: np.ndarray) -> list[int]:
    """The 40 cards as chance deals them, ascending within a hand; integers [40]: the seat of each card."""
    return np.argsort(holders, kind="stable").tolist()


@lru_cache(maxsize=1024)
def _shuffle(seed: int, missions: tuple[int, ...]) -> tuple[int, ...]:
    """The mission, and the deck; the deck of a seed is the same in every mission."""
    mission = missions[int(np.random.default_rng([seed, 1]).integers(len(missions)))]
    return (mission, *np.random.default_rng(seed).permutation(NUM_CARDS).tolist())


@lru_cache(maxsize=1024)
def _tasks(seed: int) -> tuple[int, ...]:
    return tuple(np.random.default_rng([seed, 3]).permutation(COLOUR_CARDS).tolist())


def load(spec: str = "crew") -> Crew:
    """`crew`, or `crew(mission=7,distress=left)`. Raises TrickformerError on an option that does not exist."""
    return make_game(**openspiel.options(spec, "crew", tuple(_PARAMETERS)))


def make_game(mission: Any = 0, distress: Any = "off", file: Any = "") -> Crew:
    """The game with these options. Raises TrickformerError on a value that is none."""
    if distress not in missions.DISTRESS:
        raise TrickformerError(f"option distress of crew is one of {', '.join(missions.DISTRESS)}, not {distress!r}")
    numbers = [page.id for page in missions.read(str(file))]
    if type(mission) is not int or mission not in (0, *numbers):
        raise TrickformerError(f"option mission of crew is 0 (any) or one of {ranges(numbers)}, not {mission!r}")
    given = {"mission": mission, "distress": distress, "file": str(file)}
    return Crew(pyspiel.load_game("trickformer_crew", given))


def ranges(numbers: list[int]) -> str:
    """1-3, 7: numbers ascending, in words."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)
