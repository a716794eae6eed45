"""Belief modelling in Hanabi, after "A Fine-Tuning Approach to Belief State Modeling" (BFT).

The players are scripts or networks without an LSTM.

`process` models the game as a Markov system. `estimators` estimate its hidden state: the cards in the hands. `seat`
wraps an estimator as the belief of one seat, for searches. All modules use these sizes in shapes: G or n games, S slots
(positions in the hidden hands), K kinds of card (colour and rank), W worlds of a game.
"""
