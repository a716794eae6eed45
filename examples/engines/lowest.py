"""An engine in Python: plays the lowest legal card, and passes the highest ones in Hearts.

trickformer tournament hearts --a 'engine:cmd="python examples/engines/lowest.py"' --b random --deals 20"""

from trickformer import engine

PASSED = 3  # cards that each seat passes


def is_passing(turn: engine.Turn) -> bool:
    """Return whether a card to pass is chosen: in Hearts, before anybody has played."""
    own = sum(event["seat"] == turn.seat for event in turn.events)
    others = any(event["seat"] not in (-1, turn.seat) for event in turn.events)
    return own < PASSED and not others and turn.game.startswith("hearts") and len(turn.legal) > 1


def act(turn: engine.Turn) -> engine.Answer:
    """Play the lowest card, or pass the highest. Within a suit, higher actions are cards of higher rank."""
    if is_passing(turn):
        return engine.Answer(max(turn.legal), text="one trouble less")
    return engine.Answer(min(turn.legal))


engine.run(act, name="lowest", version="1.0", games=["hearts"], seeds=True)
