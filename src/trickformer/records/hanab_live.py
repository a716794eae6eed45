"""Games of Hanabi in the JSON of hanab.live, one object a game.

    players   names; the first one moves first
    deck      50 cards, {"suitIndex": 0 to 4, "rank": 1 to 5}: the hands, the first player's first, and then the draws
    actions   {"type", "target", "value"}. Types 0 and 1 play and discard card number `target` of the deck.
              Types 2 and 3 give player `target` a hint of colour or rank `value`.
              Type 4 ends the game early for the reason `value`, and type 5 ends it by vote.
    options   {"variant": "No Variant"}, and settings of the table
    id, seed  numbers of the game on the site

Suits are red, yellow, green, blue and purple; purple is our white. The reader drops notes and settings
that are not rules. It refuses games with other rules (variants, other hand sizes, detrimental characters).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from trickformer import games
from trickformer.base import CHANCE, TrickformerError
from trickformer.games import hanabi
from trickformer.plumbing.text import Int64
from trickformer.records import early_end
from trickformer.records.played import GameRecord, describe_moves, validation_fault

NO_VARIANT = "No Variant"
_COLORS = (0, 1, 2, 4, 3)  # suit of the site -> our colour; the same tuple maps back, because it only swaps two
_SUITS = ("red", "yellow", "green", "blue", "purple")
# Settings of a table that change the rules. Moves that only other rules allow, such as empty hints, are illegal.
_OTHER_RULES = ("startingPlayer", "speedrun", "oneExtraCard", "oneLessCard", "allOrNothing", "detrimentalCharacters")
_SOURCE = "hanab.live"  # tag `source` of a record; the other tags are id, seed and undrawn
_GAME_KEYS = re.compile(r'"(actions|suitIndex)"\s*:')  # keys that our own records do not have


class _Kind(IntEnum):
    """Type of an action."""

    PLAY = 0
    DISCARD = 1
    COLOR = 2
    RANK = 3
    END = 4
    VOTE = 5


class _Reason(IntEnum):
    """Value of an action that ends a game early."""

    TIME_OUT = 3
    TERMINATED = 4
    IDLE = 6
    VOTE = 10


class _Card(BaseModel):
    suitIndex: Int64
    rank: Int64


class _Action(BaseModel):
    type: Int64
    target: Int64
    value: Int64 | None = None


class _HanabGame(BaseModel):
    """JSON object of a game on the site. Other keys are dropped."""

    model_config = ConfigDict(extra="ignore")

    players: list[Annotated[str, StringConstraints(min_length=1, max_length=100)]]
    deck: list[_Card] = []
    actions: Annotated[list[_Action], Field(max_length=1000)]
    options: dict[str, Any] | None = None
    characters: list[Any] | None = None
    id: Int64 | None = None
    seed: Annotated[str, StringConstraints(max_length=100)] | None = None


def is_game(text: str) -> bool:
    """Test whether a text looks like a game of hanab.live.

    Args:
        text: JSON text, or its first line.
    """
    return _GAME_KEYS.search(text) is not None


def parse(text: str) -> GameRecord:
    """Read a game.

    Args:
        text: JSON object.

    Returns:
        The record, with the scores by our rules. Its tags hold the site's id and seed, and the cards that nobody drew.

    Raises:
        TrickformerError: The text is no game, or the game is not over, has other rules, or holds an illegal move.
    """
    try:
        site_game = _HanabGame.model_validate_json(text, strict=True)
    except ValidationError as e:
        raise TrickformerError(validation_fault(e)) from None
    _refuse_other_rules(site_game)
    deck = _deck(site_game)
    game = games.load(f"hanabi(players={len(site_game.players)})" if len(site_game.players) > 2 else "hanabi")
    assert isinstance(game, hanabi.Hanabi)
    replay = _DeckReplay(game, deck)
    end = None
    for number, action in enumerate(site_game.actions, 1):
        if end is not None or replay.state.is_terminal():
            raise TrickformerError(f"action {number} comes after the end of the game")
        try:
            if action.type in (_Kind.END, _Kind.VOTE):
                end = _read_end(action, len(site_game.players))
            else:
                replay.apply(action)
        except TrickformerError as e:
            raise TrickformerError(f"action {number}: {e}") from None
    state = replay.state
    if end is None and not state.is_terminal():
        if not early_end.is_nothing_left(game, state):
            raise TrickformerError("the actions stop before the end of the game")
        end = early_end.NOTHING_LEFT
    tags = {"source": _SOURCE}
    tags |= {key: str(value) for key, value in (("id", site_game.id), ("seed", site_game.seed)) if value is not None}
    if undrawn := deck[replay.drawn :]:
        tags["undrawn"] = " ".join(hanabi.card_name(game.rules, card) for card in undrawn)
    return GameRecord(
        rules=str(game.spiel),
        names=tuple(site_game.players),
        history=tuple(state.history()),
        moves=tuple(describe_moves(state)),
        scores=game.scores(state) if end is None else early_end.scores(game, state, end),
        early_end=end,
        tags=tags,
    )


def _refuse_other_rules(site_game: _HanabGame) -> None:
    options = site_game.options or {}
    variant = options.get("variant", NO_VARIANT)
    if variant != NO_VARIANT:
        raise TrickformerError(f"variant {_shorten(variant)} is not supported")
    for option in _OTHER_RULES:
        if options.get(option):
            raise TrickformerError(f"option {option} is not supported")
    if any(site_game.characters or ()):
        raise TrickformerError("option detrimentalCharacters is not supported")
    if not 2 <= len(site_game.players) <= 5:
        raise TrickformerError(f"Hanabi is for 2 to 5 players, not {len(site_game.players)}")


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _deck(site_game: _HanabGame) -> list[int]:
    """Return the deck in the order of drawing. Raises TrickformerError if cards are missing or surplus."""
    rules = hanabi.load().rules
    cards = [card for card in site_game.deck if 0 <= card.suitIndex < rules.colors and 1 <= card.rank <= rules.ranks]
    if len(cards) < rules.deck:
        raise TrickformerError(f"the deck has {len(cards)} of {rules.deck} cards")
    if len(site_game.deck) > rules.deck:
        raise TrickformerError(f"the deck has {len(site_game.deck)} cards, not {rules.deck}")
    deck = [_COLORS[card.suitIndex] * rules.ranks + card.rank - 1 for card in cards]
    for kind, count in sorted(Counter(deck).items()):
        if count > rules.copies(kind):
            color, rank = divmod(kind, rules.ranks)
            name = f"{_SUITS[_COLORS.index(color)]} {rank + 1}"
            raise TrickformerError(f"the deck has {name} {count} times, not {rules.copies(kind)}")
    return deck


def _read_end(action: _Action, players: int) -> str:
    """Return the early end that an action names."""
    if action.value == _Reason.IDLE:
        return early_end.IDLE
    if action.type == _Kind.VOTE or action.value == _Reason.VOTE:
        return early_end.VOTE
    ends: dict[int, str] = {_Reason.TIME_OUT: early_end.TIMES_OUT, _Reason.TERMINATED: early_end.TERMINATES}
    words = ends.get(_Reason.TERMINATED if action.value is None else action.value)
    if words is None:
        raise TrickformerError(f"it ends the game for the unknown reason {action.value}")
    if not 0 <= action.target < players:
        raise TrickformerError(f"there is no player {action.target}")
    return f"{action.target} {words}"


class _DeckReplay:
    """Replay of a game from its deck. Cards are identified by their places in the deck, as on the site."""

    def __init__(self, game: hanabi.Hanabi, deck: Sequence[int]):
        self.rules, self.deck = game.rules, deck
        self.state: Any = game.spiel.new_initial_state()
        self.drawn = 0  # number of cards drawn so far
        # Places in the deck of each player's cards, the oldest card first.
        self.hand_places: list[list[int]] = [[] for _ in range(game.players)]
        for hand in self.hand_places:
            for _ in range(self.rules.hand):
                self.draw(hand)

    def draw(self, hand: list[int]) -> None:
        """Deal the next card of the deck."""
        self.state.apply_action(self.deck[self.drawn])
        hand.append(self.drawn)
        self.drawn += 1

    def apply(self, action: _Action) -> None:
        """Play an action, and draw. Raises TrickformerError if the rules forbid it."""
        seat = self.state.current_player()
        move = self.find_move(action, seat)
        if move not in self.state.legal_actions():
            raise TrickformerError(f"{self.name(action)} of player {seat} is against the rules")
        self.state.apply_action(move)
        if action.type in (_Kind.PLAY, _Kind.DISCARD):
            hand = self.hand_places[seat]
            hand.remove(action.target)
            if self.state.is_chance_node() and not self.state.is_terminal():
                self.draw(hand)

    def find_move(self, action: _Action, seat: int) -> int:
        """Return an action as OpenSpiel numbers it."""
        rules = self.rules
        if action.type in (_Kind.PLAY, _Kind.DISCARD):
            if action.target not in self.hand_places[seat]:
                raise TrickformerError(f"player {seat} does not hold card {action.target}")
            return self.hand_places[seat].index(action.target) + (rules.hand if action.type == _Kind.PLAY else 0)
        if action.type not in (_Kind.COLOR, _Kind.RANK):
            raise TrickformerError(f"its type {action.type} is unknown")
        offset = (action.target - seat) % rules.players
        if not 0 <= action.target < rules.players or not offset:
            raise TrickformerError(f"player {seat} gives a hint to player {action.target}")
        value, least = action.value, int(action.type == _Kind.RANK)  # ranks count from 1, colours from 0
        if value is None or not least <= value < least + (rules.ranks if action.type == _Kind.RANK else rules.colors):
            raise TrickformerError(f"the value {value} of a hint is out of range")
        # OpenSpiel numbers discards first, then plays, colour hints by player, and rank hints by player.
        first = 2 * rules.hand
        if action.type == _Kind.COLOR:
            return first + (offset - 1) * rules.colors + _COLORS[value]
        return first + (rules.players - 1) * rules.colors + (offset - 1) * rules.ranks + value - 1

    def name(self, action: _Action) -> str:
        """Return the kind of an action in words."""
        return ("the play", "the discard", "the colour hint", "the rank hint")[action.type]


def write(record: GameRecord, number: int = 1) -> str:
    """Write a game as one line without its end. `parse` restores a record that came from hanab.live.

    Args:
        record: Game of Hanabi with the usual rules. Cards that nobody drew come last, in the order of the tag `undrawn`
            if it names them.
        number: Number of the game in its file, for messages.

    Raises:
        TrickformerError: The game has other rules, or its history is not legal.
    """
    try:
        game, state = record.end()
    except TrickformerError as e:
        raise TrickformerError(f"game {number}: {e}") from None
    if not isinstance(game, hanabi.Hanabi) or not _has_usual_rules(game):
        raise TrickformerError(f"game {number}: hanab.live has no {record.rules}")
    steps = state.full_history()
    drawn = [step.action for step in steps if step.player == CHANCE]
    deck = [*drawn, *_undrawn(game.rules, drawn, record.tags.get("undrawn", ""))]
    site_tags = record.tags if record.tags.get("source") == _SOURCE else {}
    data: dict[str, Any] = {"id": int(site_tags["id"])} if re.fullmatch(r"-?\d{1,18}", site_tags.get("id", "")) else {}
    data |= {"players": list(record.names)}
    data |= {"deck": [_write_card(game.rules, kind) for kind in deck]}
    data |= {"actions": [*_write_moves(game, steps), *_write_end(record.early_end)]}
    data |= {"options": {"variant": NO_VARIANT}}
    data |= {"seed": site_tags["seed"]} if "seed" in site_tags else {}
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def _has_usual_rules(game: hanabi.Hanabi) -> bool:
    usual = hanabi.load(f"hanabi(players={game.players})")
    return hanabi.core_options(game.rules) == hanabi.core_options(usual.rules)


def _write_card(rules: Any, kind: int) -> dict[str, int]:
    color, rank = divmod(kind, rules.ranks)
    return {"suitIndex": _COLORS[color], "rank": rank + 1}


def _write_moves(game: hanabi.Hanabi, steps: Sequence[Any]) -> Iterator[dict[str, int]]:
    """Yield the players' moves as actions of the site. Steps of chance draw cards."""
    size, cards = game.rules.hand, game.players * game.rules.hand
    hand_places = [list(range(size * seat, size * (seat + 1))) for seat in range(game.players)]  # places in the deck
    seat = 0
    for step in steps[cards:]:
        if step.player == CHANCE:
            hand_places[seat].append(cards)
            cards += 1
            continue
        seat = step.player
        if step.action < 2 * size:
            kind = _Kind.PLAY if step.action >= size else _Kind.DISCARD
            yield {"type": kind, "target": hand_places[seat].pop(step.action % size)}
        else:
            yield _write_hint(game, seat, step.action)


def _write_hint(game: hanabi.Hanabi, seat: int, action: int) -> dict[str, int]:
    hint = hanabi.hint(game.rules, action)
    target = (seat + hint.offset) % game.players
    if hint.color is not None:
        return {"type": _Kind.COLOR, "target": target, "value": _COLORS[hint.color]}
    return {"type": _Kind.RANK, "target": target, "value": (hint.rank or 0) + 1}


def _write_end(end: str | None) -> list[dict[str, int]]:
    """Return the action that ends a game early, or none."""
    if end is None or end == early_end.NOTHING_LEFT:
        return []
    if end == early_end.IDLE:
        return [{"type": _Kind.END, "target": -1, "value": _Reason.IDLE}]
    if end == early_end.VOTE:
        return [{"type": _Kind.VOTE, "target": -1, "value": _Reason.VOTE}]
    seat, word = end.split(" ")
    reason = _Reason.TIME_OUT if word == early_end.TIMES_OUT else _Reason.TERMINATED
    return [{"type": _Kind.END, "target": int(seat), "value": reason}]


def _undrawn(rules: Any, drawn: Sequence[int], tag: str) -> list[int]:
    """Return the cards that nobody drew: in the order of the tag if it names exactly these, otherwise sorted."""
    left = Counter({kind: rules.copies(kind) for kind in range(rules.kinds)}) - Counter(drawn)
    kinds = {hanabi.card_name(rules, kind): kind for kind in range(rules.kinds)}
    named = [kinds.get(name, -1) for name in tag.split()]
    return named if Counter(named) == left else sorted(left.elements())
