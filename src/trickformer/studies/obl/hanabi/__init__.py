"""Off-belief learning on Hanabi: networks learn action values from games that they play on the core's tables."""
