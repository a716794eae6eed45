"""Searches of Hanabi."""
