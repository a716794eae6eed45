"""Hands for training (GO-MCTS paper, sections 5.2 and 6.1): of random players, of named players, or of models."""

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
    """Number of own decisions with labels, and the source of the labels: a value for each legal action."""

    share: float = 0.0  # share of the decisions that get labels; 0: none
    playouts: int = 8  # playouts of each action
    net: _core.RolloutNet | None = None  # rollout policy; None: the game's script
    worlds: bool = False  # each playout starts from a sampled world, not from the true deal
    from_search: bool = False  # labels are values of the players' own searches, not of playouts


NO_LABELS = Labels()


@dataclass(frozen=True, slots=True)
class Searches:
    """Decisions that GO-MCTS makes instead of ArgmaxVal*. The values of the search label the actions."""

    share: float  # share of ArgmaxVal*'s decisions
    options: SearchOptions


@dataclass(frozen=True, slots=True)
class Roles:
    """Models or guests in the seats of n hands, and the seats whose sequences are kept."""

    model: np.ndarray  # int [n, players]: model in each seat; -1 - k: guest k
    greedy: np.ndarray  # bool [n, players]: True plays ArgmaxVal*, False samples the policy
    kept: np.ndarray  # bool [n, players]: the sequence is training data


def kept_seats(first: int, n: int, count: int, seats: int) -> np.ndarray:
    """Choose `count` seats of each hand, as many in every row.

    Hearts' pass direction follows the hand's number, so the first seat moves on after as many hands as there are seats.

    Args:
        first: Number of the first hand.
        n: Number of hands.
        count: Number of seats to choose.
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
    """Play hands and collect the sequences of some seats. The core plays if it has all players.

    Args:
        game: The game.
        cast: Specs of players; the player of each seat and hand is drawn uniformly from them.
        seed: The series.
        first: First hand.
        n: Number of hands.
        seats: Number of seats of each hand whose sequences are kept.
        tries: Deals tried for every second hand until the team succeeds; 1 in games without success.
        noise: Share of the players' moves that are random.
        labels: Labels of the decisions.

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
        first: Number of the first hand, which the random numbers depend on.
        labels: Labels of the decisions.
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
    """Make LABEL entries [k] from arrays [k]; one position may stand for all."""
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
        stray = [r.random() < self._noise for r in rng]
        return [
            replace(d, action=v.legal[int(r.integers(len(v.legal)))]) if s else d
            for v, r, d, s in zip(views, rng, decisions, stray)
        ]

    def end(self, views: Sequence[View], scores: tuple[int, ...], memo: Sequence[Memo]) -> None:
        self._player.end(views, scores, memo)


@dataclass(frozen=True, slots=True)
class _SearchValues:
    """Values that a search gives to the actions of a decision."""

    hand: int
    seat: int
    position: int  # position of the last token before the decision
    tokens: np.ndarray  # int [k], the actions
    values: np.ndarray  # float [k], in units of v(o)


class _SearchValueCollector:
    """Collector of the search values in the hands `first` .. of a series."""

    def __init__(self, tokenizer: Tokenizer, first: int):
        self._tokenizer, self._first = tokenizer, first
        self.values: list[_SearchValues] = []

    def add_decision(self, hand: Hand, view: View, decision: Decision) -> None:
        """Add the values of a decision.

        An action with a single visit has no label, because a search may begin with one visit that is a model's guess.
        """
        visits, values = decision.visits or {}, decision.values or {}
        tried = [action for action, visited in visits.items() if visited > 1 and action in values]
        if not tried:
            return
        tokens, worth = np.array([self._tokenizer.token(a) for a in tried]), np.array([values[a] for a in tried])
        position = len(self._tokenizer.encode(view)) - 1
        self.values.append(_SearchValues(hand.deal - self._first, view.viewer, position, tokens, worth))


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
        seed: The series.
        first: First hand.
        n: Number of hands.
        noise: Share of moves that are random.
        on_decision: Receives every decision.

    Returns:
        The records, in order.

    Raises:
        TrickformerError: A spec is bad, see `players.make`.
    """
    from trickformer.tournaments.plan import Hand
    from trickformer.tournaments.play import play

    rows = np.random.default_rng([seed, first]).integers(len(cast), size=(n, game.players))
    hands = [Hand(first + i, tuple(row)) for i, row in enumerate(rows.tolist())]
    lineup = [players.make(spec, game) for spec in cast]
    lineup = [_Noisy(player, noise) for player in lineup] if noise else lineup
    records = {record.deal: record for record in play(game, lineup, hands, seed, n, on_decision=on_decision)}
    return [records[first + i] for i in range(n)]


def _search_labels(search_values: list[_SearchValues], kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make labels from search values, for the kept seats (bool [n, players]).

    Returns:
        `starts` and `labels` of Sequences.
    """
    row = np.cumsum(kept).reshape(kept.shape) - 1
    rows, parts = [], []
    for s in search_values:
        if not kept[s.hand, s.seat]:
            continue
        parts.append(_make_entries(s.position, s.tokens, s.values))
        rows.append(np.full(len(s.tokens), row[s.hand, s.seat]))
    label_rows, labels = np.concatenate([np.empty(0, np.int64), *rows]), np.concatenate([NO_ENTRIES, *parts])
    order = np.lexsort((labels["position"], label_rows))
    return starts_of(np.bincount(label_rows, minlength=int(kept.sum()))), labels[order]


def _extract_values(hand: int, seat: int, position: int, result: SearchResult) -> _SearchValues:
    """Return the values of a search's result, the mean of each action.

    The model's own prediction counts as one visit. Actions that no simulation took have no label, because the search
    adds nothing to the model's prediction for them.
    """
    tried = result.visits > 1  # the model's own prediction counts as one
    return _SearchValues(hand, seat, position, result.tokens[tried], result.values[tried] / result.visits[tried])


class _Guests:
    """Named players at tables of models. Their views are decoded from the tokens."""

    def __init__(self, game: Game, guests: Sequence[Player], seed: int, first: int):
        self._guests, self._seeds = guests, (seed, first)
        self._tokenizer = tokenizers.make(game)
        self._states: dict[tuple[int, int], tuple[np.random.Generator, Memo]] = {}  # by hand and seat

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
        for hand, seat, tokens, may in zip(hands.tolist(), seats.tolist(), seen, legal):
            if (hand, seat) not in self._states:
                rng = np.random.default_rng([*self._seeds, hand, seat])
                self._states[hand, seat] = rng, {}
            rng, memo = self._states[hand, seat]
            actions = sorted(tokenizer.action(token) for token in np.flatnonzero(may).tolist())
            views.append(View(seat, tokenizer.decode(tokens), tuple(actions)))
            rngs.append(rng)
            memos.append(memo)
        decisions = self._guests[guest].act(views, rngs, memos)
        return np.array([tokenizer.token(d.action) for d in decisions])


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
        seed: The series.
        first: First hand.
        threshold: Probability below which ArgmaxVal* ignores an action.
        noise: Share of the models' moves that are random.
        labels: Labels by playouts; none if there are searches.
        searches: Searches that make and label decisions.
        guests: Named players, see Roles.

    Returns:
        The sequences of the kept seats, row by row, and scores, int [n, players].

    Raises:
        ValueError: There are both searches and labels by playouts.
    """
    if searches is not None and labels.share:
        raise ValueError("searches take the place of labels")
    seats, greedy = roles.model, roles.greedy
    n = len(seats)
    tokenizer, bulk = tokenizers.make(game), tokenizers.bulk(game)
    tables = bulk.tables(seed, first, n)
    views = None
    if any(backend.n_features for backend in backends):
        views = _core.Seats(tokenizer.tracker(np.empty(0, np.int32)), n * game.players)
    rng = np.random.default_rng([seed, first])
    values = np.ascontiguousarray(game.outcomes.values, np.float32)
    node = np.full(seats.shape, -1, dtype=np.int32)  # the last node of each seat's sequence
    search_values: list[_SearchValues] = []
    fed = np.zeros(seats.shape, dtype=np.int32)  # number of the seat's tokens that its backend has read
    tokens, lengths = tables.tokens, tables.lengths
    every = np.arange(tokens.shape[2])
    others = _Guests(game, guests, seed, first)
    while True:
        turn = tables.current().astype(np.int64)
        live = np.flatnonzero(turn >= 0)
        if not len(live):
            break
        legal = tables.legal()
        actions = legal.argmax(axis=1).astype(np.int32)  # needs no model if a single action is legal
        choice = legal.sum(axis=1) > 1
        for guest in range(len(guests)):
            at = live[seats[live, turn[live]] == -1 - guest]
            if len(at := at[choice[at]]):
                seat = turn[at]
                seen = [tokens[h, p, :n] for h, p, n in zip(at, seat, lengths[at, seat])]
                actions[at] = others.choose(guest, at, seat, seen, legal[at])
        for model, backend in enumerate(backends):
            at = live[seats[live, turn[live]] == model]
            uniforms = rng.random(len(at))
            at, uniforms = at[choice[at]], uniforms[choice[at]]
            if not len(at):
                continue
            seat = turn[at]
            new = (every >= fed[at, seat][:, None]) & (every < lengths[at, seat][:, None])
            count = new.sum(axis=1).astype(np.int32)
            grown = np.flatnonzero(count)  # before the second card of a pass a seat may have no new tokens
            fresh, features = tokens[at, seat][new], None
            if backend.n_features:
                assert views is not None
                features = views.push((at * game.players + seat)[grown].astype(np.int32), fresh, count[grown])
            nodes = backend.extend(node[at, seat][grown], fresh, count[grown], features)
            node[at[grown], seat[grown]] = nodes[np.cumsum(count[grown]) - 1]
            fed[at, seat] += count
            logits = backend.policy(node[at, seat])
            chosen = draw(legal_policy(logits, legal[at]), uniforms)
            best = np.flatnonzero(greedy[at, seat])
            if searches is not None:
                by_search = rng.random(len(best)) < searches.share
                searched, best = best[by_search], best[~by_search]
                where, before = (at[searched], seat[searched]), lengths[at[searched], seat[searched]]
                trackers = [tokenizer.tracker(tokens[h, p, :n]) for h, p, n in zip(*where, before)]
                seeds = rng.integers(1 << 63, size=len(searched)).tolist()
                results = search(backend, values, trackers, node[where], seeds, searches.options)
                chosen[searched] = [result.token for result in results]
                search_values += [_extract_values(h, p, n - 1, r) for h, p, n, r in zip(*where, before, results)]
            if len(best):
                view = (at * game.players + seat)[best].astype(np.int32)

                def after(row: np.ndarray, token: np.ndarray, view: np.ndarray = view) -> np.ndarray:
                    assert views is not None
                    return views.after(view[row], token)

                decided = argmax_val(backend, node[at, seat][best], logits[best], legal[at][best], threshold, after)
                chosen[best] = decided.tokens
                if decided.nodes is not None and noise:
                    backend.release(decided.nodes)
                elif decided.nodes is not None:
                    # The chosen branch is the seat's next observation, so its node is already computed.
                    node[at[best], seat[best]] = decided.nodes
                    fed[at[best], seat[best]] += 1
                    if views is not None:
                        views.push(view, decided.tokens, np.ones(len(view), np.int32))
            if noise:
                stray = rng.random(len(at)) < noise
                uniform = legal[at][stray] / legal[at][stray].sum(axis=1, keepdims=True)
                chosen[stray] = draw(uniform, rng.random(int(stray.sum())))
            actions[at] = chosen
        tables.step(live.astype(np.int32), actions[live])
    for backend in backends:
        backend.reset()
    if not labels.share:
        seen = tokens[roles.kept], tables.outcomes()[roles.kept]
        return Sequences(*seen, *_search_labels(search_values, roles.kept)), tables.scores()
    hands = BulkHands(bulk, tables.history(), tables.scores())
    return label_hands(game, hands, roles.kept, seed, first, labels), tables.scores()
