// An evaluation in a panel: the numbers of each action, and the lines or the worlds of a search.

/** @import { Card, Evaluation, SampledWorld, SearchLine } from "../types/messages" */

import { textWithCards } from "./cards.js";
import { make } from "./dom.js";
import { formatShare, formatValue, nameOf } from "./format.js";
import { cell, heads, scrolled } from "./tables.js";

/** @type {{ key: "policy" | "value" | "visits", format: (value: number | null) => string }[]} */
const COLUMNS = [
  { key: "policy", format: formatShare },
  { key: "value", format: formatValue },
  { key: "visits", format: (n) => (n === null ? "" : String(n)) },
];

/** @param {number | null} value @param {number} most */
function bar(value, most) {
  const element = make("span", { class: "bar", "aria-hidden": "true" });
  element.style.width = `${Math.round(60 * Math.max(0, value ?? 0) / (most || 1))}px`;
  return element;
}

/**
 * The values of the actions as a table, the best first.
 * @param {Evaluation} data
 * @returns {Node[]}
 */
export function actions(data) {
  const words = [nameOf(data.spec), data.seconds === undefined ? "" : `${data.seconds.toFixed(2)} s`, data.note ?? "", data.unit ? `values in ${data.unit}` : ""].filter(Boolean).join(" · ");
  const note = textWithCards(words, data.cards);
  if (!data.rows.length) return [make("p", { class: "keys", title: data.spec }, ...note)];
  /** @param {"policy" | "value" | "visits"} key */
  const has = (key) => data.rows.some((row) => row[key] !== null);
  const columns = COLUMNS.filter(({ key }) => has(key));
  const most = Math.max(...data.rows.map((row) => row.visits ?? row.policy ?? 0));
  const rows = data.rows.map((row) => make("tr", { class: row.action === data.best ? "best" : null },
    make("th", { scope: "row" }, ...textWithCards(row.words, data.cards), row.action === data.best ? " ✓" : ""),
    ...columns.map(({ key, format }) => cell(format(row[key]))), make("td", {}, bar(row.visits ?? row.policy, most))));
  return [make("p", { class: "keys", title: data.spec }, ...note), make("table", {}, heads("action", ...columns.map(({ key }) => key), ""), make("tbody", {}, ...rows))];
}

/** @param {SearchLine[]} nodes @param {number} all @param {Card[]} cards @returns {HTMLUListElement} */
function lines(nodes, all, cards) {
  return make("ul", { class: "lines" }, ...nodes.map((node) => {
    const words = [make("b", {}, ...textWithCards(node.token, cards)), ` ${node.runs} of ${all} · ${formatValue(node.value)}`];
    if (!node.after.length) return make("li", {}, ...words);
    return make("li", {}, make("details", {}, make("summary", {}, ...words), lines(node.after, all, cards)));
  }));
}

/**
 * The result of a tree search, with its most visited lines.
 * @param {Evaluation} data
 */
export function search(data) {
  const elements = actions(data);
  if (data.lines) elements.push(make("h4", {}, "Most visited lines"), lines(data.lines, data.lines.reduce((sum, line) => sum + line.runs, 0), data.cards));
  return elements;
}

/** @param {number} value @param {number} low @param {number} high */
const tint = (value, low, high) => Math.round((100 * (value - low)) / (high - low || 1));

/**
 * The result of a search over worlds, with the values in each world.
 * @param {Evaluation} data
 */
export function pimc(data) {
  const elements = actions(data);
  if (!data.worlds) return elements;
  const allValues = data.worlds.flatMap((world) => world.values).filter((value) => value !== null);
  const [low, high] = [Math.min(...allValues), Math.max(...allValues)];
  /** @param {SampledWorld} world */
  const hands = (world) => world.cards.join("\n");
  const rows = data.worlds.map((world, i) => make("tr", {},
    make("th", { scope: "row", title: hands(world) }, String(i + 1)),
    ...world.values.map((value) => {
      const element = cell(formatValue(value), { class: "heat" });
      if (value !== null) element.style.setProperty("--heat", `${tint(value, low, high)}%`);
      return element;
    })));
  const table = make("table", { class: "matrix" }, heads("world", ...data.rows.map((row) => make("span", {}, ...textWithCards(row.words, data.cards)))), make("tbody", {}, ...rows));
  elements.push(make("h4", {}, "Value by world"), scrolled("Value by world", table));
  if (data.worlds[0].cards.length)
    elements.push(make("details", {}, make("summary", {}, "the worlds"),
      make("ol", { class: "hands" }, ...data.worlds.map((world) => make("li", {}, ...textWithCards(hands(world), data.cards))))));
  return elements;
}
