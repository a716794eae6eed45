"""Hands for training (GO-MCTS paper, sections 5.2 and 6.1): uniformly random, of named players, or among models."""

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
    """How many own decisions get labels, what each legal action is worth, and how that is found."""

    share: float = 0.0  # of the decisions; 0: none
    playouts: int = 8  # of each action
    net: _core.RolloutNet | None = None  # plays them; None: the game's script does
    worlds: bool = False  # each from another deal that explains what the seat saw, not from the deal as it was
    from_search: bool = False  # visits and values of the players' own searches instead of playouts


NO_LABELS = Labels()


@dataclass(frozen=True, slots=True)
class Searches:
    """Decisions that GO-MCTS makes in the place of ArgmaxVal*, and whose actions it labels with what they brought."""

    share: float  # of ArgmaxVal*'s decisions
    options: SearchOptions


@dataclass(frozen=True, slots=True)
class Roles:
    """Who plays, and whose sequences are kept, in n hands."""

    model: np.ndarray  # int [n, players], the model in each seat; -1 - k: guest k
    greedy: np.ndarray  # bool [n, players], plays ArgmaxVal*; the others sample their policy
    kept: np.ndarray  # bool [n, players]


def kept_seats(first: int, n: int, count: int, seats: int) -> np.ndarray:
    """`count` of `seats` seats of each of the hands `first` .. `first` + n: bool [n, seats], as many in every row.

    Hearts' pass direction runs with the hand's number, so the first seat moves on after as many hands as there are
    seats."""
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
    """What `seats` seats see of each of the hands `first` .. `first` + n of a series, each seat's player drawn
    uniformly from the specs `cast` for the whole hand. By the core, where it can play all of them.

    tries: of every second hand, as many deals are played until the team succeeds, in a game that knows success. noise:
    share of players' moves that are random. Raises TrickformerError where labels by playouts are asked for in a game of
    the core by players that are not."""
    tokenizer, bulk = tokenizers.make(game), tokenizers.bulk(game)
    states = bulk if isinstance(bulk, StateGame) else StateGame(game, tokenizer)
    kept = kept_seats(first, n, seats, game.players)
    if labels.from_search:
        sayings = _SearchValueCollector(tokenizer, first)
        records = play_hands(game, cast, seed, first, n, noise, sayings.add_decision)
        tokens, outcomes = BulkHands(states, *_histories_and_scores(records)).encode_hands(*np.nonzero(kept))
        return Sequences(tokens, outcomes, *_said_labels(sayings.said, kept))
    found = bulk.core_hands(cast, seed, first, n, tries, noise)
    if found is not None:
        return label_hands(game, found, kept, seed, first, labels)
    if labels.share and bulk is not states:
        raise TrickformerError(f"labels need players of the core, not {', '.join(cast)}")
    records = play_hands(game, cast, seed, first, n, noise)
    return label_hands(game, BulkHands(states, *_histories_and_scores(records)), kept, seed, first, labels)


def _histories_and_scores(records: Sequence[HandRecord]) -> tuple[np.ndarray, np.ndarray]:
    """Histories, padded, and scores."""
    return histories([list(record.history) for record in records]), np.array([record.scores for record in records])


def label_hands(game: Game, hands: BulkHands, kept: np.ndarray, seed: int, first: int, labels: Labels) -> Sequences:
    """The sequences of the kept seats (bool [n, players]) of the hands `first` .. of the series `seed`, with labels."""
    hand, seat = np.nonzero(kept)
    tokens, outcomes = hands.encode_hands(hand, seat)
    if not labels.share:
        return Sequences.without_labels(tokens, outcomes)
    streams = ((first + hand) * game.players + seat).astype(np.uint64)
    seats = seat.astype(np.uint8)
    asked = labels.playouts, labels.share, labels.net, labels.worlds
    count, position, token, value = hands.game.labels(hands.history[hand], seats, seed, streams, *asked)
    entries = np.empty(len(position), LABEL)
    entries["position"], entries["token"], entries["value"] = position, token, value
    return Sequences(tokens, outcomes, starts_of(count), entries)


class _Noisy(Player):
    """A player some of whose moves are random instead, a share `noise` of them."""

    def __init__(self, player: Player, noise: float):
        self._player, self._noise = player, noise
        self.batch, self.needs_state = player.batch, player.needs_state

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        decisions = players.validate_decisions(
            self._player, views, self._player.act(views, rng, memo)
        )  # by its own name
        stray = [r.random() < self._noise for r in rng]
        return [
            replace(d, action=v.legal[int(r.integers(len(v.legal)))]) if s else d
            for v, r, d, s in zip(views, rng, decisions, stray)
        ]

    def end(self, views: Sequence[View], scores: tuple[int, ...], memo: Sequence[Memo]) -> None:
        self._player.end(views, scores, memo)


@dataclass(frozen=True, slots=True)
class _SearchValues:
    """What a search says that actions are worth."""

    hand: int
    seat: int
    position: int  # of the last token before the decision
    tokens: np.ndarray  # int [k], the actions
    values: np.ndarray  # float [k], in units of v(o)


class _SearchValueCollector:
    """What searches say in the hands `first` .. of a series."""

    def __init__(self, tokenizer: Tokenizer, first: int):
        self._tokenizer, self._first = tokenizer, first
        self.said: list[_SearchValues] = []

    def add_decision(self, hand: Hand, view: View, decision: Decision) -> None:
        """An action tried once has no label: a search may begin with one visit that is a model's guess."""
        visits, values = decision.visits or {}, decision.values or {}
        tried = [action for action, visited in visits.items() if visited > 1 and action in values]
        if not tried:
            return
        tokens, worth = np.array([self._tokenizer.token(a) for a in tried]), np.array([values[a] for a in tried])
        position = len(self._tokenizer.encode(view)) - 1
        self.said.append(_SearchValues(hand.deal - self._first, view.viewer, position, tokens, worth))


def play_hands(
    game: Game,
    cast: Sequence[str],
    seed: int,
    first: int,
    n: int,
    noise: float = 0.0,
    heard: Callable[[Hand, View, Decision], None] | None = None,
) -> list[HandRecord]:
    """The hands `first` .. `first` + n of a series, each seat's player drawn uniformly from the specs `cast`. noise:
    share of moves that are random. heard: is told of every decision.

    Raises what players.make raises."""
    from trickformer.tournaments.plan import Hand
    from trickformer.tournaments.play import play

    drawn = np.random.default_rng([seed, first]).integers(len(cast), size=(n, game.players))
    hands = [Hand(first + i, tuple(row)) for i, row in enumerate(drawn.tolist())]
    made = [players.make(spec, game) for spec in cast]
    made = [_Noisy(player, noise) for player in made] if noise else made
    ended = {record.deal: record for record in play(game, made, hands, seed, n, heard=heard)}
    return [ended[first + i] for i in range(n)]


def _said_labels(said: list[_SearchValues], kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels of decisions of the kept seats (bool [n, players]), as Sequences has them: where those of each sequence
    begin, and LABEL, in order."""
    row = np.cumsum(kept).reshape(kept.shape) - 1
    rows, parts = [], []
    for s in said:
        if not kept[s.hand, s.seat]:
            continue
        entries = np.empty(len(s.tokens), LABEL)
        entries["position"], entries["token"], entries["value"] = s.position, s.tokens, s.values
        parts.append(entries)
        rows.append(np.full(len(entries), row[s.hand, s.seat]))
    found, labels = np.concatenate([np.empty(0, np.int64), *rows]), np.concatenate([NO_ENTRIES, *parts])
    order = np.lexsort((labels["position"], found))
    return starts_of(np.bincount(found, minlength=int(kept.sum()))), labels[order]


def _extract_values(hand: int, seat: int, position: int, result: SearchResult) -> _SearchValues:
    """What a search found. An action's label is its mean, in which the model's own prediction counts as one visit;
    actions that no simulation took have none, for the search knows of them what the model knew."""
    tried = result.visits > 1  # the model's own prediction counts as one
    return _SearchValues(hand, seat, position, result.tokens[tried], result.values[tried] / result.visits[tried])


class _Guests:
    """Named players at tables of models: they see what the tokens say."""

    def __init__(self, game: Game, guests: Sequence[Player], seed: int, first: int):
        self._guests, self._seeds = guests, (seed, first)
        self._tokenizer = tokenizers.make(game)
        self._known: dict[tuple[int, int], tuple[np.random.Generator, Memo]] = {}  # by hand and seat

    def choose(
        self, guest: int, hands: np.ndarray, seats: np.ndarray, seen: list[np.ndarray], legal: np.ndarray
    ) -> np.ndarray:
        """The own token of each: hands, seats int [n]; seen: tokens; legal: bool [n, V]. -> int [n]"""
        tokenizer, views, rngs, memos = self._tokenizer, [], [], []
        for hand, seat, tokens, may in zip(hands.tolist(), seats.tolist(), seen, legal):
            if (hand, seat) not in self._known:
                rng = np.random.default_rng([*self._seeds, hand, seat])
                self._known[hand, seat] = rng, {}
            rng, memo = self._known[hand, seat]
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
    """Play one hand a row of `roles`, all in step.

    backends: one for each model. seed, first: hands `first` .. of a series are dealt. threshold: of ArgmaxVal*. noise:
    share of the models' moves that are random. searches: in the place of `labels`, which are then none.
    guests: who plays where the roles say so. Returns the sequences of the kept seats, row by row, and scores int
    [n, players]."""
    if searches is not None and labels.share:
        raise ValueError("searches take the place of labels")
    seats, greedy, n = roles.model, roles.greedy, len(roles.model)
    tokenizer, bulk = tokenizers.make(game), tokenizers.bulk(game)
    tables = bulk.tables(seed, first, n)
    views = None
    if any(backend.n_features for backend in backends):
        views = _core.Seats(tokenizer.tracker(np.empty(0, np.int32)), n * game.players)
    rng = np.random.default_rng([seed, first])
    values = np.ascontiguousarray(game.outcomes.values, np.float32)
    node = np.full(seats.shape, -1, dtype=np.int32)  # the last node of each seat's sequence
    said: list[_SearchValues] = []
    fed = np.zeros(seats.shape, dtype=np.int32)  # how many of its tokens that node's backend has
    tokens, lengths = tables.tokens, tables.lengths
    every = np.arange(tokens.shape[2])
    others = _Guests(game, guests, seed, first)
    while True:
        turn = tables.current().astype(np.int64)
        live = np.flatnonzero(turn >= 0)
        if not len(live):
            break
        legal = tables.legal()
        actions = legal.argmax(axis=1).astype(np.int32)  # where a single one is legal, no model need be asked
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
            grown = np.flatnonzero(count)  # of a pass, the second card may follow on what is fed already
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
                drawn = rng.random(len(best)) < searches.share
                asked, best = best[drawn], best[~drawn]
                where, before = (at[asked], seat[asked]), lengths[at[asked], seat[asked]]
                trackers = [tokenizer.tracker(tokens[h, p, :n]) for h, p, n in zip(*where, before)]
                seeds = rng.integers(1 << 63, size=len(asked)).tolist()
                found = search(backend, values, trackers, node[where], seeds, searches.options)
                chosen[asked] = [result.token for result in found]
                said += [_extract_values(h, p, n - 1, r) for h, p, n, r in zip(*where, before, found)]
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
                    # The chosen branch is what the seat will see next: it need not be computed again.
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
        return Sequences(*seen, *_said_labels(said, roles.kept)), tables.scores()
    hands = BulkHands(bulk, tables.history(), tables.scores())
    return label_hands(game, hands, roles.kept, seed, first, labels), tables.scores()
