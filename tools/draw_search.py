"""Figure of one GO-MCTS decision: the tree that the search of docs/how-gomcts-works.md imagines, as SVG.

`python tools/draw_search.py` runs the search and writes docs/gomcts-tree.svg. The figure has a background of its own,
so it is readable on a light and on a dark page.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import trickformer as tf
from trickformer import tokenizers
from trickformer.base import SearchNode

OUT = Path(__file__).resolve().parents[1] / "docs" / "gomcts-tree.svg"
# Deal 4 of series 1 after eight tricks; seat 1 leads the ninth.
PLAYS = "2C 8C QC TC 7D AD QD 9D 9C 7C 3C JC 4C QH 6C AH 9S TS 6S JS 7H 4H 6H 3H 8D KD JD KS 8S 4S AC 7S"
LEVELS = ("seat 1 leads", "left, seat 2", "across, seat 3", "right, seat 0")
BRANCHES = (2, 3, 2, 2)  # children drawn at each level, the most visited first
BOX_WIDTH = 104
BOX_HEIGHT = 34
GAP = 10
COLUMN = 160
TOP = 52
LEFT = 16
LEGEND = 28  # height of the line below the tree
SUITS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1d2733}.head{font-weight:600;fill:#4a5a6a}"
    ".card{font-weight:700;font-size:14px}.red{fill:#b3261e}.edge{stroke:#8a99a8;fill:none}"
    ".box{fill:#fff;stroke:#8a99a8}.best{fill:#e2f1e7;stroke:#2e7d4f;stroke-width:2}"
)


@dataclass
class Branch:
    """A drawn node: token, simulations, mean value, children and the vertical centre of its box."""

    token: str
    runs: int
    value: float
    children: list[Branch] = field(default_factory=list)
    centre: float = 0


def search_tree() -> tuple[Branch, int]:
    """Run the search.

    Returns:
        The root with the branches that are drawn, and the number of simulations.
    """
    game = tf.load_game("hearts")
    state = game.deal(seed=1, index=4)
    for word in PLAYS.split():
        state.apply_action({game.words(action): action for action in state.legal_actions()}[word])
    view = game.view(state, state.current_player())
    decision = tf.decide(tf.make_player("gomcts", game), view, seed=1, explain=True)
    assert decision.thought is not None
    vocabulary = tokenizers.make(game).vocab
    return _branch(decision.thought.imagined, 0, 0, vocabulary), decision.searched


def _branch(nodes: Sequence[SearchNode], index: int, level: int, vocabulary: Sequence[str]) -> Branch:
    node = nodes[index]
    token = vocabulary[node.token] if node.token >= 0 else ""
    branch = Branch(token, node.runs, node.value)
    if level < len(BRANCHES):
        children = [i for i, each in enumerate(nodes) if each.parent == index and each.runs]
        children.sort(key=lambda i: -nodes[i].runs)
        branch.children = [_branch(nodes, i, level + 1, vocabulary) for i in children[: BRANCHES[level]]]
    return branch


def draw(root: Branch, simulations: int) -> str:
    """Draw the tree from left to right.

    Args:
        root: The root. The centres of its branches are set.
        simulations: Number of simulations, for the title.

    Returns:
        SVG text.
    """
    height = TOP + _place(root, TOP) + LEGEND
    width = LEFT * 2 + COLUMN * len(LEVELS) + BOX_WIDTH
    title = f"GO-MCTS, {simulations} simulations: the most visited imagined lines"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" role="img" aria-label="{title}">',
        f"<style>{STYLE}</style>",
        f'<rect width="{width}" height="{height:g}" rx="8" fill="#f6f8fa" stroke="#c8d1da"/>',
    ]
    for column, label in enumerate(LEVELS, 1):
        parts.append(f'<text class="head" x="{LEFT + column * COLUMN}" y="28">{label}</text>')
    legend = "upper number: simulations through the node; lower number: mean of their values"
    parts.append(f'<text class="head" x="{LEFT}" y="{height - 14:g}">{legend}</text>')
    parts += _shapes(root, 0, best=max(root.children, key=lambda branch: branch.value))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _place(branch: Branch, top: float) -> float:
    """Set the centre of a branch and of those behind it, and return the height that they take."""
    if not branch.children:
        branch.centre = top + BOX_HEIGHT / 2
        return BOX_HEIGHT + GAP
    used = 0.0
    for child in branch.children:
        used += _place(child, top + used)
    branch.centre = (branch.children[0].centre + branch.children[-1].centre) / 2
    return used


def _shapes(branch: Branch, level: int, best: Branch) -> list[str]:
    """Return the edges to the children of a branch, its box, and the shapes of its children."""
    x, y = LEFT + level * COLUMN, branch.centre
    parts: list[str] = []
    for child in branch.children:
        bend = x + (COLUMN + BOX_WIDTH) / 2
        thickness = 1 + 5 * child.runs / max(branch.runs, 1)
        path = f"M{x + BOX_WIDTH} {y:g}C{bend:g} {y:g} {bend:g} {child.centre:g} {x + COLUMN} {child.centre:g}"
        parts.append(f'<path class="edge" stroke-width="{thickness:.1f}" d="{path}"/>')
    style = "box best" if branch is best else "box"
    corner = f'x="{x}" y="{y - BOX_HEIGHT / 2:g}"'
    parts.append(f'<rect class="{style}" {corner} width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5"/>')
    if branch.token:
        rank, suit = branch.token[0].replace("T", "10"), branch.token[1]
        colour = "card red" if suit in "DH" else "card"
        parts.append(f'<text class="{colour}" x="{x + 8}" y="{y + 5:g}">{escape(rank + SUITS[suit])}</text>')
        parts.append(f'<text x="{x + 46}" y="{y - 2:g}">{branch.runs}</text>')
        parts.append(f'<text x="{x + 46}" y="{y + 12:g}">{branch.value:+.3f}</text>')
    else:
        parts.append(f'<text x="{x + 8}" y="{y - 2:g}">now:</text>')
        parts.append(f'<text x="{x + 8}" y="{y + 12:g}">5 legal cards</text>')
    for child in branch.children:
        parts += _shapes(child, level + 1, best)
    return parts


def main(arguments: Sequence[Any]) -> None:
    """Write the figure.

    Args:
        arguments: Words of the command line: the file, or nothing for docs/gomcts-tree.svg.
    """
    path = Path(arguments[0]) if arguments else OUT
    path.write_text(draw(*search_tree()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
