"""Off-belief learning: policies whose past is another policy's and whose future is their own.

The method is that of "Off-Belief Learning" (Hu, Lerer, Cui, Pineda, Brown, Foerster 2021). It is computed exactly on
games that can be listed, next to cognitive hierarchies, learned in tables, and learned by networks on Hanabi
(`obl.hanabi`).
"""
