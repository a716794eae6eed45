"""Belief modelling on Hanabi with scripted players: the game as a Markov system (`process`), estimators, the beliefs of
one seat that searches ask (`explained`, `seat`), and studies: training and evaluation. Nothing that plays imports
these."""
