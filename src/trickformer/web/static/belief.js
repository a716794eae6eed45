// The panel Belief: where each hidden card or mine lies, as shares of sampled worlds.

/** @import { Belief } from "../types/messages" */

import { followDeck, rankName } from "./deck.js";
import { all, draw, make } from "./dom.js";
import { sign } from "./face.js";
import { formatShare } from "./format.js";
import { cell, heads, scrolled } from "./tables.js";

/**
 * Shows the shares of one place as a grid of suits by ranks; a darker cell is more likely. Cards that are seen are blank.
 * @param {Belief} data
 * @param {number[][]} shares by card and place
 * @param {number} place
 */
function shareGrid(data, shares, place) {
  const { rows, columns, cells } = data.grid;
  /** @type {Map<string, number>} */
  const at = new Map(cells.map(([row, column], i) => [`${row},${column}`, i]));
  const body = rows.map((row, r) => make("tr", {},
    make("th", { scope: "row" }, row.sign
      ? draw("svg", { viewBox: "0 0 20 20", role: "img", "aria-label": row.words }, sign(row.sign, 0, 0, 20)) : row.words),
    ...columns.map((_, c) => {
      const i = at.get(`${r},${c}`);
      if (i === undefined) return cell("", { class: "heat seen" });
      const share = shares[i][place];
      const element = cell(share ? `${Math.round(100 * share)}` : "·", { class: "heat", title: `${data.cards[i]}: ${formatShare(share)}` });
      element.style.setProperty("--heat", `${Math.round(100 * share)}%`);
      return element;
    })));
  const head = heads("", ...columns);
  all("th", head).forEach((element, i) => i && followDeck(element, () => { element.textContent = rankName(columns[i - 1]); }));
  return make("div", {}, make("h5", {}, data.places[place]), scrolled(`${data.places[place]}, percent`,
    make("table", { class: "matrix shares" }, head, make("tbody", {}, ...body))));
}

/** @param {Belief} data */
export function belief(data) {
  const kinds = Object.entries(data.kinds).map(([kind, shares]) => make("div", {}, make("h4", {}, kind),
    make("div", { class: "kinds" }, ...data.places.map((_, place) => shareGrid(data, shares, place)))));
  return [make("p", { class: "keys" }, `share of up to ${data.worlds} sampled worlds, in percent`), ...kinds];
}
