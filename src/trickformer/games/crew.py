"""The Crew: The Quest for Planet Nine, for four players; a game is one mission.

OpenSpiel's own `crew` has another kind of tasks and no missions. This game is `trickformer_crew`, with the rules of the
core (cpp/crew/rules.hpp). Missions are data (crew_missions.toml). docs/games/crew.md lists the points that the rulebook
leaves open.
"""

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

NUM_CARDS = 40
PLAYERS = 4
HAND = 10
TRICKS = 10
PLAYS = 40
COLOURS = "PBGY"
CARDS = (*(f"{colour}{value}" for colour in COLOURS for value in range(1, 10)), *(f"R{value}" for value in range(1, 5)))
COLOUR_CARDS = 36  # number of colour cards, which come first; tasks are colour cards
COMMANDERS_CARD, PINK_NINE = 39, 8  # the commander holds the rocket of value 4

# Actions: the cards, then the announcements. SEAT and TILE are the first of their kind. Seats are counted clockwise
# from the actor. A tile is a task token.
SEAT = NUM_CARDS
TILE = SEAT + PLAYERS
YES = TILE + len(missions.TILES)
NO = YES + 1
HIGHEST = YES + 2
ONLY = YES + 3
LOWEST = YES + 4
UNLABELLED = YES + 5
SILENT = YES + 6
NUM_ACTIONS = SILENT + 1
SEATS = ("self", "left", "across", "right")
ACTIONS = (
    *CARDS,
    *SEATS,
    *(f"token-{tile}" for tile in missions.TILES),
    *("yes", "no", "highest", "only", "lowest", "unlabelled", "silent"),
)

# Phases, by the core's number (cpp/crew/state.hpp).
REVEAL = 0  # chance reveals the next task card
TILE_FROM = 1  # the commander may choose a task token to move
TILE_TO = 2  # and where it goes
NAME = 3  # the commander names a member
DRAFT = 4  # a seat chooses a task
ASK = 5  # a seat answers yes or no
APPOINT = 6  # the commander chooses a seat: for the tasks, for the first four tricks, or as the member
APPOINT_LAST = 7  # and the seat that must win the last trick
PASS = 8  # each seat passes a card, after a distress signal
RADIO = 9  # a seat communicates or is silent, before a trick
RADIO_CARD = 10  # a seat chooses the card that it shows
PLAY = 11
DRAW = 12  # chance draws a card for each seat from the hand of its right neighbour
OVER = 13
PREAMBLE = 1 + NUM_CARDS  # chance actions before the first event: the number of the mission and the deal

# Settings of the presets of self-play (selfplay/config.py). As in section 6.3 of the GO-MCTS paper, all seats play the
# newest model, and bootstrap games are repeated until enough have succeeded. The paper does not say how many sequences
# of a game it keeps; here it is one, as in the other games.
_ALL: dict[str, Any] = {"roles": "all", "bucket": 32}
_SMALL = _ALL | {"noise": 0.05, "label_worlds": True, "label_share": 1.0, "label_playouts": 2, "match_deals": 500}
TRAINING = {
    "paper": _ALL | {"bootstrap_hands": 10_000_000, "sequences": 2_000_000, "tries": 2_000},
    "paper-small": _ALL | {"tries": 2_000},
    "small": _SMALL | {"seats_kept": 2, "bootstrap_hands": 120_000, "augment": True, "threshold": 0.2, "window": 6},
    "tiny": _SMALL | {"match_deals": 100},
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
    """OpenSpiel's game `trickformer_crew`.

    Its parameter `mission` is a number of the logbook, or 0 for a random mission. `distress` is off, left or right, the
    direction in which each seat passes a card before the first trick. `file` is a file with other missions.
    """

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
        return openspiel.Observer(_text, iig_obs_type, params)


class CrewState(openspiel.CardState):
    """State of a mission, with the core's rules.

    Chance draws the mission, deals ten cards each to seats 0, 1, 2 and 3, and reveals the task cards. If the mission
    demands it, chance also draws cards from hands.
    """

    def __init__(self, game: CrewGame):
        super().__init__(game)
        self.missions = game.missions
        self.mission: _core.crew.Mission | None = None

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the actions of chance, each equally likely."""
        if self.mission is None:
            actions = sorted(self.missions)
        elif self.core is None:
            actions = sorted(set(range(NUM_CARDS)) - set(self.deck))
        else:
            actions = self.core.legal_actions()
        return [(action, 1 / len(actions)) for action in actions]

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
        kind = "deal" if self.core is None else "task" if self.core.phase == REVEAL else "draw"
        return f"{kind} {CARDS[action]}"

    def returns(self) -> list[float]:
        """Return 1 for every seat after success, else 0."""
        return [float(self.is_terminal() and self.core is not None and self.core.result > 0)] * PLAYERS

    def __str__(self) -> str:
        if self.mission is None:
            return "choosing a mission"
        rules = _rules(self.mission)
        explained = "; ".join(f"{missions.RULES[rule]} ({rule})" for rule in rules)
        lines = [f"mission {self.mission.id}" + (f": {explained}" if rules else "")]
        core = self.core
        if core is None:
            return "\n".join([*lines, "dealing " + " ".join(CARDS[card] for card in self.deck)])
        lines += [" ".join([f"seat {p} holds", *(CARDS[c] for c in core.hand(p))]) for p in range(PLAYERS)]
        roles = {"commander": core.commander, "member": core.member, "first four": core.first_four, "last": core.last}
        lines.append(", ".join(f"{name} seat {seat}" for name, seat in roles.items() if seat >= 0))
        lines += [_task(core, *task) for task in core.tasks if task[0] >= 0]
        lines.append(
            " ".join(
                [
                    "actions by seat, in order:",
                    *(_format_action(step.player, step.action) for step in self.full_history()[PREAMBLE:]),
                ]
            )
        )
        for seat, message in enumerate(core.messages):
            if message is not None:
                label, card = message[:2]
                trick = message[2] // PLAYERS + 1
                lines.append(f"seat {seat} shows {CARDS[card]}, {ACTIONS[label]}, before trick {trick}")
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
    """List the special rules of a mission."""
    return [rule for i, rule in enumerate(missions.RULES) if _core.crew.RULE_TOKEN + i in mission.tokens]


def _task(core: Any, card: int, token: int, owner: int, done: bool) -> str:
    """Describe a task in a line."""
    tile = "" if token == missions.NO_TILE else f" ({missions.TILES[token]})"
    holder = "of nobody yet" if owner < 0 else f"of seat {owner}"
    status = f"its card fell in trick {core.plays.index(card) // PLAYERS + 1}" if done else "open"
    return f"task {CARDS[card]}{tile} {holder}, {status}"


def _format_action(player: int, action: int) -> str:
    return ("" if player < 0 else f"{player}:") + ACTIONS[action]


def _text(state: Any, viewer: int) -> str:
    """Return the information state string of a viewer: its events in order."""
    if state.core is None:
        return f"dealing {len(state.deck)}"
    view = _view(state, viewer)
    parts = [f"mission {view.events[0].action}"]
    for event in view.events[1:]:
        words = [ACTIONS[event.action]] if event.action is not None else [CARDS[c] for c in event.seen]
        parts.append(("" if event.actor == CHANCE else f"{event.actor}:") + " ".join(words))
    return f"{view.viewer} | " + " | ".join(parts)


pyspiel.register_game(_TYPE, CrewGame)


class Crew(Game):
    """The game `trickformer_crew`. One team sits in all seats and shares a score, 1 for success and 0 for failure.

    In a view, the others' distress passes are events without a card. When all seats have drawn at random, each sees the
    card that it has lost and the card that it has gained.
    """

    name = "crew"
    players = PLAYERS
    higher_is_better = True
    worth = 1.0, "missions"
    score_unit = "wins a game"
    baseline = "rules"
    labels_are_results = False  # some labels come from a solver with open cards
    # Values of section 9.3 of the GO-MCTS paper, except the threshold, which is 0.01 there. The models here evaluate
    # rare actions badly. They also predict partners badly, so searches finish games in sampled worlds by a fast
    # scripted player (docs/results/recipe.md).
    search = SearchSettings(runs=50, steps=5, c=0.1, threshold=0.2)
    paper_search = SearchSettings(runs=50, steps=5, c=0.1, threshold=0.01, argmax_threshold=0.05)
    training = TRAINING

    def __init__(self, spiel: pyspiel.Game):
        self.spiel = spiel
        parameters = spiel.get_parameters()
        pages = missions.read(parameters["file"])
        self.pages = {page.id: page for page in pages if parameters["mission"] in (0, page.id)}
        self.missions = {number: page.mission(parameters["distress"]) for number, page in self.pages.items()}
        self.book = _core.crew.Logbook(list(self.missions.values()))
        labels = tuple((won,) * PLAYERS for won in (0, 1))
        self.outcomes = Outcomes(labels, np.array(labels, dtype=np.float32))

    def view(self, state: State, viewer: int) -> View:
        self.check_viewer(viewer)
        return _view(state, viewer)

    def mission(self, state: State) -> int | None:
        game: Any = state
        return game.mission.id if game.mission is not None else None

    def trick(self, state: State) -> int | None:
        game: Any = state
        core = game.core
        return len(core.plays) // PLAYERS + 1 if core is not None and core.phase == PLAY else None

    def failures(self, state: State) -> list[str]:
        """List the tasks, orders and rules that the last trick broke, in words; empty if the mission is not lost.

        Args:
            state: Any state after the deal.
        """
        game: Any = state
        return crew_verdict.failures(game.core, _rules(game.mission), CARDS)

    def summary(self, histories: Sequence[Sequence[int]], seats: Sequence[Sequence[int]]) -> Summary:
        by_mission: dict[int, list[bool]] = {}
        for history in histories:
            number, cards = history[0], np.array(history[1:PREAMBLE], dtype=np.uint8)
            core = _core.crew.State(self.missions[number], cards)
            for action in history[PREAMBLE:]:
                core.apply_action(action)
            by_mission.setdefault(number, []).append(core.result > 0)
        summary: Summary = {"missions won": mean_of_games([won for games in by_mission.values() for won in games])}
        if len(by_mission) > 1:
            summary |= {f"mission {number} won": mean_of_games(by_mission[number]) for number in sorted(by_mission)}
        return summary

    def chance(self, state: State, seed: int, index: int) -> int:
        core, number = state.core, state.move_number()
        dealt = self.chance_actions(seed, index)
        if number < PREAMBLE:
            return dealt[number]
        if core.phase == REVEAL:
            return dealt[PREAMBLE + sum(card >= 0 for card, *_ in core.tasks)]
        cards = core.legal_actions()
        return cards[int(self.draws(seed, index)[core.step] * len(cards))]  # step: the seat that draws

    def chance_actions(self, seed: int, index: int) -> tuple[int, ...]:
        """Return the chance actions of a deal, without those of `draws`: the mission, the cards, the task cards.

        Args:
            seed: The series.
            index: Number of the deal in the series.
        """
        key = deal_seed(seed, index)
        return *_shuffle(key, tuple(self.missions)), *_tasks(key)

    def draws(self, seed: int, index: int) -> list[float]:
        """Return for each seat a number in [0, 1): the relative index of the card that it draws from the possible ones.

        Args:
            seed: The series.
            index: Number of the deal in the series.
        """
        key = deal_seed(seed, index)
        return [np.random.default_rng([key, 2, seat]).random() for seat in range(PLAYERS)]

    def deal(self, seed: int, index: int, mission: int | None = None) -> State:
        """Return a deal at the first decision. Its cards are the same in every mission.

        Args:
            seed: The series.
            index: Number of the deal in the series.
            mission: Number of the mission; None means that chance draws it.
        """
        state = self.spiel.new_initial_state()
        if mission is not None:
            state.apply_action(mission)
        while state.is_chance_node():
            state.apply_action(self.chance(state, seed, index))
        return state

    def seatings(self, kinds: int) -> tuple[tuple[int, ...], ...]:
        # Scores are shared, so a table with different players would not compare them.
        return tuple((kind,) * PLAYERS for kind in range(kinds))


def _view(state: Any, viewer: int) -> View:
    """Return the view of a seat, or the public view."""
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
    for step, (phase, is_last) in zip(steps, _list_phases(state, deck, steps)):
        seat, action = step.player, step.action
        if phase == PASS:
            events.append(action_event(seat, action if seat == viewer else None))
            if is_last and viewer != PUBLIC:
                giver = (viewer - core.distress) % PLAYERS
                events.append(Event(giver, None, (core.passed_cards[giver],)))
        elif phase == DRAW:
            if is_last and viewer != PUBLIC:
                events.append(Event(CHANCE, None, (core.drawn_cards[(viewer + 1) % PLAYERS],)))
                events.append(Event(CHANCE, None, (core.drawn_cards[viewer],)))
        else:
            events.append(action_event(seat, action))
    on_turn = viewer != PUBLIC and state.current_player() == viewer
    return View(viewer, tuple(events), tuple(state.legal_actions()) if on_turn else ())


def _list_phases(state: Any, deck: list[int], steps: list[Any]) -> Iterable[tuple[int, bool]]:
    """List the phase of each step, and whether the step ends the phase.

    Only PASS and DRAW, which are partly hidden, matter to callers. Other phases are returned as OVER.
    """
    if not state.core.distress and _RANDOM_DRAW not in state.mission.tokens:
        return repeat((OVER, False))
    replay, phases = _core.crew.State(state.mission, np.array(deck, dtype=np.uint8)), []
    for step in steps:
        phase = replay.phase
        replay.apply_action(step.action)
        phases.append((phase if phase in (PASS, DRAW) else OVER, replay.phase != phase))
    return phases


# Tokens of the special rules whose events a view shows.
_ALL_PINK, _RANDOM_DRAW = (
    _core.crew.RULE_TOKEN + list(missions.RULES).index(rule)
    for rule in ("left_of_pink9_wins_all_pink", "random_draw_after_trick1")
)


@lru_cache(maxsize=1024)
def _shuffle(seed: int, missions: tuple[int, ...]) -> tuple[int, ...]:
    """Return the mission and the deck. The deck of a seed is the same in every mission."""
    mission = missions[int(np.random.default_rng([seed, 1]).integers(len(missions)))]
    return (mission, *np.random.default_rng(seed).permutation(NUM_CARDS).tolist())


@lru_cache(maxsize=1024)
def _tasks(seed: int) -> tuple[int, ...]:
    """Return the task cards in the order in which they are revealed."""
    return tuple(np.random.default_rng([seed, 3]).permutation(COLOUR_CARDS).tolist())


def load(spec: str = "crew") -> Crew:
    """Load the game.

    Args:
        spec: `crew`, or with options such as `crew(mission=7,distress=left)`.

    Raises:
        TrickformerError: An option or its value does not exist.
    """
    return make_game(**openspiel.options(spec, "crew", tuple(_PARAMETERS)))


def make_game(mission: Any = 0, distress: Any = "off", file: Any = "") -> Crew:
    """Make the game with some options.

    Args:
        mission: Number of a mission; 0 means that chance draws it.
        distress: `off`, `left` or `right`.
        file: File with other missions; an empty text means the logbook.

    Raises:
        TrickformerError: The value of an option is invalid.
    """
    if distress not in missions.DISTRESS:
        raise TrickformerError(f"option distress of crew is one of {', '.join(missions.DISTRESS)}, not {distress!r}")
    numbers = [page.id for page in missions.read(str(file))]
    if type(mission) is not int or mission not in (0, *numbers):
        raise TrickformerError(f"option mission of crew is 0 (any) or one of {ranges(numbers)}, not {mission!r}")
    parameters = {"mission": mission, "distress": distress, "file": str(file)}
    return Crew(pyspiel.load_game("trickformer_crew", parameters))


def ranges(numbers: list[int]) -> str:
    """Describe numbers in words, ascending, such as `1-3, 7`.

    Args:
        numbers: Different integers.
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
