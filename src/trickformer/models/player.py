"""Base of the players of a transformer: its checkpoint, and one growing sequence for each hand and seat."""

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
    """Options of every player that uses a transformer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    checkpoint: Annotated[
        str | None, PerGame(lambda _, game: checkpoints.of_game(game)), NamesFile(checkpoints.names)
    ] = Field(None, description="Shipped checkpoint, folder with one, or run folder of train (default: the game's).")
    dtype: str = Field(
        "bfloat16", pattern="^(bfloat16|float32)$", description="bfloat16 or float32 (default: bfloat16)."
    )
    device: str = Field("cpu", description="cpu for the C++ backend, or a torch device such as cuda (default: cpu).")

    def checkpoint_of(self, game: Game) -> str:
        """Return the checkpoint that plays a game.

        Args:
            game: The game.

        Raises:
            TrickformerError: The option is not set, and no checkpoint is shipped for the game.
        """
        return self.checkpoint or checkpoints.of_game(game)


@dataclass(frozen=True, slots=True)
class Turns:
    """n decisions for a model, each with several legal actions."""

    nodes: np.ndarray  # int32 [n], the backend's node of the last token
    tokens: list[np.ndarray]  # tokens of each seat so far
    actions: list[dict[int, int]]  # legal actions by their tokens
    legal: np.ndarray  # bool [n, V], the legal tokens
    rng: list[np.random.Generator]  # empty if the decision draws nothing
    views: Sequence[View] = ()  # empty if only the sequences are known
    memos: Sequence[Memo] = ()  # empty if only the sequences are known
    explain: bool = False  # whether decisions have thoughts


class ModelPlayer(Player):
    """A player that decides by a model. Its subclasses differ in `decide`.

    If a single action is legal, the player takes it without running the model.
    """

    memo_is_copyable = has_likelihood = True

    def __init__(self, options: ModelOptions, game: Game, backend: Backend | None = None):
        """Load the model.

        Args:
            options: Options of the player.
            game: The game.
            backend: Backend of another player with the same checkpoint, to share it.

        Raises:
            TrickformerError: The checkpoint is missing, damaged or of another game.
        """
        from trickformer.models.backend import load_backend

        self.tokenizer = tokenizers.make(game)
        self.outcome_values = game.outcomes.values
        path = checkpoints.find(options.checkpoint_of(game))
        checkpoints.check(path, game, self.tokenizer)
        self.backend = backend or load_backend(path, game.outcomes, dtype=options.dtype, device=options.device)

    @abstractmethod
    def decide(self, turns: Turns) -> list[Decision]:
        """Make one decision for each turn.

        Args:
            turns: n turns.
        """

    def thoughts(self, turns: Turns, imagined: Sequence[tuple[SearchNode, ...]]) -> list[Thought | None]:
        """Make a thought for each turn, or None if the turns need no explanation.

        Args:
            turns: n turns.
            imagined: Nodes of the search of each turn, empty without a search.
        """
        if not turns.explain:
            return [None] * len(turns.nodes)
        from trickformer.models.decide import legal_policy

        policy = legal_policy(self.backend.policy(turns.nodes), turns.legal)
        thoughts: list[Thought | None] = []
        for row in range(len(turns.nodes)):
            probabilities = {action: float(policy[row, token]) for token, action in turns.actions[row].items()}
            thoughts.append(Thought(policy=probabilities, imagined=imagined[row]))
        return thoughts

    def feature_function(self, sequences: Sequence[np.ndarray]) -> Features:
        """Return a function that computes features after one more token, for models/decide.py.

        Args:
            sequences: Tokens of each row.
        """

        def features(rows: np.ndarray, following: np.ndarray) -> np.ndarray:
            longer = [np.append(sequences[row], token) for row, token in zip(rows, following)]
            return np.array([self.tokenizer.tracker(sequence).features() for sequence in longer])

        return features

    def look(self, views: Sequence[View], memo: Sequence[Memo]) -> None:
        """Run the model on the views. Copies of the memos then share the result.

        Args:
            views: n views.
            memo: Memo of each view.
        """
        self.feed_views(views, memo)

    def feed_views(self, views: Sequence[View], memo: Sequence[Memo]) -> tuple[list[np.ndarray], np.ndarray]:
        """Run the model on views.

        Args:
            views: n views.
            memo: Memo of each view, which holds its prefix.

        Returns:
            The tokens of each view, and the backend's node of its last token, int32 [n].
        """
        from trickformer.models.backend import advance

        for m in memo:
            if "prefix" not in m:
                m["prefix"] = self._prefix()
        tokens = [self.tokenizer.encode(view) for view in views]
        return tokens, advance([m["prefix"] for m in memo], tokens)

    def _tracker(self) -> Tracker:
        """Return a tracker of the empty sequence."""
        return self.tokenizer.tracker(np.empty(0, np.int32))

    def _prefix(self) -> Prefix:
        """Return an empty prefix."""
        from trickformer.models.backend import Prefix

        return Prefix(self.backend, self._tracker())

    def likely(self, turns: Turns) -> np.ndarray:
        """Compute the probability that the player chooses each token; by default the model's policy.

        Args:
            turns: n turns.

        Returns:
            float64 [n, V].
        """
        from trickformer.models.decide import legal_policy

        return legal_policy(self.backend.policy(turns.nodes), turns.legal)

    def log_likelihood(self, views: Sequence[View], slip: float) -> np.ndarray:
        """Compute how likely this player would have made the viewers' moves so far.

        Args:
            views: n views.
            slip: Share of moves that are uniformly random.

        Returns:
            float64 [n], logarithms of the probabilities.
        """
        from trickformer.models.backend import advance

        totals = np.zeros(len(views))
        for first in range(0, len(views), MANY):
            sequences = [self.tokenizer.encode(view) for view in views[first : first + MANY]]
            prefixes = [self._prefix() for _ in sequences]
            advance(prefixes, sequences)
            choices = [(i, place, may) for i, tokens in enumerate(sequences) for place, may in self._choices(tokens)]
            if not choices:
                continue
            legal = np.array([may for *_, may in choices])
            turns = Turns(
                np.array([prefixes[i].nodes[place - 1] for i, place, _ in choices], np.int32),
                [sequences[i][:place] for i, place, _ in choices],
                [
                    {token: self.tokenizer.action(token) for token in np.flatnonzero(may).tolist()}
                    for *_, may in choices
                ],
                legal,
                [],
            )
            probability = self.likely(turns)[np.arange(len(choices)), [sequences[i][place] for i, place, _ in choices]]
            likelihood = (1 - slip) * probability + slip / legal.sum(axis=1)
            with np.errstate(divide="ignore"):
                np.add.at(totals, [first + i for i, *_ in choices], np.log(likelihood))
        return totals

    def _choices(self, tokens: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the positions in a sequence of the viewer's choices, and the legal tokens there, bool [V]."""
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
