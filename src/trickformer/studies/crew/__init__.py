"""Players of The Crew by mission: teams of four copies, the same deals for every player."""

STRIDE = 256  # a mission's number is below it: a deal's index is STRIDE x game + mission
