"""Learning of the evaluation of Skat hands that `kermit` bids by: from solved hands, then from results of play."""
