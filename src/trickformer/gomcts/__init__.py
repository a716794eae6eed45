"""Generative Observation MCTS: Algorithms 1 and 3 of the GO-MCTS paper."""
