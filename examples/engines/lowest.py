"""Engine in Python that plays the lowest legal card. In Hearts it passes the highest cards.

trickformer tournament hearts --a 'engine:cmd="python examples/engines/lowest.py"' --b random --deals 20
"""

from trickformer import engine

CARDS_TO_PASS = 3  # by each seat


def _is_passing(turn: engine.Turn) -> bool:
    """Return whether the turn is about a card to pass. In Hearts, seats pass before anybody plays."""
    own = sum(event["seat"] == turn.seat for event in turn.events)
    others = any(event["seat"] not in (-1, turn.seat) for event in turn.events)
    return own < CARDS_TO_PASS and not others and turn.game.startswith("hearts") and len(turn.legal) > 1


def act(turn: engine.Turn) -> engine.Answer:
    """Choose the lowest card to play, or the highest card to pass.

    Args:
        turn: The decision. Within a suit, higher actions are cards of higher rank.

    Returns:
        The action, and a remark if it passes a card.
    """
    if _is_passing(turn):
        return engine.Answer(max(turn.legal), text="passes its highest card")
    return engine.Answer(min(turn.legal))


engine.run(act, name="lowest", version="1.0", games=["hearts"], seeds=True)
