"""Scenes of Skat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from trickformer import _core
from trickformer.games.skat import (
    ACTIONS,
    ANNOUNCE,
    BASES,
    CALL,
    CALLS,
    CARDS,
    DECLARATIONS,
    DECLARE,
    HAND,
    HOLD,
    LEVELS,
    NUM_CARDS,
    PASS,
    PICK_UP,
    PLAY_HAND,
    PLAYERS,
    TRICKS,
    Skat,
    card_points,
)
from trickformer.plumbing.text import count_noun
from trickformer.web.scenes._cards import (
    alternate_colours,
    backs,
    french,
    make_clickable,
    name_seats,
    trick_log,
    tricks,
)
from trickformer.web.scenes._scene import OPEN, Card, Choice, FinalHand, LogEntry, Pile, Rung, Scene, Seat, TrickCard

if TYPE_CHECKING:
    from trickformer.base import State

PACK_SIZE = NUM_CARDS
SKAT = NUM_CARDS - PLAYERS * HAND  # cards of the skat
_WINNING_POINTS = 61  # card points with which the soloist wins, neither side schneider
_SCHNEIDER_POINTS = 90  # card points with which the soloist makes the opponents schneider
_ALL_POINTS = 120  # card points of the pack
_PLACES = ("forehand", "middlehand", "rearhand")
_ASK = {
    "auction": "say what you bid",
    "pick-up": "pick up the skat, or play from your hand",
    "discard": "choose two cards to lay away",
    "declare": "declare your game",
    "announce": "announce a level, or play on as it is",
    "play": "play a card",
}
_WORDS = {PASS: "pass", HOLD: "hold", PICK_UP: "pick up the skat", PLAY_HAND: "play from the hand"}


def show(game: Skat, state: State, viewer: int, you: int | None) -> Scene:
    """Make the scene of a hand after the deal.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all cards face up.
        you: Seat that the reader plays and the words call "you", or None.
    """
    skat_state: Any = state
    on_turn, phase = skat_state.current_player(), skat_state.phase
    may_act = on_turn >= 0 and viewer in (on_turn, OPEN)
    actions = skat_state.legal_actions() if may_act else []
    contract, soloist = skat_state.contract, skat_state.soloist
    ouvert = contract is not None and phase in ("play", "over") and contract.level == "ouvert"
    bids = _last_bids(skat_state)
    won = _count_tricks(skat_state)
    seats = []
    for seat in range(PLAYERS):
        hand = [(c, card(c)) for c in _sort(skat_state, skat_state.hand(seat))]
        shown = viewer in (seat, OPEN) or (ouvert and seat == soloist)
        cards = make_clickable(hand, actions if seat == on_turn else ()) if shown else backs(len(skat_state.hand(seat)))
        features = [_PLACES[seat], *(["soloist"] if seat == soloist else [])]
        if skat_state.plays:
            features += [count_noun(won[seat][0], "trick"), count_noun(won[seat][1], "card point")]
        seats.append(Seat(seat=seat, cards=cards, features=tuple(features), last_action=bids.get(seat, "")))
    trick, last = tricks([TrickCard(seat=seat, card=card(c)) for seat, c in skat_state.plays], PLAYERS)
    is_picked_up = PICK_UP in skat_state.history()[NUM_CARDS:]
    discards = phase == "discard" and on_turn == viewer
    features = [f"bid {skat_state.bid}"] if skat_state.bid else []
    if skat_state.plays and phase != "over":
        features.append(f"trick {len(skat_state.plays) // PLAYERS + 1} of {TRICKS}")
    return Scene(
        title=_contract(skat_state) if contract is not None else "auction" if phase == "auction" else "Skat",
        ask=_ASK.get(phase, "") if on_turn == you else "",
        pick=SKAT - len(skat_state.skat) if discards else 0,
        confirm="lay these cards away" if discards else "",
        seats=tuple(seats),
        trick=trick,
        last=last,
        taker=(trick[0].seat if trick else skat_state.leader) if last else None,
        piles=_piles(skat_state, viewer) if phase != "over" or not is_picked_up else (),
        choices=_choices(skat_state, actions),
        ladder=_ladder(skat_state.bid, actions) if phase == "auction" else (),
        features=tuple(features),
        result=_result(skat_state, you) if phase == "over" else (),
        hands=tuple(_final_hand(skat_state, seat) for seat in range(PLAYERS)) if phase == "over" else (),
    )


def log(game: Skat, state: State, viewer: int, you: int | None) -> tuple[LogEntry, ...]:
    """List the auction, the skat and the discards if the seat knows them, the declaration and the tricks.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all cards face up.
        you: Seat that the reader plays and the words call "you", or None.
    """
    skat_state: Any = state
    plays = skat_state.plays
    steps = skat_state.full_history()[NUM_CARDS:]
    entries = []
    for step in steps[: len(steps) - len(plays)]:
        seat, action = step.player, step.action
        is_seen = viewer in (seat, OPEN)
        if action < NUM_CARDS:
            if is_seen:
                entries.append(LogEntry(seat=seat, words="lay away", cards=(card(action),)))
        elif action == PICK_UP:
            skat = skat_state.deck[PLAYERS * HAND :] if is_seen else ()
            entries.append(LogEntry(seat=seat, words=_WORDS[action], cards=tuple(map(card, sorted(skat)))))
        else:
            entries.append(LogEntry(seat=seat, words=_WORDS.get(action) or ACTIONS[action].replace("-", " ")))
    takers = []
    for start in range(0, len(plays) - PLAYERS + 1, PLAYERS):
        taker = plays[start + PLAYERS][0] if start + PLAYERS < len(plays) else skat_state.leader
        points = card_points(c for _, c in plays[start : start + PLAYERS])
        takers.append(LogEntry(taker=taker, words=count_noun(points, "card point")))
    return (*entries, *trick_log([TrickCard(seat=seat, card=card(c)) for seat, c in plays], PLAYERS, takers))


def card(number: int) -> Card:
    """Make a card for display.

    Args:
        number: Number of the card in the deck.
    """
    suit, rank = CARDS[number]
    return french(CARDS[number], suit, rank)


def _ladder(bid: int, actions: Iterable[int]) -> tuple[Rung, ...]:
    """List the calls of the auction, ascending; those up to the bid are called."""
    calls = set(actions)
    return tuple(
        Rung(words=str(value), action=CALL + i if CALL + i in calls else None, is_called=value <= bid)
        for i, value in enumerate(CALLS)
    )


def _choices(skat_state: Any, actions: Iterable[int]) -> tuple[Choice, ...]:
    """List the actions that are neither cards nor calls; games whose value is below the bid come last."""
    priced = [(_value(a, skat_state), a) for a in actions if a >= CALL + len(CALLS)]
    priced.sort(key=lambda item: item[0] is not None and item[0] < skat_state.bid)
    return tuple(_choice(action, value, skat_state.bid) for value, action in priced)


def _value(action: int, skat_state: Any) -> int | None:
    """Return the value of the game that a declaration or an announcement begins; None for another action."""
    if DECLARE <= action < DECLARE + len(DECLARATIONS):
        return declared_value(skat_state, DECLARATIONS[action - DECLARE])
    return announced_value(skat_state, ACTIONS[action]) if action >= ANNOUNCE else None


def _choice(action: int, value: int | None, bid: int) -> Choice:
    if value is None:
        return Choice(action=action, words=f"hold {bid}" if action == HOLD else _WORDS[action])
    words = f"{ACTIONS[action].replace('-', ' ')} · {value}{f' · below your bid {bid}' if value < bid else ''}"
    return Choice(action=action, words=words, group="announce" if action >= ANNOUNCE else "declare")


def declared_value(skat_state: Any, declaration: str) -> int:
    """Return the value that a declaration would have, without schneider, as far as the soloist's cards tell it.

    Matadors are counted in the cards that the soloist has seen: after the pick-up these are the hand and the cards laid
    away, and in a hand game the hand alone.

    Args:
        skat_state: State before the declaration.
        declaration: One of DECLARATIONS.
    """
    if declaration.startswith("null"):
        level = "ouvert" if declaration == "null-ouvert" else "plain"
        return _won_value(skat_state, "null", level, points=0, tricks=0)
    return _won_value(skat_state, declaration, "plain", points=_WINNING_POINTS, tricks=1)


def announced_value(skat_state: Any, level: str) -> int:
    """Return the value that a hand game would have if it is won with an announced level and no higher one.

    Args:
        skat_state: State before the announcement.
        level: One of LEVELS.
    """
    points, tricks = {"plain": (_WINNING_POINTS, 1), "schneider": (_SCHNEIDER_POINTS, 1)}.get(
        level, (_ALL_POINTS, TRICKS)
    )
    return _won_value(skat_state, DECLARATIONS[skat_state.core.kind], level, points, tricks)


def _won_value(skat_state: Any, declaration: str, level: str, points: int, tricks: int) -> int:
    """Return the value of a game that the soloist wins, as far as the cards that the soloist has seen determine it."""
    core = skat_state.core
    is_hand = PICK_UP not in skat_state.history()[NUM_CARDS:]
    result = _core.skat.settle(
        kind=DECLARATIONS.index(declaration),
        hand=is_hand,
        level=LEVELS.index(level),
        bid=0,  # an overbid would change the value
        soloist=core.soloist,
        soloists_cards=[*core.hand(core.soloist), *([] if is_hand else core.skat)],
        points=points,
        tricks=tricks,
    )
    return int(result.value)


def _last_bids(skat_state: Any) -> dict[int, str]:
    """Return the last call of each seat in the auction."""
    return {seat: ACTIONS[action] for seat, action in skat_state.auction} if not skat_state.plays else {}


def _contract(skat_state: Any) -> str:
    contract = skat_state.contract
    hand = ["hand"] if contract.hand else []
    return " ".join([contract.game, *hand, *([contract.level] if contract.level != "plain" else [])])


def _sort(skat_state: Any, cards: Iterable[int]) -> list[int]:
    """Sort a hand: trumps first once they are known, then by suit with alternating colours, the highest card first."""
    contract, cards = skat_state.contract, list(cards)
    is_null = contract is not None and contract.game == "null"
    trump = {"diamonds": "D", "hearts": "H", "spades": "S", "clubs": "C"}.get(contract.game, "") if contract else ""
    suits = alternate_colours([CARDS[c][0] for c in cards if is_null or CARDS[c][1] != "J"], "CHSD", trump)

    def key(c: int) -> tuple[int, int]:
        suit, rank = CARDS[c]
        if is_null:
            return suits.index(suit), -"789TJQKA".index(rank)
        return (-1, -c) if rank == "J" else (suits.index(suit), -c)

    return sorted(cards, key=key)


def _count_tricks(skat_state: Any) -> list[tuple[int, int]]:
    """Count for each seat its tricks and the card points in them."""
    plays = skat_state.plays
    won = [(0, 0)] * PLAYERS
    for start in range(0, len(plays) - PLAYERS + 1, PLAYERS):
        taker = plays[start + PLAYERS][0] if start + PLAYERS < len(plays) else skat_state.leader
        tricks_before, points_before = won[taker]
        won[taker] = tricks_before + 1, points_before + card_points(c for _, c in plays[start : start + PLAYERS])
    return won


def _piles(skat_state: Any, viewer: int) -> tuple[Pile, ...]:
    """Return the skat. Who has picked it up, and everybody at the end, also sees which cards it held before."""
    soloist, is_picked_up = skat_state.soloist, PICK_UP in skat_state.history()[NUM_CARDS:]
    dealt = tuple(card(c) for c in sorted(skat_state.deck[PLAYERS * HAND :]))
    if viewer != OPEN and not (is_picked_up and viewer == soloist):
        lies_on_table = skat_state.phase not in ("discard", "declare")
        return (Pile(title="Skat", cards=backs(len(dealt))),) if lies_on_table else ()
    if not is_picked_up:
        return (Pile(title="Skat", cards=dealt),)
    laid_away = tuple(card(c) for c in skat_state.skat)
    piles = (Pile(title="picked up", cards=dealt), Pile(title="laid away", cards=laid_away))
    return piles if laid_away else piles[:1]


def _final_hand(skat_state: Any, seat: int) -> FinalHand:
    """Return the cards that a seat was dealt, picked up and laid away."""
    dealt = _sort(skat_state, skat_state.deck[HAND * seat : HAND * (seat + 1)])
    piles = [Pile(title="dealt", cards=tuple(map(card, dealt)))]
    if seat == skat_state.soloist and PICK_UP in skat_state.history()[NUM_CARDS:]:
        piles += _piles(skat_state, OPEN)
    return FinalHand(seat=seat, piles=tuple(piles))


def value_steps(skat_state: Any) -> list[tuple[str, int]]:
    """List the levels of a suit or grand game that is over, each with the number of levels so far.

    Args:
        skat_state: State at the end of a hand with a soloist; its contract is not null.
    """
    result, contract = skat_state.result, skat_state.contract
    announced = LEVELS.index(contract.level)
    jacks = abs(result.matadors)
    names = [
        ("game", True),
        ("hand", contract.hand),
        ("schneider", result.schneider or announced >= LEVELS.index("schneider")),
        ("schneider announced", announced >= LEVELS.index("schneider")),
        ("schwarz", result.schwarz or announced >= LEVELS.index("schwarz")),
        ("schwarz announced", announced >= LEVELS.index("schwarz")),
        ("ouvert", announced >= LEVELS.index("ouvert")),
    ]
    steps = [(f"{'with' if result.matadors > 0 else 'without'} {jacks}", jacks)]
    for name, counts in names:
        if counts:
            steps.append((name, steps[-1][1] + 1))
    return steps


def _result(skat_state: Any, you: int | None) -> tuple[str, ...]:
    """Describe the result: card points, the value with its arithmetic, and the score."""
    result, contract = skat_state.result, skat_state.contract
    soloist = result.soloist
    if result.soloist < 0:
        return ("All seats have passed: nobody scores.",)
    is_own = soloist == you
    name = name_seats([soloist], you)
    outcome = ("win" if result.won else "lose") if is_own else "wins" if result.won else "loses"
    if contract.game.startswith("null"):
        took = count_noun(result.tricks, "trick") if result.tricks else "no trick"
        first = f"{name} {outcome} {_contract(skat_state)}: {'you' if is_own else 'it'} took {took}."
        base_value = abs(result.value) // (1 if result.won else 2)
        arithmetic = f"Value {base_value}"
    else:
        skat = card_points(skat_state.skat)
        first = (
            f"{name} {outcome} {_contract(skat_state)} with {result.points} of {_ALL_POINTS} card points:"
            f" {result.points - skat} in {count_noun(result.tricks, 'trick')} and {skat} in the skat."
        )
        steps, base = value_steps(skat_state), BASES[DECLARATIONS.index(contract.game)]
        base_value = steps[-1][1] * base
        levels = ", ".join([steps[0][0], *(f"{name} {count}" for name, count in steps[1:])])
        arithmetic = f"Value: {levels}, times {base} is {base_value}"
    lines = [first, f"{arithmetic}."]
    if result.overbid:
        raised = abs(result.value) // 2
        lines.append(f"Overbid: {base_value} is below the bid of {skat_state.bid}, so {raised} counts.")
    bonus = (50 if result.won else -50) * skat_state.seeger
    own = result.value + bonus
    signed = str(result.value) if result.won else f"twice the value, {result.value}"
    others = ", and each opponent 40" if skat_state.seeger and not result.won else ""
    total = f"{signed}, {'plus' if bonus > 0 else 'minus'} 50 is {own}" if bonus else signed
    lines.append(f"{name} {'score' if is_own else 'scores'} {total}{others}.")
    return tuple(lines)
