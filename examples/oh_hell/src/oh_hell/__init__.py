"""Oh Hell for trickformer."""
