"""Review of hands: what each decision cost, whether the hand could have been won, and other ways to play it.

`hand` holds a hand of any game or notation. `analyst` lets a player rate its decisions; `solver` rates them with open
cards, by `skat` and `crew`. `what_if` plays on from a position, and `worst` finds the deals of a tournament that cost
most. `result` holds the results; `text` and `plot` present them. Importing this package loads nothing.
"""
