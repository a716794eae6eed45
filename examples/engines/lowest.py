"""An engine in Python: plays the lowest legal card, and passes the highest ones in Hearts.

trickformer tournament hearts --a 'engine:cmd="python examples/engines/lowest.py"' --b random --deals 20"""

from trickformer import engine

PASSED = 3


def passing(turn: engine.Turn) -> bool:
    """In Hearts nobody has played yet, and more than one card may be chosen from."""
    own = sum(event["seat"] == turn.seat for event in turn.events)
    others = any(event["seat"] not in (-1, turn.seat) for event in turn.events)
    return own < PASSED and not others and turn.game.startswith("hearts") and len(turn.legal) > 1


def act(turn: engine.Turn) -> engine.Answer:
    """The lowest card, or the highest; actions of higher numbers are of higher rank."""
    if passing(turn):
        return engine.Answer(max(turn.legal), text="one trouble less")
    return engine.Answer(min(turn.legal))


engine.run(act, name="lowest", version="1.0", games=["hearts"], seeds=True)
