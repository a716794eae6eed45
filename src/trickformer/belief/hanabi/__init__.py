"""Belief modelling on Hanabi with scripted players.

`process` is the game as a Markov system, the estimators follow it, and `seat` turns an estimator into the belief of one
seat for searches.
"""
