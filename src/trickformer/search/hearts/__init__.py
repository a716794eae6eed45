"""Searches of Hearts."""
