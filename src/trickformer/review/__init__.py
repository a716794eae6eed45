"""Review of hands: what each decision cost, whether the hand could have been won, and other ways to play it.

`hand` turns any record into a hand. `analyst` lets a player rate the decisions of a hand; `solver` rates them with open
cards, by `skat` and `crew`. `what_if` plays on from a position, and `worst` finds the deals of a tournament that cost
most. `result` defines the results; `text` and `plot` show them. Importing this package loads none of the modules.
"""
