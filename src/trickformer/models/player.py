"""Base class of the players that use a transformer, with a cached token sequence for each hand and seat."""

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
    ] = Field(
        None,
        min_length=1,
        description="Shipped checkpoint, folder with one, or run folder of train (default: the game's).",
    )
    dtype: str = Field(
        "bfloat16",
        pattern="^(bfloat16|float32)$",
        description="Type of the weights: bfloat16 or float32 (default: bfloat16).",
    )
    device: str = Field("cpu", description="cpu for the C++ backend, or a torch device such as cuda (default: cpu).")

    def checkpoint_of(self, game: Game) -> str:
        """Return the checkpoint that plays a game.

        Args:
            game: The game.

        Raises:
            TrickformerError: The option is not set, and no checkpoint is shipped for the game.
        """
        return checkpoints.of_game(game) if self.checkpoint is None else self.checkpoint


@dataclass(frozen=True, slots=True)
class Turns:
    """n decisions for a model, each with several legal actions."""

    nodes: np.ndarray  # int32 [n], the backend's node of each sequence's last token
    tokens: list[np.ndarray]  # sequence of each turn so far, int32 [T]
    actions: list[dict[int, int]]  # legal actions by their tokens
    legal: np.ndarray  # bool [n, V], the legal tokens
    rng: list[np.random.Generator]  # empty if decisions need no random numbers
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

    @property
    def uses_action_values(self) -> bool:
        """True if the player's own values are Q(s, a) of the model, False if they are V after an action."""
        return self.backend.has_action_values

    @abstractmethod
    def decide(self, turns: Turns) -> list[Decision]:
        """Make one decision for each turn.

        Args:
            turns: n turns.
        """

    def thoughts(self, turns: Turns, imagined: Sequence[tuple[SearchNode, ...]]) -> list[Thought | None]:
        """Make a thought, the explanation of a decision, for each turn; None if `turns.explain` is false.

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

        def features(rows: np.ndarray, tokens: np.ndarray) -> np.ndarray:
            extended = [np.append(sequences[row], token) for row, token in zip(rows, tokens)]
            return np.array([self.tokenizer.tracker(sequence).features() for sequence in extended])

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
            memo: Memo of each view; it holds a `Prefix`, so that only new tokens are computed.

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

    def choice_probabilities(self, turns: Turns) -> np.ndarray:
        """Compute the probability that the player chooses each token; by default the model's policy.

        Args:
            turns: n turns.

        Returns:
            float64 [n, V].
        """
        from trickformer.models.decide import legal_policy

        return legal_policy(self.backend.policy(turns.nodes), turns.legal)

    def log_likelihood(self, views: Sequence[View], slip: float) -> np.ndarray:
        """Compute the probability that this player would have made all moves of each viewer so far.

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
            choices = [(i, at, mask) for i, tokens in enumerate(sequences) for at, mask in self._choices(tokens)]
            if not choices:
                continue
            legal = np.array([mask for *_, mask in choices])
            turns = Turns(
                nodes=np.array([prefixes[i].nodes[at - 1] for i, at, _ in choices], np.int32),
                tokens=[sequences[i][:at] for i, at, _ in choices],
                actions=[
                    {token: self.tokenizer.action(token) for token in np.flatnonzero(mask).tolist()}
                    for *_, mask in choices
                ],
                legal=legal,
                rng=[],
            )
            chosen = [sequences[i][at] for i, at, _ in choices]
            probability = self.choice_probabilities(turns)[np.arange(len(choices)), chosen]
            likelihood = (1 - slip) * probability + slip / legal.sum(axis=1)
            with np.errstate(divide="ignore"):
                np.add.at(totals, [first + i for i, *_ in choices], np.log(likelihood))
        return totals

    def _choices(self, tokens: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield each position at which the viewer chose among several tokens, and the legal tokens there, bool [V]."""
        tracker = self._tracker()
        for position, token in enumerate(tokens.tolist()):
            if position and tracker.my_turn():
                legal = tracker.legal()
                if legal.sum() > 1:
                    yield position, legal
            tracker.push(token)

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        decisions: list[Decision | None] = [Decision(v.legal[0]) if len(v.legal) == 1 else None for v in views]
        undecided = [i for i, d in enumerate(decisions) if d is None]
        if undecided:
            tokens, nodes = self.feed_views([views[i] for i in undecided], [memo[i] for i in undecided])
            actions = [{self.tokenizer.token(a): a for a in views[i].legal} for i in undecided]
            legal = np.zeros((len(undecided), len(self.tokenizer.vocab)), dtype=bool)
            for row, action_of in enumerate(actions):
                legal[row, list(action_of)] = True
            turns = Turns(
                nodes=nodes,
                tokens=tokens,
                actions=actions,
                legal=legal,
                rng=[rng[i] for i in undecided],
                views=[views[i] for i in undecided],
                memos=[memo[i] for i in undecided],
                explain=any(memo[i].get("explain") for i in undecided),
            )
            for i, decision in zip(undecided, self.decide(turns), strict=True):
                decisions[i] = decision
        return [d for d in decisions if d is not None]
