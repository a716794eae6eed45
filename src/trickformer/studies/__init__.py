"""Research that no player imports."""
