"""Scenes of The Crew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trickformer import _core
from trickformer.games import crew_verdict
from trickformer.games.crew import (
    ACTIONS,
    APPOINT,
    APPOINT_LAST,
    ASK,
    CARDS,
    DRAFT,
    DRAW,
    HAND,
    HIGHEST,
    LOWEST,
    NAME,
    NO,
    NUM_CARDS,
    ONLY,
    PASS,
    PLAY,
    PLAYERS,
    PREAMBLE,
    RADIO,
    RADIO_CARD,
    SEAT,
    SILENT,
    TILE,
    TILE_FROM,
    TILE_TO,
    TRICKS,
    UNLABELLED,
    YES,
    Crew,
)
from trickformer.games.missions import COMMUNICATION, NO_TILE, RULES, TILES
from trickformer.plumbing.text import count_noun
from trickformer.web.scenes._cards import backs, make_clickable, tricks
from trickformer.web.scenes._scene import (
    OPEN,
    Card,
    Choice,
    FinalHand,
    LogEntry,
    Option,
    Pile,
    Scene,
    Seat,
    Sign,
    TrickCard,
)

if TYPE_CHECKING:
    from trickformer.base import State

PACK_SIZE = NUM_CARDS
_SIGNS: dict[str, Sign] = {"P": "pink", "B": "blue", "G": "green", "Y": "yellow", "R": "rocket"}
_ASK = {
    TILE_FROM: "choose a task token to move, or leave all where they are",
    TILE_TO: "choose the task that gets the token",
    NAME: "name a member of the crew",
    DRAFT: "take a task",
    ASK: "offer to take the task or the role: yes or no",
    APPOINT: "choose the seat that takes the task or the role",
    APPOINT_LAST: "choose the seat that must win the last trick",
    PASS: "pass a card: distress signal",
    RADIO: "choose a card to show, or stay silent",
    RADIO_CARD: "show a card",
    PLAY: "play a card",
    DRAW: "draw",
}
_LOG_WORDS = {DRAFT: "take the task", PASS: "pass", RADIO_CARD: "show", TILE_TO: "move the token to the task"}
_TOKEN_WORDS = {
    HIGHEST: "token on top: my highest",
    ONLY: "token in the middle: my only one",
    LOWEST: "token at the bottom: my lowest",
    UNLABELLED: "no token",
}
_TOKEN_MEANINGS = {
    HIGHEST: "highest card of this colour in the hand",
    ONLY: "only card of this colour in the hand",
    LOWEST: "lowest card of this colour in the hand",
}
_COMMUNICATION = {"dead zone": "dead zone: a shown card gets no token"}
_DISTRESS = {1: "your left neighbour", 3: "your right neighbour"}
_WORDS = {YES: "yes", NO: "no", SILENT: "stay silent"}


def show(game: Crew, state: State, viewer: int, you: int | None) -> Scene:
    """Make the scene of a mission after the deal.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all cards face up.
        you: Seat that the reader plays and the words call "you", or None.
    """
    crew_state: Any = state
    core, mission = crew_state.core, game.pages[crew_state.mission.id]
    on_turn, phase = crew_state.current_player(), core.phase
    actions: list[int] = crew_state.legal_actions() if on_turn >= 0 and viewer in (on_turn, OPEN) else []
    places = _places(crew_state) if phase == RADIO and actions else {}
    playable = [] if phase in (DRAFT, TILE_FROM, TILE_TO) else actions
    messages = core.messages
    seats, communications = [], []
    for seat in range(PLAYERS):
        own_cards = core.hand(seat)
        if viewer in (seat, OPEN):
            used = {c: card(c).model_copy(update={"options": places.get(c, ())}) for c in sorted(own_cards)}
            cards = make_clickable(used.items(), playable) if seat == on_turn else tuple(map(card, sorted(own_cards)))
        else:
            cards = backs(len(core.hand(seat)))  # passed and drawn cards move after the last seat has chosen
        if messages[seat] is not None and messages[seat][1] not in core.plays:
            label, c = messages[seat][:2]
            note = ACTIONS[label] if label != UNLABELLED else ""
            about = _TOKEN_MEANINGS.get(label, "")
            shown = card(c).model_copy(update={"notes": (note,) if note else (), "about": about})
            communications.append(Pile(title="shows", cards=(shown,), seat=seat))
        features = [count_noun(core.winners.count(seat), "trick")]
        features += ["commander"] * (seat == core.commander) + ["named member"] * (seat == core.member)
        features += ["wins the first four"] * (seat == core.first_four) + ["wins the last"] * (seat == core.last)
        seats.append(Seat(seat=seat, cards=cards, features=tuple(features)))
    leaders = [core.commander, *core.winners]
    played = [TrickCard(seat=(leaders[i // PLAYERS] + i) % PLAYERS, card=card(c)) for i, c in enumerate(core.plays)]
    trick, last = tricks(played, PLAYERS)
    return Scene(
        title=f"mission {crew_state.mission.id}",
        ask=_ask(crew_state, phase) if on_turn == you else "",
        seats=tuple(seats),
        trick=trick,
        last=last,
        taker=core.winners[-1] if last else None,
        piles=(*_tasks(core, actions if phase in (DRAFT, TILE_TO) else []), *communications),
        choices=_choices(core, actions, on_turn, set(_TOKEN_WORDS) if places else set()),
        features=tuple(_features(crew_state, mission)),
        outcome="" if not core.result else "Mission accomplished" if core.result > 0 else "Mission failed",
        result=_result(core, mission) if core.result else (),
        hands=tuple(_final_hand(crew_state, seat) for seat in range(PLAYERS)) if core.result else (),
    )


def log(game: Crew, state: State, viewer: int, you: int | None) -> tuple[LogEntry, ...]:
    """List the announcements, the passed cards that a seat knows, and the tricks.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all cards face up.
        you: Seat that the reader plays and the words call "you", or None.
    """
    crew_state: Any = state
    core = _core.crew.State(crew_state.mission, np.array(crew_state.deck, dtype=np.uint8))
    entries: list[LogEntry] = []
    for step in state.full_history()[PREAMBLE:]:
        phase = core.phase
        core.apply_action(step.action)
        if step.player < 0 or (phase == PASS and viewer not in (step.player, OPEN)):
            continue
        if phase == PLAY:
            if len(core.plays) % PLAYERS == 1:
                entries.append(LogEntry(words=f"trick {len(core.plays) // PLAYERS + 1}"))
            entries.append(LogEntry(seat=step.player, cards=(card(step.action),)))
            if len(core.plays) % PLAYERS == 0:
                entries.append(LogEntry(taker=core.winners[-1]))
        elif step.action < NUM_CARDS:
            words = _LOG_WORDS.get(phase, "")
            entries.append(LogEntry(seat=step.player, words=words, cards=(card(step.action),)))
        elif phase != RADIO or step.action != SILENT:
            entries.append(LogEntry(seat=step.player, words=_choice(step.action, step.player).words))
    return tuple(entries)


def card(number: int) -> Card:
    """Make a card for display.

    Args:
        number: Number of the card in the deck.
    """
    colour, value = CARDS[number]
    sign = _SIGNS[colour]
    return Card(name=CARDS[number], words=f"{sign} {value}", rank=value, sign=sign)


def _ask(crew_state: Any, phase: int) -> str:
    """Return the request to the seat on turn."""
    receiver = _DISTRESS.get(crew_state.core.distress)
    return f"distress signal: pass a card to {receiver}" if phase == PASS and receiver else _ASK.get(phase, "")


def _token_meaning(token: str) -> str:
    """Explain a token on a task."""
    if token.startswith(">"):
        return f"{token}: tasks with arrows are fulfilled in the order of their arrows, the fewest first"
    if token == "omega":
        return "omega: this task is fulfilled last"
    return f"{token}: this task is number {token} in order"


def _final_hand(crew_state: Any, seat: int) -> FinalHand:
    """Return the cards that a seat was dealt, the card that it passed, and its tasks."""
    core, deck = crew_state.core, crew_state.deck
    passed, replayed = [], _core.crew.State(crew_state.mission, np.array(deck, dtype=np.uint8))
    for step in crew_state.full_history()[PREAMBLE:]:
        passed += [step.action] if replayed.phase == PASS and step.player == seat else []
        replayed.apply_action(step.action)
    piles = [Pile(title="dealt", cards=tuple(map(card, sorted(deck[HAND * seat : HAND * (seat + 1)]))))]
    piles += [Pile(title="passed", cards=tuple(map(card, passed)))] if passed else []
    tasks = [pile.model_copy(update={"seat": None}) for pile in _tasks(core, []) if pile.seat == seat]
    return FinalHand(seat=seat, piles=(*piles, *tasks))


def _tasks(core: Any, actions: list[int]) -> tuple[Pile, ...]:
    """Return the task cards by owner."""
    piles: dict[int, list[Card]] = {}
    for number, token, owner, done in core.tasks:
        if number < 0:
            continue
        task = card(number)
        notes = () if token == NO_TILE else (TILES[token],)
        about = "" if token == NO_TILE else _token_meaning(TILES[token])
        action = number if number in actions else None
        done = done and core.winners[core.plays.index(number) // PLAYERS] == owner
        piles.setdefault(owner, []).append(
            task.model_copy(
                update={
                    "notes": notes,
                    "about": about,
                    "done": done,
                    "action": action,
                    "words": f"task {task.words}",
                }
            )
        )
    return tuple(
        Pile(title="tasks", cards=tuple(cards), seat=None if owner < 0 else owner)
        for owner, cards in sorted(piles.items())
    )


def _choices(core: Any, actions: list[int], actor: int, on_cards: set[int]) -> tuple[Choice, ...]:
    """List the actions that are no click on a card. `on_cards` are labels that the cards offer."""
    tasks = {task[0] for task in core.tasks}
    shown = [a for a in actions if a >= NUM_CARDS or (core.phase == TILE_TO and a not in tasks)]
    return tuple(_choice(a, actor) for a in shown if a not in on_cards)


def _places(crew_state: Any) -> dict[int, tuple[Option, ...]]:
    """List for each card of the seat on turn the places of the token with which it can be communicated."""
    options: dict[int, tuple[Option, ...]] = {}
    for label in crew_state.legal_actions():
        if label in _TOKEN_WORDS:
            for c in crew_state.child(label).legal_actions():
                option = Option(words=_TOKEN_WORDS[label], actions=(label, c))
                options[c] = (*options.get(c, ()), option)
    return options


def _choice(action: int, actor: int) -> Choice:
    if action < NUM_CARDS:
        return Choice(action=action, words=CARDS[action])
    if SEAT <= action < TILE:
        return Choice(action=action, words=f"seat {(actor + action - SEAT) % PLAYERS}", group="who")
    if TILE <= action < YES:
        name = TILES[action - TILE]
        return Choice(action=action, words="leave them" if name == "none" else f"token {name}", group="token")
    if action in _WORDS:
        return Choice(action=action, words=_WORDS[action])
    return Choice(action=action, words=f"show a card: {ACTIONS[action]}", group="communicate")


def _features(crew_state: Any, mission: Any) -> list[str]:
    core, is_over = crew_state.core, crew_state.is_terminal()
    trick = len(core.winners) + (0 if is_over else 1)  # a mission may end before the last trick
    features = [f"trick {trick} of {TRICKS}"] if core.plays or core.phase in (RADIO, PLAY) else []
    if mission.communication != COMMUNICATION[0]:
        features.append(_COMMUNICATION.get(mission.communication, f"communication {mission.communication} on"))
    features += [RULES[rule] for rule in mission.rules]
    return features


def _result(core: Any, mission: Any) -> tuple[str, ...]:
    """Describe the result: whether the mission is accomplished, and what broke it otherwise."""
    trick = f"in trick {len(core.winners)}"
    if core.result > 0:
        return (f"Mission accomplished {trick}.",)
    return (f"Mission failed {trick}: {'; '.join(crew_verdict.failures(core, mission.rules, CARDS))}.",)
