"""Belief modelling on Hanabi with scripted players: the game as a Markov system (`process`), estimators, a
learned belief of one seat, as searches ask it (`seat`), and studies: training and evaluation. Nothing that plays
imports these."""
