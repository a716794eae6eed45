"""Learning the evaluation of Skat hands that `kermit` bids by: from solved hands, then fitted to results of play."""
