"""Searches of Skat."""
