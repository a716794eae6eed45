"""Off-belief learning on Hanabi: networks that learn action values from games of their own, on the core's tables."""
