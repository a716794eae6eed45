"""Evaluations on Mines: optimal values, players by thinking time, and a test of the samplers."""
