"""Looking inside at a decision: what a model says, what searches found, where hidden cards may lie, what a model reads.

All of it is what the seat on turn can know: nothing here is given the hidden cards, but for the history that leads to
the view, which `Game.view` alone reads."""

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
from trickformer.web.cast import Cast, DecisionRequest, at
from trickformer.web.claims import certain
from trickformer.web.hands import hanabi_hands
from trickformer.web.scenes import OPEN

LINES, DEPTH = 4, 12  # children of a node that are shown, the most visited, and how far a line is followed
SHOWN = 6  # worlds that are laid open
NUMBER = 2**31  # decisions are numbered below it: looking draws from streams of its own


class Inside:
    """The instruments of one game. Each method is a panel of the page: what it returns is JSON. `specs` names
    the player of each panel that asks one."""

    def __init__(self, rules: str, specs: dict[str, str], learned: str | None, worlds: int):
        """specs: of the players asked, by panel. learned: a belief head, or None. worlds: drawn for `belief`."""
        from trickformer import games

        self._game: Game = games.load(rules)
        self._cast, self.specs = Cast(self._game), specs
        self._worlds, self._learned = worlds, learned
        self._beliefs: dict[str, Belief] = {}

    def model(self, asked: DecisionRequest) -> dict[str, Any]:
        """The model's policy, and what it says that each action is worth."""
        return self._thought("model", asked)

    def search(self, asked: DecisionRequest) -> dict[str, Any]:
        """GO-MCTS: visits, values, and the lines that it imagined most often."""
        return self._thought("search", asked)

    def pimc(self, asked: DecisionRequest) -> dict[str, Any]:
        """PIMC: values of the actions, in all and in each world."""
        return self._thought("pimc", asked)

    def _thought(self, panel: str, asked: DecisionRequest) -> dict[str, Any]:
        spec = self.specs[panel]
        answer = self._cast.decide(replace(asked, spec=spec), explain=True)
        decision, thought = answer.decision, answer.decision.thought
        found: dict[str, Any] = {"spec": spec, "seconds": answer.seconds, "best": decision.action}
        view = self._view(asked)
        if len(view.legal) == 1:
            return found | {"rows": [], "note": f"only {self._words(view.legal[0])} is legal"}
        worlds = thought.worlds if thought else ()
        if decision.values is not None:
            values = decision.values
        elif worlds:
            values = {a: float(np.mean([world.values[a] for world in worlds])) for a in view.legal}
        else:
            values = {} if decision.value is None else {decision.action: decision.value}
        policy = (thought.policy if thought else None) or {}
        visits = decision.visits or {}
        best_first = sorted(view.legal, key=lambda action: -values.get(action, -np.inf))
        found["rows"] = [
            {
                "action": a,
                "words": self._words(a),
                "policy": policy.get(a),
                "value": values.get(a),
                "visits": visits.get(a),
            }
            for a in best_first
        ]
        # Where a script plays games on, those are the simulations, whatever it takes to draw their worlds.
        runs = thought.imagined[0].runs if thought and thought.imagined else 0
        if simulations := max(runs, decision.searched):
            found["note"] = f"{simulations} simulations, {decision.illegal} of them illegal"
        if thought and thought.imagined:
            found["lines"] = self._lines(thought.imagined)
        if worlds:
            places = [*(f"seat {seat}" for seat in range(self._game.players)), "skat"]
            found["worlds"] = [
                {
                    "cards": [
                        f"{place}: {' '.join(map(self._words, cards))}" for place, cards in zip(places, world.cards)
                    ],
                    "values": [world.values.get(action) for action in best_first],
                }
                for world in worlds
            ]
        return found

    def _lines(self, nodes: tuple[SearchNode, ...]) -> list[dict[str, Any]]:
        """The most visited histories below the root, nested."""
        vocabulary = tokenizers.make(self._game).vocab
        below: dict[int, list[int]] = {}
        for i, node in enumerate(nodes):
            if node.runs:
                below.setdefault(node.parent, []).append(i)

        def children(i: int, depth: int) -> list[dict[str, Any]]:
            most = sorted(below.get(i, []), key=lambda j: -nodes[j].runs)[:LINES] if depth < DEPTH else []
            return [
                {
                    "token": vocabulary[nodes[j].token],
                    "runs": nodes[j].runs,
                    "value": nodes[j].value,
                    "after": children(j, depth + 1),
                }
                for j in most
            ]

        return children(0, 0)

    def belief(self, asked: DecisionRequest) -> dict[str, Any]:
        """Where hidden cards lie, as shares of sampled worlds; in Hanabi what the own cards are."""
        view, belief = self._view(asked), self._belief("uniform")
        if isinstance(belief, HanabiBelief):
            return hanabi_hands(self._game, view, self._worlds, self._rng(asked))
        if isinstance(belief, MinesBelief):
            return self._mines(belief, view, self._rng(asked))
        if not isinstance(belief, CardBelief):
            raise TrickformerError(f"there is no such picture of {self._game.name}")
        tables = {name: self._shares(name, view, self._rng(asked)) for name in self._kinds()}
        uniform = tables["uniform"]
        hidden = sorted(np.flatnonzero(uniform.sum(axis=1) > 0).tolist(), key=lambda c: scenes.card(self._game, c).sign)
        places = [f"seat {(view.viewer + i) % self._game.players}" for i in range(1, self._game.players)]
        places += ["skat"] * (uniform.shape[1] - len(places))
        return {
            "places": places,
            "cards": [self._words(card) for card in hidden],
            "kinds": {name: shares[hidden].tolist() for name, shares in tables.items()},
            "worlds": self._worlds,
        }

    def _mines(self, belief: MinesBelief, view: View, rng: np.random.Generator) -> dict[str, Any]:
        """In which share of the worlds each closed cell holds a mine."""
        belief.reset(view)
        hidden = belief.sample(self._worlds, rng).hidden
        if (hidden < 0).any():
            raise TrickformerError("the mines are laid after the first move")
        shares = (np.bincount(hidden.ravel(), minlength=max(view.legal) + 1) / self._worlds).tolist()
        cells = [self._words(cell).removeprefix("open ") for cell in view.legal]
        kinds = {"exact counting": [[shares[cell]] for cell in view.legal]}
        return {"places": ["a mine"], "cards": cells, "kinds": kinds, "worlds": self._worlds}

    def _kinds(self) -> list[str]:
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
        """float64 [cards, places]: in which share of the worlds each card lies where; 0 of those that the seat sees."""
        belief = self._belief(name)
        assert isinstance(belief, CardBelief)
        belief.reset(view)
        n = min(self._worlds, 200) if name == "weighted" else self._worlds
        places = belief.places(belief.sample(n, rng))
        return np.stack([(places == place).mean(axis=0) for place in range(places.max(initial=0) + 1)], axis=1)

    def worlds(self, asked: DecisionRequest) -> dict[str, Any]:
        """Some worlds that explain what the seat has seen, with all cards open."""
        view, rng = self._view(asked), self._rng(asked)
        belief = self._belief("learned" if self._learned else "uniform")
        belief.reset(view)
        drawn = belief.sample(SHOWN, rng)
        found = [scenes.show(self._game, drawn.state(i), OPEN) for i in range(SHOWN) if drawn.feasible[i]]
        return {"scenes": [scene.model_dump(mode="json", exclude_defaults=True) for scene in found]}

    def tokens(self, asked: DecisionRequest) -> dict[str, Any]:
        """What a model reads of the seat's hand so far, token by token, and what happened there."""
        tokenizer = tokenizers.find(self._game)
        if tokenizer is None:
            raise TrickformerError(f"no model plays {self._game.name}: it has no tokens")
        view = self._view(asked)
        tokens, told, events = tokenizer.encode(view).tolist(), 0, []
        for i, event in enumerate(view.events):
            try:
                upto = len(tokenizer.encode(View(view.viewer, view.events[: i + 1], ())))
            except ValueError:  # what is seen at once is not whole yet
                continue
            what = "dealt" if event.actor == CHANCE else f"seat {event.actor}"
            action = self._words(event.action) if event.action is not None and event.actor != CHANCE else ""
            events.append(
                {"what": f"{what} {action}".strip(), "tokens": [tokenizer.vocab[t] for t in tokens[told:upto]]}
            )
            told = max(told, upto)
        return {"events": [e for e in events if e["tokens"]], "length": len(tokens), "most": tokenizer.n_positions}

    def claim(self, asked: DecisionRequest, score: int) -> tuple[bool | None, list[int]]:
        """See `claims.certain`, of the true state: what others hold is looked at, as where cards are laid open."""
        return certain(self._game, at(self._game, asked.history), asked.seat, score)

    def _view(self, asked: DecisionRequest) -> View:
        return self._game.view(at(self._game, asked.history), asked.seat)

    def _words(self, action: int) -> str:
        return self._game.words(action)

    def _rng(self, asked: DecisionRequest) -> np.random.Generator:
        return decision_rng(asked.seed, asked.deal, asked.seat, NUMBER + asked.number)
