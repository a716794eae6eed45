"""Audits of games: views, tokens, trackers and C++ twins."""
