"""Players of The Crew by mission: teams of four copies, the same deals for every player."""
