// The scores of the match: one row for each hand, and the totals.

/** @import { TableMessage } from "../types/messages" */

import { $, make } from "./dom.js";
import { seatName } from "./table.js";
import { heads } from "./tables.js";

/** @param {TableMessage} table */
function describeGoal(table) {
  const better = table.best === "most" ? "more is better" : "less is better";
  if (table.seats.length === 1) return `${table.open ? "The" : "Your"} score; ${better}.`;
  if (table.shared) return `All seats are one team with one score; ${better}.`;
  return `The seat with the ${table.best} points wins${table.plays_to ? `. A match ends at ${table.plays_to}` : ""}.`;
}

/** @param {TableMessage} table */
export function showScores(table) {
  const alone = table.open ? "score" : "you";
  const names = table.shared ? [table.seats.length === 1 ? alone : "team"] : table.seats.map((_, seat) => seatName(table, seat));
  /** @param {string} name @param {number[]} scores */
  const row = (name, scores) => make("tr", {}, make("th", { scope: "row" }, name),
    ...(table.shared ? scores.slice(0, 1) : scores).map((score) => make("td", {}, String(score))));
  const body = [...table.hands.map(([deal, scores]) => row(String(deal), scores)), row("all", table.totals)];
  $("scores").lastElementChild?.replaceChildren(
    make("p", { class: "keys" }, describeGoal(table)),
    make("table", {}, heads("deal", ...names), make("tbody", {}, ...body)));
}
