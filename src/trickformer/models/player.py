"""What the players of a transformer share: the checkpoint, and one growing sequence a hand and seat."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer import checkpoints, tokenizers
from trickformer.base import MANY, Decision, Game, Memo, Player, SearchNode, Thought, Tracker, View
from trickformer.plumbing.options import NamesFile, PerGame

if TYPE_CHECKING:
    from trickformer.models.backend import Backend, Prefix
    from trickformer.models.decide import Features


class ModelOptions(BaseModel):
    """Options of every player that asks a transformer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    checkpoint: Annotated[
        str | None, PerGame(lambda _, game: checkpoints.of_game(game)), NamesFile(checkpoints.names)
    ] = Field(None, description="Shipped checkpoint, folder with one, or run folder of train (default: the game's).")
    dtype: str = Field(
        "bfloat16", pattern="^(bfloat16|float32)$", description="bfloat16 or float32 (default: bfloat16)."
    )
    device: str = Field("cpu", description="cpu for the C++ backend, or a torch device such as cuda (default: cpu).")

    def checkpoint_of(self, game: Game) -> str:
        """The checkpoint that plays a game. Raises TrickformerError if none is given and none is shipped."""
        return self.checkpoint or checkpoints.of_game(game)


@dataclass(frozen=True, slots=True)
class Turns:
    """Decisions that a model is asked for, n of them, each with several legal actions."""

    nodes: np.ndarray  # int32 [n], the backend's node of the last token
    tokens: list[np.ndarray]  # what each seat has seen
    actions: list[dict[int, int]]  # the legal ones, by their tokens
    legal: np.ndarray  # bool [n, V], these tokens
    rng: list[np.random.Generator]  # none where nothing is drawn
    views: Sequence[View] = ()  # none where nothing but the sequences is known
    memos: Sequence[Memo] = ()  # likewise
    explain: bool = False  # whether decisions are to bring thoughts


class ModelPlayer(Player):
    """A player that decides by a model's answers; `decide` is what its kinds differ in.

    Where a single action is legal it is taken, and the model is not asked."""

    memo_is_copyable = has_likelihood = True

    def __init__(self, options: ModelOptions, game: Game, backend: Backend | None = None):
        """backend: that of another player on the same checkpoint, to share it."""
        from trickformer.models.backend import load_backend

        self.tokenizer = tokenizers.make(game)
        self.outcome_values = game.outcomes.values
        path = checkpoints.find(options.checkpoint_of(game))
        checkpoints.check(path, game, self.tokenizer)
        self.backend = backend or load_backend(path, game.outcomes, dtype=options.dtype, device=options.device)

    @abstractmethod
    def decide(self, turns: Turns) -> list[Decision]:
        """One decision a turn."""

    def thoughts(self, turns: Turns, imagined: Sequence[tuple[SearchNode, ...]]) -> list[Thought | None]:
        """A thought for each turn, or None where none is asked for."""
        if not turns.explain:
            return [None] * len(turns.nodes)
        from trickformer.models.decide import legal_policy

        policy, found = legal_policy(self.backend.policy(turns.nodes), turns.legal), []
        for row in range(len(turns.nodes)):
            likely = {action: float(policy[row, token]) for token, action in turns.actions[row].items()}
            found.append(Thought(policy=likely, imagined=imagined[row]))
        return found

    def feature_function(self, sequences: Sequence[np.ndarray]) -> Features:
        """What is known once a token has followed one of the sequences, as models/decide.py asks for it."""

        def features(rows: np.ndarray, following: np.ndarray) -> np.ndarray:
            longer = [np.append(sequences[row], token) for row, token in zip(rows, following)]
            return np.array([self.tokenizer.tracker(sequence).features() for sequence in longer])

        return features

    def look(self, views: Sequence[View], memo: Sequence[Memo]) -> None:
        """Feeds what was seen, which copies of the memos then share."""
        self.feed_views(views, memo)

    def feed_views(self, views: Sequence[View], memo: Sequence[Memo]) -> tuple[list[np.ndarray], np.ndarray]:
        """The tokens of each view, and the backend's node of the last one, int32 [n]."""
        from trickformer.models.backend import advance

        for m in memo:
            if "prefix" not in m:
                m["prefix"] = self._prefix()
        tokens = [self.tokenizer.encode(view) for view in views]
        return tokens, advance([m["prefix"] for m in memo], tokens)

    def _tracker(self) -> Tracker:
        """Before the first token."""
        return self.tokenizer.tracker(np.empty(0, np.int32))

    def _prefix(self) -> Prefix:
        """Before the first token."""
        from trickformer.models.backend import Prefix

        return Prefix(self.backend, self._tracker())

    def likely(self, turns: Turns) -> np.ndarray:
        """float64 [n, V]: how likely each legal token is to be its choice; here by the model's policy."""
        from trickformer.models.decide import legal_policy

        return legal_policy(self.backend.policy(turns.nodes), turns.legal)

    def log_likelihood(self, views: Sequence[View], slip: float) -> np.ndarray:
        """float64 [n], the logarithm of how likely this player, a share `slip` of its moves being random, would have
        done in each viewer's place what the viewer has done so far."""
        from trickformer.models.backend import advance

        found = np.zeros(len(views))
        for first in range(0, len(views), MANY):
            sequences = [self.tokenizer.encode(view) for view in views[first : first + MANY]]
            prefixes = [self._prefix() for _ in sequences]
            advance(prefixes, sequences)
            made = [(i, place, may) for i, tokens in enumerate(sequences) for place, may in self._decisions(tokens)]
            if not made:
                continue
            legal = np.array([may for *_, may in made])
            turns = Turns(
                np.array([prefixes[i].nodes[place - 1] for i, place, _ in made], np.int32),
                [sequences[i][:place] for i, place, _ in made],
                [{token: self.tokenizer.action(token) for token in np.flatnonzero(may).tolist()} for *_, may in made],
                legal,
                [],
            )
            taken = self.likely(turns)[np.arange(len(made)), [sequences[i][place] for i, place, _ in made]]
            likelihood = (1 - slip) * taken + slip / legal.sum(axis=1)
            with np.errstate(divide="ignore"):
                np.add.at(found, [first + i for i, *_ in made], np.log(likelihood))
        return found

    def _decisions(self, tokens: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """The places in a sequence that a choice stands at, and what was legal there, bool [V]."""
        tracker = self._tracker()
        for place, token in enumerate(tokens.tolist()):
            if place and tracker.my_turn():
                legal = tracker.legal()
                if legal.sum() > 1:
                    yield place, legal
            tracker.push(token)

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        decisions: list[Decision | None] = [Decision(v.legal[0]) if len(v.legal) == 1 else None for v in views]
        open_ = [i for i, d in enumerate(decisions) if d is None]
        if open_:
            tokens, nodes = self.feed_views([views[i] for i in open_], [memo[i] for i in open_])
            actions = [{self.tokenizer.token(a): a for a in views[i].legal} for i in open_]
            legal = np.zeros((len(open_), len(self.tokenizer.vocab)), dtype=bool)
            for row, by_token in enumerate(actions):
                legal[row, list(by_token)] = True
            explain = any(memo[i].get("explain") for i in open_)
            turns = Turns(
                nodes,
                tokens,
                actions,
                legal,
                [rng[i] for i in open_],
                [views[i] for i in open_],
                [memo[i] for i in open_],
                explain,
            )
            for i, decision in zip(open_, self.decide(turns), strict=True):
                decisions[i] = decision
        return [d for d in decisions if d is not None]
