"""Skat as tokens. cpp/skat/seat_view.hpp gives the order of a sequence.

Table 1 of the GO-MCTS paper has 32 cards, 68 calls and replies, the choices to pick up and to play hand, 7
declarations and 4 announcements. A declaration names the game, such as grand; an announcement is the level that the
soloist of a hand game adds: plain, schneider, schwarz or ouvert. The vocabulary here has 63 calls, pass and hold, and
adds the seats and the end. docs/games/skat.md compares the counts with the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer import _core
from trickformer.base import CHANCE, PUBLIC, BulkHands, Event, View
from trickformer.games.skat import (
    ACTIONS,
    ANNOUNCE,
    CALL,
    DECLARE,
    GRAND,
    HAND,
    NULL,
    NULL_OUVERT,
    NUM_ACTIONS,
    NUM_CARDS,
    OUVERT,
    PASS,
    PICK_UP,
    PLAY_HAND,
    PLAYERS,
    PLAYS,
    POINTS,
    TRICKS,
    Skat,
    evaluation,
)
from trickformer.tokenizers._bulk import CoreGame, deals
from trickformer.tokenizers._by_number import ByNumber

SEAT = NUM_ACTIONS  # the first seat token


class SkatTokenizer(ByNumber):
    """Tokens of Skat: 114 in all, at most 193 in a sequence."""

    vocab = (*ACTIONS, *(f"seat{p}" for p in range(PLAYERS)), "eos")
    eos = len(vocab) - 1
    n_actions = NUM_ACTIONS
    # The longest sequence is a defender's in a game in which every call is made and held and then two seats pass. It
    # has the own seat, the hand, the auction, the choice to play hand, the declaration, the announcement of ouvert, the
    # shown ouvert hand, the leader of each trick, the plays and the end.
    n_positions = 1 + HAND + (2 * (PASS - CALL) + 2) + 3 + HAND + TRICKS + PLAYS + 1

    def __init__(self, game: Skat):
        self.seeger = game.seeger  # whether scores are tournament points (extended Seeger-Fabian)
        # The evaluation of hands weights the sampled worlds in which training labels are played out.
        self.codec = _core.skat.Codec(game.seeger, np.array(game.outcomes.labels, dtype=np.int16), evaluation())
        self.script_features = self.codec.tracker().script_features

    features_version = "skat-3"  # raised when a feature in cpp/skat/features.hpp changes its meaning
    n_features = 697  # kFeatures in cpp/skat/features.hpp

    def encode(self, view: View) -> np.ndarray:
        if view.viewer == PUBLIC:
            raise ValueError("tokens encode the view of a seat, not the public view")
        tokens = [SEAT + view.viewer]
        for event in view.events:
            tokens += event.seen if event.action is None else (event.action,)
        # Add the tokens that follow from the rules: the leader of each trick, and the end token.
        return _core.skat.complete_tokens(np.array(tokens, dtype=np.int32))

    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        sequence = np.asarray(tokens, dtype=np.int32)
        tracker = self.tracker(sequence)
        if not tracker.is_legal() or tracker.terminal() != (sequence[-1:].tolist() == [self.eos]):
            raise ValueError("no deal explains these tokens")
        if len(sequence) <= HAND:
            raise ValueError("a view begins when all cards are dealt")
        next_actors = _core.skat.turns(sequence[None].astype(np.int16), absolute=True)[0]  # seat on turn after a token
        seat = int(sequence[0]) - SEAT
        events = [Event(CHANCE, None, tuple(sequence[1 : HAND + 1].tolist()))]
        at, end = HAND + 1, len(sequence) - tracker.terminal()
        while at < end:
            token, actor = int(sequence[at]), int(next_actors[at - 1])
            at += 1
            if token >= SEAT:  # the leader follows from the rules, so it is no event
                continue
            events.append(Event(actor, token))
            n_shown, shown_by = 0, actor  # cards that the action shows to the viewer
            if token == PICK_UP and actor == seat:
                n_shown, shown_by = 2, CHANCE
            elif token in (DECLARE + NULL_OUVERT, ANNOUNCE + OUVERT) and actor != seat:
                n_shown = HAND
            if n_shown:
                if at + n_shown > end:
                    raise ValueError(f"the tokens stop within an event that shows {n_shown} cards; add all of them")
                events.append(Event(shown_by, None, tuple(sequence[at : at + n_shown].tolist())))
                at += n_shown
        return tuple(events)

    def initial_embeddings(self) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors of tokens and of positions, from which embeddings start.

        A token has the suit, rank and points of its card, or the height of its call, and its kind. A position only has
        the part of the sequence, because auctions differ in length.

        Returns:
            float32 [V, 25] and float32 [n_positions, 3].
        """
        calls = PASS - CALL
        tokens = np.zeros((len(self.vocab), 25), dtype=np.float32)  # columns 14 and 16 to 24 are the kinds
        card = np.arange(NUM_CARDS)
        suit, rank = card // 8, card % 8
        tokens[card, suit] = 1  # columns 0 to 3
        tokens[card, 4 + rank] = 1  # columns 4 to 11
        tokens[card, 12] = np.array(list(POINTS.values()))[rank] / 11  # an ace has 11 points
        tokens[card, 13] = (rank == 7) * (1 + suit) / 4  # height of a jack among the trumps
        tokens[CALL:PASS, 14] = 1
        tokens[CALL:PASS, 15] = np.arange(calls) / calls  # height of a call, from 0
        for first, end, column in (  # tokens `first` to `end` - 1 are of one kind
            (PASS, PICK_UP, 16),  # pass and hold
            (PICK_UP, PLAY_HAND + 1, 17),  # pick up the skat, play hand
            (DECLARE, DECLARE + GRAND, 18),  # declarations of suits
            (DECLARE + GRAND, DECLARE + NULL, 19),  # grand
            (DECLARE + NULL, ANNOUNCE, 20),  # null and null ouvert
            (ANNOUNCE, NUM_ACTIONS, 21),  # announced levels
            (SEAT, self.eos, 22),  # seats
            (self.eos, self.eos + 1, 23),  # end token
            (0, NUM_CARDS, 24),  # cards
        ):
            tokens[first:end, column] = 1
        # A position is that of the own seat, of the cards dealt, or later.
        positions = np.zeros((self.n_positions, 3), dtype=np.float32)
        positions[0, 0] = positions[1 : HAND + 1, 1] = positions[HAND + 1 :, 2] = 1
        return tokens, positions


class FastSkat(CoreGame):
    """Fast form of Skat."""

    labels_in_worlds = True

    def __init__(self, game: Skat, tokenizer: SkatTokenizer):
        super().__init__(tokenizer.codec)
        self._game = game

    def tables(self, seed: int, first: int, n: int) -> _core.skat.Tables:
        return _core.skat.Tables(self._codec, deals(self._game.chance_actions, seed, first, n))

    def core_hands(
        self, cast: Sequence[str], seed: int, first: int, n: int, tries: int = 1, noise: float = 0.0
    ) -> BulkHands | None:
        if not set(cast) <= {"random", "rules"}:
            return None
        random_share = cast.count("random") / len(cast)
        history, scores = _core.skat.mixed_games(self._game.seeger, seed, first, n, random_share, noise)[:2]
        return BulkHands(self, history, scores)


def make(game: Skat) -> SkatTokenizer:
    return SkatTokenizer(game)


def fast(game: Skat) -> FastSkat:
    return FastSkat(game, make(game))
