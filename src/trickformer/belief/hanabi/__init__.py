"""Belief modelling on Hanabi with scripted players: the game as a Markov system (`process`), estimators, their training
and evaluation. Nothing that plays imports this room."""
