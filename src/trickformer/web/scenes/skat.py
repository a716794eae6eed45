"""Scenes of Skat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trickformer.games.skat import (
    ACTIONS,
    ANNOUNCE,
    CALL,
    CALLS,
    CARDS,
    DECLARATIONS,
    DECLARE,
    HOLD,
    NUM_CARDS,
    PASS,
    PICK_UP,
    PLAY_HAND,
    PLAYERS,
    Skat,
)
from trickformer.web.scenes._cards import backs, count_noun, french, make_clickable, tricks
from trickformer.web.scenes._scene import OPEN, Card, Choice, Pile, Scene, Seat, TrickCard

if TYPE_CHECKING:
    from trickformer.base import State

_PLACES = ("forehand", "middlehand", "rearhand")
_ASK = {
    "auction": "say what you bid",
    "pick-up": "pick up the skat, or play from your hand",
    "discard": "lay away a card",
    "declare": "declare your game",
    "announce": "announce a level, or play on as it is",
    "play": "play a card",
}
_WORDS = {PASS: "pass", HOLD: "hold", PICK_UP: "pick up the skat", PLAY_HAND: "play from the hand"}


def show(game: Skat, state: State, viewer: int) -> Scene:
    """Make the scene of a hand after the deal.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all cards face up.
    """
    skat_state: Any = state
    on_turn, phase = skat_state.current_player(), skat_state.phase
    may_act = on_turn >= 0 and viewer in (on_turn, OPEN)
    actions = skat_state.legal_actions() if may_act else []
    contract, soloist = skat_state.contract, skat_state.soloist
    ouvert = contract is not None and phase in ("play", "over") and _is_ouvert(skat_state)
    bids = _last_bids(skat_state)
    order = _order(skat_state)
    seats = []
    for seat in range(PLAYERS):
        hand = [(c, card(c)) for c in sorted(skat_state.hand(seat), key=order)]
        shown = viewer in (seat, OPEN) or (ouvert and seat == soloist)
        cards = make_clickable(hand, actions if seat == on_turn else ()) if shown else backs(_count(skat_state, seat))
        features = [_PLACES[seat], *(["soloist"] if seat == soloist else [])]
        seats.append(Seat(seat=seat, cards=cards, features=tuple(features), last_action=bids.get(seat, "")))
    trick, last = tricks([TrickCard(seat=seat, card=card(c)) for seat, c in skat_state.plays], PLAYERS)
    knows_skat = viewer == OPEN or (soloist == viewer and PICK_UP in skat_state.history())
    lies_on_table = phase not in ("discard", "declare")
    skat = tuple(card(c) for c in skat_state.skat) if knows_skat else backs(2) if lies_on_table else ()
    features = [f"bid {skat_state.bid}"] if skat_state.bid else []
    if contract is not None:
        features.insert(0, _contract(skat_state))
    if skat_state.plays:
        won = count_noun(skat_state.soloists_tricks, "trick")
        features.append(f"soloist: {won}, {count_noun(skat_state.soloists_points, 'point')}")
    if phase == "over":
        features.append(_result(skat_state))
    return Scene(
        title=_contract(skat_state) if contract is not None else "auction" if phase == "auction" else "Skat",
        ask=_ASK.get(phase, "") if on_turn == viewer else "",
        seats=tuple(seats),
        trick=trick,
        last=last,
        piles=(Pile(title="Skat", cards=skat),) if skat else (),
        choices=tuple(_choice(a) for a in actions if a >= NUM_CARDS),
        features=tuple(features),
    )


def card(number: int) -> Card:
    """Make a card for display.

    Args:
        number: Number of the card in the deck.
    """
    suit, rank = CARDS[number]
    return french(CARDS[number], suit, rank)


def _choice(action: int) -> Choice:
    if CALL <= action < CALL + len(CALLS):
        return Choice(action=action, words=ACTIONS[action], group="bid")
    if DECLARE <= action < DECLARE + len(DECLARATIONS):
        return Choice(action=action, words=ACTIONS[action].replace("-", " "), group="declare")
    if action >= ANNOUNCE:
        return Choice(action=action, words=ACTIONS[action], group="announce")
    return Choice(action=action, words=_WORDS[action])


def _last_bids(skat_state: Any) -> dict[int, str]:
    """Return the last call of each seat in the auction."""
    return {seat: ACTIONS[action] for seat, action in skat_state.auction} if not skat_state.plays else {}


def _is_ouvert(skat_state: Any) -> bool:
    return skat_state.contract.level == "ouvert"


def _count(skat_state: Any, seat: int) -> int:
    return len(skat_state.hand(seat))


def _contract(skat_state: Any) -> str:
    contract = skat_state.contract
    hand = ["hand"] if contract.hand else []
    return " ".join([contract.game, *hand, *([contract.level] if contract.level != "plain" else [])])


def _order(skat_state: Any) -> Any:
    """Return the sort key of a hand: trumps first once they are known."""
    contract = skat_state.contract
    if contract is not None and contract.game == "null":
        return lambda c: (-(c // 8), -"789TJQKA".index(CARDS[c][1]))
    trump = {"diamonds": 0, "hearts": 1, "spades": 2, "clubs": 3}.get(contract.game, -1) if contract else -1

    def key(c: int) -> tuple[bool, bool, int, int]:
        jack = CARDS[c][1] == "J"
        return not jack, c // 8 != trump, -(c // 8), -c

    return key


def _result(skat_state: Any) -> str:
    result = skat_state.result
    if result.soloist < 0:
        return "all passed"
    won = "won" if result.won else "lost, overbid" if result.overbid else "lost"
    return f"soloist {won}, value {result.value}"
