"""Evaluation of players of The Crew by mission: teams of four copies, the same deals for every player."""

STRIDE = 256  # a deal's index is STRIDE * game + mission; numbers of missions are below STRIDE
