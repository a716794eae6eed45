"""Searches of The Crew."""
