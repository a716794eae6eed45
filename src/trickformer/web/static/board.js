// The board of a scene: a grid of cells, of which some can be clicked.

/** @import { Cell } from "../types/messages" */
/** @import { Act } from "../types/page" */

import { make } from "./dom.js";
import { isLegal } from "./scene.js";

/**
 * @param {Cell[][]} board
 * @param {Act} act
 */
export function boardElement(board, act) {
  const grid = make("div", { class: "grid", role: "group", "aria-label": "Board" });
  const columns = board[0].length;
  const widest = `max(2.2rem, min(5.5rem, ${Math.floor(60 / board.length)}svh))`; // all rows fit on the screen, unless cells would be too small to click
  grid.style.gridTemplateColumns = `repeat(${columns}, minmax(${columns > 16 ? 1.6 : 2.2}rem, ${widest}))`;
  for (const row of board)
    for (const cell of row)
      grid.append(isLegal(cell)
        ? make("button", { class: "cell act", "aria-label": cell.words, "data-action": cell.action, click: () => act([cell.action]) }, cell.text)
        : make("span", { class: `cell ${cell.kind ?? "closed"}`, role: "img", "aria-label": cell.words }, cell.text));
  return grid;
}
