"""Training and evaluation of belief networks of Hanabi."""
