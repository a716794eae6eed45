"""Panels about a decision: the model's policy, results of searches, beliefs over hidden cards, and tokens.

Panels use only the knowledge of the seat on turn. Their requests hold the full history of the hand, but only
`Game.view` reads the hidden cards in it. The exception is `claim`, which plays with open cards.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from trickformer import tokenizers
from trickformer.base import CHANCE, Belief, Game, SearchNode, TrickformerError, View, decision_rng
from trickformer.belief import heads
from trickformer.belief.samplers import CardBelief, has_weighted_belief, sampler, weighted_belief
from trickformer.belief.samplers.hanabi import HanabiBelief
from trickformer.belief.samplers.mines import MinesBelief
from trickformer.web import scenes
from trickformer.web.cast import Cast, DecisionRequest, state_after
from trickformer.web.claims import certain
from trickformer.web.hands import hanabi_hands
from trickformer.web.hints import find_hint, find_loss
from trickformer.web.scenes import OPEN

MAX_CHILDREN = 4  # most visited children of a node that are shown
MAX_DEPTH = 12  # largest number of tokens in a line
N_WORLDS = 6  # worlds that the panel `worlds` shows
NUMBER_OFFSET = 2**31  # added to the number of a decision, so that panels have random streams of their own


class Inside:
    """Panels of one game: each method returns the contents of one panel of the page for JSON.

    Attributes:
        specs: Spec of the player that each panel queries.
    """

    def __init__(self, rules: str, specs: dict[str, str], learned: str | None, worlds: int):
        """Make the panels.

        Args:
            rules: Game string.
            specs: Spec of the player that each panel queries, by panel.
            learned: Checkpoint with a belief head, or None.
            worlds: Number of worlds to draw for `belief`.
        """
        from trickformer import games

        self._game: Game = games.load(rules)
        self._cast, self.specs = Cast(self._game), specs
        self._compared = Cast(self._game)  # a player's memo must not serve a panel and a comparison
        self._worlds, self._learned = worlds, learned
        self._beliefs: dict[str, Belief] = {}
        self._pack = [scenes.to_json(card) for card in scenes.pack(self._game)]

    def model(self, request: DecisionRequest) -> dict[str, Any]:
        """Show the model's policy and its value of each action.

        Args:
            request: Decision of the seat on turn.
        """
        return self._explain_decision("model", request)

    def search(self, request: DecisionRequest) -> dict[str, Any]:
        """Show the visits and values of GO-MCTS, and its most visited lines.

        Args:
            request: Decision of the seat on turn.
        """
        return self._explain_decision("search", request)

    def pimc(self, request: DecisionRequest) -> dict[str, Any]:
        """Show the values of the actions by PIMC, on average and in each world.

        Args:
            request: Decision of the seat on turn.
        """
        return self._explain_decision("pimc", request)

    def player(self, request: DecisionRequest, spec: str) -> dict[str, Any]:
        """Show the action that a player would take, and its own value of the decision if it reports one.

        Args:
            request: Decision of the seat on turn.
            spec: Spec of the player.

        Raises:
            TrickformerError: The player sees hidden cards, which the person's seat does not.
        """
        if self._compared.player(spec).needs_state:
            raise TrickformerError(f"player {spec!r} sees the hidden cards; choose a player that plays by its view")
        answer = self._compared.decide(replace(request, spec=spec))
        decision = answer.decision
        scale, unit = self._game.worth
        value = decision.value if decision.value is not None else (decision.values or {}).get(decision.action)
        return {
            "action": decision.action,
            "words": self._words(decision.action),
            "value": None if value is None else scale * value,
            "unit": unit,
            "seconds": answer.seconds,
        }

    def _explain_decision(self, panel: str, request: DecisionRequest) -> dict[str, Any]:
        spec = self.specs[panel]
        answer = self._cast.decide(replace(request, spec=spec), explain=True)
        decision, thought = answer.decision, answer.decision.thought
        scale, unit = self._game.worth
        panel_data: dict[str, Any] = {"spec": spec, "seconds": answer.seconds, "best": decision.action, "unit": unit}
        panel_data["cards"] = self._pack  # the page shows the names of cards by their signs
        view = self._view(request)
        panel_data |= {"value": None if decision.value is None else scale * decision.value, "scale": self._scale()}
        if len(view.legal) == 1:
            return panel_data | {"rows": [], "note": f"only {self._words(view.legal[0])} is legal"}
        worlds = thought.worlds if thought else ()
        if decision.values is not None:
            values = decision.values
        elif worlds:
            values = {a: float(np.mean([world.values[a] for world in worlds])) for a in view.legal}
        else:
            values = {} if decision.value is None else {decision.action: decision.value}
        if decision.value is None and decision.action in values:
            panel_data["value"] = scale * values[decision.action]
        hint = find_hint(decision, values, view.legal)
        panel_data["hint"] = hint._asdict() | {
            "lead": None if hint.lead is None else scale * hint.lead,
            "error": None if hint.error is None else scale * hint.error,
        }
        policy = (thought.policy if thought else None) or {}
        visits = decision.visits or {}
        best_first = sorted(view.legal, key=lambda action: -values.get(action, -np.inf))
        losses = {a: [None if x is None else scale * x for x in find_loss(decision, values, a)] for a in view.legal}
        panel_data["rows"] = [
            {
                "action": a,
                "words": self._words(a),
                "policy": policy.get(a),
                "value": scale * values[a] if a in values else None,
                "visits": visits.get(a),
                "loss": losses[a][0],
                "loss_error": losses[a][1],
            }
            for a in best_first
        ]
        # If a scripted rollout policy finishes games, these games are the simulations, not the sampled worlds.
        runs = thought.imagined[0].runs if thought and thought.imagined else 0
        if simulations := max(runs, decision.searched):
            panel_data["note"] = f"{simulations} simulations, {decision.illegal} of them illegal"
        if thought and thought.imagined:
            panel_data["lines"] = self._lines(thought.imagined)
        if worlds:
            places = [*(f"seat {seat}" for seat in range(self._game.players)), "skat"]
            panel_data["worlds"] = [
                {
                    "cards": [
                        f"{place}: {' '.join(map(self._words, cards))}" for place, cards in zip(places, world.cards)
                    ],
                    "values": [scale * world.values[a] if a in world.values else None for a in best_first],
                }
                for world in worlds
            ]
        return panel_data

    def _scale(self) -> tuple[float, float] | None:
        """Return the lowest and the highest result of a seat in the game's unit; None if the game lists no outcomes."""
        values = self._game.outcomes.values[:, 0] * self._game.worth[0] if self._game.outcomes.labels else ()
        return (float(min(values)), float(max(values))) if len(values) else None

    def _lines(self, nodes: tuple[SearchNode, ...]) -> list[dict[str, Any]]:
        """Return the most visited histories below the root as nested lists of nodes."""
        vocabulary = tokenizers.make(self._game).vocab
        below: dict[int, list[int]] = {}
        for i, node in enumerate(nodes):
            if node.runs:
                below.setdefault(node.parent, []).append(i)

        def children(i: int, depth: int) -> list[dict[str, Any]]:
            most_visited = (
                sorted(below.get(i, []), key=lambda j: -nodes[j].runs)[:MAX_CHILDREN] if depth < MAX_DEPTH else []
            )
            return [
                {
                    "token": vocabulary[nodes[j].token],
                    "runs": nodes[j].runs,
                    "value": nodes[j].value * self._game.worth[0],
                    "after": children(j, depth + 1),
                }
                for j in most_visited
            ]

        return children(0, 0)

    def belief(self, request: DecisionRequest) -> dict[str, Any]:
        """Show the places of hidden cards, as shares of sampled worlds; in Hanabi the kinds of the own cards.

        Args:
            request: Decision of the seat on turn.

        Raises:
            TrickformerError: Worlds of the game cannot be displayed.
        """
        view, belief = self._view(request), self._belief("uniform")
        if isinstance(belief, HanabiBelief):
            hands = hanabi_hands(self._game, view, self._worlds, self._rng(request))
            kinds = list(range(len(hands["cards"])))
            return hands | {"grid": _grid([scenes.card(self._game, kind) for kind in kinds], kinds)}
        if isinstance(belief, MinesBelief):
            return self._mines(belief, view, self._rng(request))
        if not isinstance(belief, CardBelief):
            raise TrickformerError(
                f"hidden cards of {self._game.name} cannot be displayed; its belief samples no cards"
            )
        tables = {name: self._shares(name, view, self._rng(request)) for name in self._belief_names()}
        uniform = tables["uniform"]
        hidden = sorted(np.flatnonzero(uniform.sum(axis=1) > 0).tolist(), key=lambda c: scenes.card(self._game, c).sign)
        places = [f"seat {(view.viewer + i) % self._game.players}" for i in range(1, self._game.players)]
        places += ["skat"] * (uniform.shape[1] - len(places))
        return {
            "places": places,
            "cards": [self._words(card) for card in hidden],
            "kinds": {name: shares[hidden].tolist() for name, shares in tables.items()},
            "worlds": self._worlds,
            "grid": _grid([scenes.card(self._game, card) for card in range(len(uniform))], hidden),
        }

    def _mines(self, belief: MinesBelief, view: View, rng: np.random.Generator) -> dict[str, Any]:
        """Return the share of worlds in which each closed cell holds a mine."""
        belief.reset(view)
        hidden = belief.sample(self._worlds, rng).hidden
        if (hidden < 0).any():
            raise TrickformerError("no mine has a place yet; look again after the first move")
        shares = (np.bincount(hidden.ravel(), minlength=max(view.legal) + 1) / self._worlds).tolist()
        cells = [self._words(cell).removeprefix("open ") for cell in view.legal]
        kinds = {"exact counting": [[shares[cell]] for cell in view.legal]}
        positions = [tuple(map(int, cell.split(","))) for cell in cells]
        rows, columns = (sorted({position[axis] for position in positions}) for axis in (0, 1))
        grid = {
            "rows": [{"words": f"row {row + 1}"} for row in rows],
            "columns": [str(column + 1) for column in columns],
            "cells": [[rows.index(row), columns.index(column)] for row, column in positions],
        }
        return {"places": ["a mine"], "cards": cells, "kinds": kinds, "worlds": self._worlds, "grid": grid}

    def _belief_names(self) -> list[str]:
        return [
            "uniform",
            *(["weighted"] if has_weighted_belief(self._game) else []),
            *(["learned"] if self._learned else []),
        ]

    def _belief(self, name: str) -> Belief:
        if name not in self._beliefs:
            if name == "learned" and self._learned:
                self._beliefs[name] = sampler(self._game, heads.load(self._learned, self._game))
            else:
                self._beliefs[name] = weighted_belief(self._game) if name == "weighted" else sampler(self._game)
        return self._beliefs[name]

    def _shares(self, name: str, view: View, rng: np.random.Generator) -> np.ndarray:
        """Return the share of worlds with each card in each place, float64 [cards, places]; 0 for visible cards."""
        belief = self._belief(name)
        assert isinstance(belief, CardBelief)
        belief.reset(view)
        n = min(self._worlds, 200) if name == "weighted" else self._worlds  # weighted samples are slow
        places = belief.places(belief.sample(n, rng))
        return np.stack([(places == place).mean(axis=0) for place in range(places.max(initial=0) + 1)], axis=1)

    def worlds(self, request: DecisionRequest) -> dict[str, Any]:
        """Show some worlds that are consistent with the view, with all cards open.

        Args:
            request: Decision of the seat on turn.
        """
        view, rng = self._view(request), self._rng(request)
        belief = self._belief("learned" if self._learned else "uniform")
        belief.reset(view)
        drawn = belief.sample(N_WORLDS, rng)
        open_scenes = [scenes.show(self._game, drawn.state(i), OPEN) for i in range(N_WORLDS) if drawn.feasible[i]]
        return {"scenes": [scenes.to_json(scene) for scene in open_scenes]}

    def tokens(self, request: DecisionRequest) -> dict[str, Any]:
        """Show the tokens that a model reads, with the event that each comes from.

        Args:
            request: Decision of the seat on turn.

        Raises:
            TrickformerError: The game has no tokenizer.
        """
        tokenizer = tokenizers.find(self._game)
        if tokenizer is None:
            raise TrickformerError(f"no model plays {self._game.name}: it has no tokens")
        view = self._view(request)
        tokens = tokenizer.encode(view).tolist()
        shown = 0  # tokens of earlier events
        events = []
        for i, event in enumerate(view.events):
            try:
                upto = len(tokenizer.encode(View(view.viewer, view.events[: i + 1], ())))
            except ValueError:  # the event is only the first part of a token's event
                continue
            what = "dealt" if event.actor == CHANCE else f"seat {event.actor}"
            action = self._words(event.action) if event.action is not None and event.actor != CHANCE else ""
            events.append(
                {"what": f"{what} {action}".strip(), "tokens": [tokenizer.vocab[t] for t in tokens[shown:upto]]}
            )
            shown = max(shown, upto)
        return {"events": [e for e in events if e["tokens"]], "length": len(tokens), "most": tokenizer.n_positions}

    def claim(self, request: DecisionRequest, score: int) -> tuple[bool | None, list[int]]:
        """Test a claim by `claims.certain` from the true state, with open cards.

        Args:
            request: Decision of the seat on turn.
            score: Score that the seat claims.
        """
        return certain(self._game, state_after(self._game, request.history), request.seat, score)

    def _view(self, request: DecisionRequest) -> View:
        return self._game.view(state_after(self._game, request.history), request.seat)

    def _words(self, action: int) -> str:
        return self._game.words(action)

    def _rng(self, request: DecisionRequest) -> np.random.Generator:
        return decision_rng(request.seed, request.deal, request.seat, NUMBER_OFFSET + request.number)


def _grid(cards: list[scenes.Card], shown: list[int]) -> dict[str, Any]:
    """Arrange cards in a grid of suits by ranks.

    Args:
        cards: All cards of the game.
        shown: Cards with shares, in the order of the shares.

    Returns:
        `rows` with the sign of each suit, `columns` with the ranks, and `cells`: row and column of each of `shown`.
    """
    signs = list(dict.fromkeys(card.sign for card in cards))
    ranks = list(dict.fromkeys(card.rank for card in cards))
    cells = [[signs.index(cards[number].sign), ranks.index(cards[number].rank)] for number in shown]
    return {"rows": [{"sign": sign, "words": sign} for sign in signs], "columns": ranks, "cells": cells}
