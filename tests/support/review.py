"""Hands to review."""

from __future__ import annotations

from trickformer import games, players
from trickformer.review.hand import ReviewHand
from trickformer.tournaments.plan import Hand as Place
from trickformer.tournaments.play import play


def dealt(spec, cast="random", seed=1, deal=0, source=True):
    """Play a hand with one player in all seats. The hand names its series of deals if `source` is true."""
    game = games.load(spec)
    (record,) = play(game, [players.make(cast, game)], [Place(deal, (0,) * game.players)], seed)
    return ReviewHand(game, (cast,) * game.players, record.history, source=(seed, deal) if source else None)
