"""Mines as an evaluation plays it: optimal values, players by thinking time, and whether the draws agree."""
