"""Searches over sampled worlds."""
