"""Cross-play: teams of players who share a score, each with itself and with every other player."""
