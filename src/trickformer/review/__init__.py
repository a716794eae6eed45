"""A hand looked at again: what each decision cost, whether it could have been won, and what else could have come of it.

`hand` is a hand of any game or notation; `analyst` has a player rate its decisions, `solver` has open cards rate them,
by `skat` and `crew`; `what_if` plays on from a position; `worst` finds the deals of a tournament that cost most. What
they come to is in `result`; `text` and `plot` are for people. Importing this package loads nothing.
"""
