"""Duplicate tournaments: every seating of a deal, common random numbers, one sample a deal."""
