"""Hands for training (GO-MCTS paper, sections 5.2 and 6.1), played by models or by players of given specs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from trickformer import _core, players, tokenizers
from trickformer.base import BulkHands, Decision, Game, Memo, Player, Tokenizer, TrickformerError, View
from trickformer.gomcts.options import SearchOptions
from trickformer.gomcts.search import SearchResult, search
from trickformer.models.backend import Backend
from trickformer.models.decide import argmax_val, draw, legal_policy
from trickformer.selfplay.data import LABEL, NO_ENTRIES, Sequences, starts_of
from trickformer.tokenizers import StateGame, histories

if TYPE_CHECKING:
    from trickformer.tournaments.plan import Hand
    from trickformer.tournaments.store import HandRecord


@dataclass(frozen=True, slots=True)
class Labels:
    """Options of labels. A labelled decision has a value for each legal action."""

    share: float = 0.0  # share of the own decisions that get labels; 0: none
    playouts: int = 8  # number of playouts for each action
    net: _core.RolloutNet | None = None  # rollout policy; None: the game's scripted player
    worlds: bool = False  # whether each playout starts from a sampled world instead of the true deal
    from_search: bool = False  # whether labels are values of the players' own searches instead of playouts


NO_LABELS = Labels()


@dataclass(frozen=True, slots=True)
class Searches:
    """Decisions that GO-MCTS makes instead of ArgmaxVal*. The values of the search label the actions."""

    share: float  # share of ArgmaxVal*'s decisions
    options: SearchOptions


@dataclass(frozen=True, slots=True)
class Roles:
    """Models and guests in the seats of n hands, and the seats whose sequences are kept."""

    model: np.ndarray  # int [n, players]: index of the model in each seat; -1 - k for guest k
    greedy: np.ndarray  # bool [n, players]: whether the model plays ArgmaxVal*; otherwise it samples its policy
    kept: np.ndarray  # bool [n, players]: whether the seat's sequence becomes training data


def kept_seats(first: int, n: int, count: int, seats: int) -> np.ndarray:
    """Choose the same number of seats in each hand, all seats equally often.

    The chosen seats move on by one only after as many hands as the game has seats. The direction of passing in Hearts
    changes with every hand, so that every seat occurs with every direction.

    Args:
        first: Number of the first hand.
        n: Number of hands.
        count: Number of seats to choose in a hand.
        seats: Number of seats of the game.

    Returns:
        bool [n, seats].
    """
    offset = np.arange(first, first + n) // seats % seats
    return (np.arange(seats) - offset[:, None]) % seats < count


def cast_hands(
    game: Game,
    cast: Sequence[str],
    seed: int,
    first: int,
    n: int,
    seats: int = 1,
    tries: int = 1,
    noise: float = 0.0,
    labels: Labels = NO_LABELS,
) -> Sequences:
    """Play hands and collect the sequences of some seats. The core plays them if it has all players of `cast`.

    Args:
        game: The game.
        cast: Specs of players; the player of each seat and hand is drawn uniformly from them.
        seed: Series of the deals.
        first: Number of the first hand in the series.
        n: Number of hands.
        seats: Number of seats of each hand whose sequences are kept.
        tries: Largest number of deals that every second hand tries until the team succeeds; 1 in games without success.
        noise: Share of the players' moves that are random.
        labels: Options of the labels.

    Raises:
        TrickformerError: Labels by playouts need players of the core, and `cast` has others.
    """
    tokenizer, bulk = tokenizers.make(game), tokenizers.bulk(game)
    states = bulk if isinstance(bulk, StateGame) else StateGame(game, tokenizer)
    kept = kept_seats(first, n, seats, game.players)
    if labels.from_search:
        collector = _SearchValueCollector(tokenizer, first)
        records = play_hands(game, cast, seed, first, n, noise, collector.add_decision)
        tokens, outcomes = BulkHands(states, *_histories_and_scores(records)).encode_hands(*np.nonzero(kept))
        return Sequences(tokens, outcomes, *_search_labels(collector.values, kept))
    hands = bulk.core_hands(cast, seed, first, n, tries, noise)
    if hands is not None:
        return label_hands(game, hands, kept, seed, first, labels)
    if labels.share and bulk is not states:
        raise TrickformerError(
            f"labels by playouts need players that run in C++, such as rules, not {', '.join(cast)}; leave out labels"
        )
    records = play_hands(game, cast, seed, first, n, noise)
    return label_hands(game, BulkHands(states, *_histories_and_scores(records)), kept, seed, first, labels)


def _histories_and_scores(records: Sequence[HandRecord]) -> tuple[np.ndarray, np.ndarray]:
    """Return the histories, padded, and the scores of records."""
    return histories([list(record.history) for record in records]), np.array([record.scores for record in records])


def label_hands(game: Game, hands: BulkHands, kept: np.ndarray, seed: int, first: int, labels: Labels) -> Sequences:
    """Encode the sequences of the kept seats, with labels by playouts.

    Args:
        game: The game.
        hands: The hands.
        kept: bool [n, players].
        seed: Seed of the playouts.
        first: Number of the first hand in the series; it determines the streams of random numbers.
        labels: Options of the labels.
    """
    hand, seat = np.nonzero(kept)
    tokens, outcomes = hands.encode_hands(hand, seat)
    if not labels.share:
        return Sequences.without_labels(tokens, outcomes)
    streams = ((first + hand) * game.players + seat).astype(np.uint64)
    seats = seat.astype(np.uint8)
    counts, *columns = hands.game.labels(
        hands.history[hand], seats, seed, streams, labels.playouts, labels.share, labels.net, labels.worlds
    )
    return Sequences(tokens, outcomes, starts_of(counts), _make_entries(*columns))


def _make_entries(positions: np.ndarray | int, tokens: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Make LABEL entries [k] from arrays [k]. A single position applies to all entries."""
    entries = np.empty(len(tokens), LABEL)
    entries["position"] = positions
    entries["token"] = tokens
    entries["value"] = values
    return entries


class _Noisy(Player):
    """A player that makes a share `noise` of its moves at random."""

    def __init__(self, player: Player, noise: float):
        self._player, self._noise = player, noise
        self.batch, self.needs_state = player.batch, player.needs_state

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        decisions = self._player.act(views, rng, memo)
        decisions = players.validate_decisions(self._player, views, decisions)  # errors name the player itself
        is_random = [r.random() < self._noise for r in rng]
        return [
            replace(d, action=v.legal[int(r.integers(len(v.legal)))]) if random else d
            for v, r, d, random in zip(views, rng, decisions, is_random)
        ]

    def end(self, views: Sequence[View], scores: tuple[int, ...], memo: Sequence[Memo]) -> None:
        self._player.end(views, scores, memo)


@dataclass(frozen=True, slots=True)
class _SearchValues:
    """Values of the actions of a decision, by a search."""

    hand: int  # index of the hand among those played together
    seat: int
    position: int  # position of the last token before the decision, in the seat's sequence
    tokens: np.ndarray  # int [k], the actions
    values: np.ndarray  # float [k], in units of v(o)


class _SearchValueCollector:
    """Collector of search values; `first` is the number of the first hand."""

    def __init__(self, tokenizer: Tokenizer, first: int):
        self._tokenizer, self._first = tokenizer, first
        self.values: list[_SearchValues] = []

    def add_decision(self, hand: Hand, view: View, decision: Decision) -> None:
        """Add the values of a decision.

        An action with a single visit gets no label, because that visit may be a model's prediction, not a simulation.
        """
        visits, values = decision.visits or {}, decision.values or {}
        actions = [action for action, count in visits.items() if count > 1 and action in values]
        if not actions:
            return
        tokens = np.array([self._tokenizer.token(action) for action in actions])
        action_values = np.array([values[action] for action in actions])
        position = len(self._tokenizer.encode(view)) - 1
        self.values.append(_SearchValues(hand.deal - self._first, view.viewer, position, tokens, action_values))


def play_hands(
    game: Game,
    cast: Sequence[str],
    seed: int,
    first: int,
    n: int,
    noise: float = 0.0,
    on_decision: Callable[[Hand, View, Decision], None] | None = None,
) -> list[HandRecord]:
    """Play hands of a series.

    Args:
        game: The game.
        cast: Specs of players; the player of each seat and hand is drawn uniformly from them.
        seed: Series of the deals.
        first: Number of the first hand in the series.
        n: Number of hands.
        noise: Share of moves that are random.
        on_decision: Function that is called with the hand, the view and the decision after every decision.

    Returns:
        The records, by number of the hand.

    Raises:
        TrickformerError: A spec is bad, see `players.make`.
    """
    from trickformer.tournaments.plan import Hand
    from trickformer.tournaments.play import play

    seatings = np.random.default_rng([seed, first]).integers(len(cast), size=(n, game.players))
    hands = [Hand(first + i, tuple(seating)) for i, seating in enumerate(seatings.tolist())]
    lineup = [players.make(spec, game) for spec in cast]
    lineup = [_Noisy(player, noise) for player in lineup] if noise else lineup
    records = {record.deal: record for record in play(game, lineup, hands, seed, n, on_decision=on_decision)}
    return [records[first + i] for i in range(n)]


def _search_labels(search_values: list[_SearchValues], kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make labels from search values, for the kept seats (bool [n, players]).

    Returns:
        `starts` and `labels` of Sequences.
    """
    sequence_of = np.cumsum(kept).reshape(kept.shape) - 1  # index of a kept seat's sequence
    sequences, parts = [], []
    for s in search_values:
        if not kept[s.hand, s.seat]:
            continue
        parts.append(_make_entries(s.position, s.tokens, s.values))
        sequences.append(np.full(len(s.tokens), sequence_of[s.hand, s.seat]))
    label_sequences = np.concatenate([np.empty(0, np.int64), *sequences])
    labels = np.concatenate([NO_ENTRIES, *parts])
    order = np.lexsort((labels["position"], label_sequences))
    return starts_of(np.bincount(label_sequences, minlength=int(kept.sum()))), labels[order]


def _extract_values(hand: int, seat: int, position: int, result: SearchResult) -> _SearchValues:
    """Return the mean value of each action in a search's result.

    The model's own prediction counts as one visit. Actions that no simulation took get no label, because the search
    adds nothing to the model's prediction for them.
    """
    simulated = result.visits > 1
    means = result.values[simulated] / result.visits[simulated]
    return _SearchValues(hand, seat, position, result.tokens[simulated], means)


class _Guests:
    """Players of given specs at tables of models. Their views are decoded from the seats' tokens."""

    def __init__(self, game: Game, guests: Sequence[Player], seed: int, first: int):
        self._guests, self._seeds = guests, (seed, first)
        self._tokenizer = tokenizers.make(game)
        self._states: dict[tuple[int, int], tuple[np.random.Generator, Memo]] = {}  # by hand and seat

    def _state(self, hand: int, seat: int) -> tuple[np.random.Generator, Memo]:
        """Return the generator and the memo of a seat in a hand."""
        if (hand, seat) not in self._states:
            self._states[hand, seat] = np.random.default_rng([*self._seeds, hand, seat]), {}
        return self._states[hand, seat]

    def choose(
        self, guest: int, hands: np.ndarray, seats: np.ndarray, seen: list[np.ndarray], legal: np.ndarray
    ) -> np.ndarray:
        """Choose tokens for a guest.

        Args:
            guest: Index of the guest.
            hands: int [n].
            seats: int [n].
            seen: Tokens of each seat so far.
            legal: bool [n, V].

        Returns:
            int [n], the guest's tokens.
        """
        tokenizer = self._tokenizer
        views: list[View] = []
        rngs: list[np.random.Generator] = []
        memos: list[Memo] = []
        for hand, seat, tokens, legal_tokens in zip(hands.tolist(), seats.tolist(), seen, legal):
            rng, memo = self._state(hand, seat)
            actions = sorted(tokenizer.action(token) for token in np.flatnonzero(legal_tokens).tolist())
            views.append(View(seat, tokenizer.decode(tokens), tuple(actions)))
            rngs.append(rng)
            memos.append(memo)
        decisions = players.decide_in_batches(self._guests[guest], views, rngs, memos)
        return np.array([tokenizer.token(d.action) for d in decisions])

    def end(self, models: np.ndarray, tokens: np.ndarray, lengths: np.ndarray, scores: np.ndarray) -> None:
        """Send the results of the hands to the guests.

        Args:
            models: int [n, players], see `Roles`.
            tokens: int32 [n, players, L], tokens that the seats saw.
            lengths: int32 [n, players], their numbers.
            scores: int [n, players].
        """
        for index, player in enumerate(self._guests):
            if type(player).end is Player.end:
                continue
            for hand, sits in enumerate(models == -1 - index):
                seats = np.flatnonzero(sits).tolist()
                if not seats:
                    continue
                seen = [self._tokenizer.decode(tokens[hand, seat, : lengths[hand, seat]]) for seat in seats]
                views = [View(seat, events, ()) for seat, events in zip(seats, seen)]
                player.end(views, tuple(scores[hand].tolist()), [self._state(hand, seat)[1] for seat in seats])


def model_hands(
    game: Game,
    backends: Sequence[Backend],
    roles: Roles,
    seed: int,
    first: int,
    threshold: float = 0.05,
    noise: float = 0.0,
    labels: Labels = NO_LABELS,
    searches: Searches | None = None,
    guests: Sequence[Player] = (),
) -> tuple[Sequences, np.ndarray]:
    """Play one hand for each row of `roles`, all in lockstep.

    Args:
        game: The game.
        backends: One backend for each model.
        roles: Models, guests and kept seats, n rows.
        seed: Series of the deals.
        first: Number of the first hand in the series.
        threshold: Probability below which ArgmaxVal* ignores an action.
        noise: Share of the models' moves that are random.
        labels: Options of labels by playouts; none if there are searches.
        searches: Searches that make and label decisions.
        guests: Players that sit at some seats instead of models, see `Roles`.

    Returns:
        The sequences of the kept seats, hand by hand, and the scores, int [n, players].

    Raises:
        ValueError: There are both searches and labels by playouts.
    """
    if searches is not None and labels.share:
        raise ValueError("searches label the decisions, and so do playouts; leave out one of them")
    models, greedy = roles.model, roles.greedy
    n = len(models)
    tokenizer, bulk = tokenizers.make(game), tokenizers.bulk(game)
    tables = bulk.tables(seed, first, n)
    trackers = None  # one for each seat of each hand, at index hand * players + seat, to compute features
    if any(backend.n_features for backend in backends):
        trackers = _core.Seats(tokenizer.tracker(np.empty(0, np.int32)), n * game.players)
    rng = np.random.default_rng([seed, first])
    values = np.ascontiguousarray(game.outcomes.values, np.float32)
    node = np.full(models.shape, -1, dtype=np.int32)  # the backend's node of each seat's last token
    n_read = np.zeros(models.shape, dtype=np.int32)  # number of the seat's tokens that its backend has read
    search_values: list[_SearchValues] = []
    tokens, lengths = tables.tokens, tables.lengths
    positions = np.arange(tokens.shape[2])
    guest_players = _Guests(game, guests, seed, first)
    while True:
        turn = tables.current().astype(np.int64)
        live = np.flatnonzero(turn >= 0)
        if not len(live):
            break
        legal = tables.legal()
        actions = legal.argmax(axis=1).astype(np.int32)  # the only action of forced moves; others are set below
        has_choice = legal.sum(axis=1) > 1
        for guest in range(len(guests)):
            hand = live[models[live, turn[live]] == -1 - guest]
            if len(hand := hand[has_choice[hand]]):
                seat = turn[hand]
                seen = [tokens[h, p, :length] for h, p, length in zip(hand, seat, lengths[hand, seat])]
                actions[hand] = guest_players.choose(guest, hand, seat, seen, legal[hand])
        for model, backend in enumerate(backends):
            hand = live[models[live, turn[live]] == model]  # [m]: hands in which this model is on turn
            uniforms = rng.random(len(hand))
            hand, uniforms = hand[has_choice[hand]], uniforms[has_choice[hand]]
            if not len(hand):
                continue
            seat = turn[hand]
            # Let the backend read the tokens that the seats have seen since their last decision.
            is_new = (positions >= n_read[hand, seat][:, None]) & (positions < lengths[hand, seat][:, None])
            count = is_new.sum(axis=1).astype(np.int32)
            has_new = np.flatnonzero(count)  # before the second card of a pass a seat may have no new tokens
            new_tokens, features = tokens[hand, seat][is_new], None
            if backend.n_features:
                assert trackers is not None
                tracker_index = (hand * game.players + seat)[has_new].astype(np.int32)
                features = trackers.push(tracker_index, new_tokens, count[has_new])
            nodes = backend.extend(node[hand, seat][has_new], new_tokens, count[has_new], features)
            node[hand[has_new], seat[has_new]] = nodes[np.cumsum(count[has_new]) - 1]
            n_read[hand, seat] += count
            logits = backend.policy(node[hand, seat])
            # Imitators sample the policy. Searches, ArgmaxVal* and noise then replace some of the samples.
            chosen = draw(legal_policy(logits, legal[hand]), uniforms)
            by_argmax = np.flatnonzero(greedy[hand, seat])
            if searches is not None:
                is_searched = rng.random(len(by_argmax)) < searches.share
                searched, by_argmax = by_argmax[is_searched], by_argmax[~is_searched]
                at, ends = (hand[searched], seat[searched]), lengths[hand[searched], seat[searched]]
                roots = [tokenizer.tracker(tokens[h, s, :end]) for h, s, end in zip(*at, ends)]
                seeds = rng.integers(1 << 63, size=len(searched)).tolist()
                results = search(backend, values, roots, node[at], seeds, searches.options)
                chosen[searched] = [result.token for result in results]
                search_values += [_extract_values(h, s, end - 1, r) for h, s, end, r in zip(*at, ends, results)]
            if len(by_argmax):
                index = (hand * game.players + seat)[by_argmax].astype(np.int32)

                def features_after(row: np.ndarray, token: np.ndarray, index: np.ndarray = index) -> np.ndarray:
                    assert trackers is not None
                    return trackers.after(index[row], token)

                decided = argmax_val(
                    backend,
                    node[hand, seat][by_argmax],
                    logits[by_argmax],
                    legal[hand][by_argmax],
                    threshold,
                    features_after,
                )
                chosen[by_argmax] = decided.tokens
                if decided.nodes is not None and noise:
                    backend.release(decided.nodes)  # a random move may take the place of the token
                elif decided.nodes is not None:
                    # The chosen token is the seat's next observation, and its node is already computed.
                    node[hand[by_argmax], seat[by_argmax]] = decided.nodes
                    n_read[hand[by_argmax], seat[by_argmax]] += 1
                    if trackers is not None:
                        trackers.push(index, decided.tokens, np.ones(len(index), np.int32))
            if noise:
                is_random = rng.random(len(hand)) < noise
                uniform = legal[hand][is_random] / legal[hand][is_random].sum(axis=1, keepdims=True)
                chosen[is_random] = draw(uniform, rng.random(int(is_random.sum())))
            actions[hand] = chosen
        tables.step(live.astype(np.int32), actions[live])
    scores = tables.scores()
    guest_players.end(models, tokens, lengths, scores)
    for backend in backends:
        backend.reset()
    if not labels.share:
        starts, entries = _search_labels(search_values, roles.kept)
        return Sequences(tokens[roles.kept], tables.outcomes()[roles.kept], starts, entries), scores
    hands = BulkHands(bulk, tables.history(), scores)
    return label_hands(game, hands, roles.kept, seed, first, labels), scores
