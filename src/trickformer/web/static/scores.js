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

/**
 * Tests whether a seat has reached the score at which a match ends. Further deals may still be played.
 * @param {TableMessage} table
 */
export const isMatchOver = ({ plays_to, scores, totals }) => Boolean(plays_to && scores && Math.max(...totals) >= plays_to);

/**
 * The seats of a match from the best total to the worst; seats with equal totals share a rank.
 * @param {TableMessage} table
 */
function ranking({ totals, best }) {
  const sign = best === "most" ? -1 : 1;
  return totals.map((total, seat) => ({ seat, total, rank: 1 + totals.filter((other) => sign * (other - total) < 0).length }))
    .sort((a, b) => a.rank - b.rank);
}

/**
 * Names the winner of a match that is over.
 * @param {TableMessage} table
 */
export function winnerWords(table) {
  const winners = ranking(table).filter(({ rank }) => rank === 1);
  const names = winners.map(({ seat }, i) => (seat === table.you ? (i ? "you" : "You") : `${i ? "seat" : "Seat"} ${seat}`));
  const verb = winners.length === 1 && winners[0].seat !== table.you ? "wins" : "win";
  return `The match is over. ${names.join(" and ")} ${verb} with ${winners[0].total} points.`;
}

/** @param {TableMessage} table */
function rankingElements(table) {
  if (!isMatchOver(table)) return [];
  return [make("h3", {}, "Final ranking"), make("ol", { id: "ranking" }, ...ranking(table).map(({ seat, total, rank }) =>
    make("li", { value: rank }, `${seatName(table, seat)}: ${total} points`)))];
}

/** @param {TableMessage} table */
export function showScores(table) {
  const alone = table.open ? "score" : "you";
  const names = table.shared ? [table.seats.length === 1 ? alone : "team"] : table.order.map((seat) => seatName(table, seat));
  /** @param {string} name @param {number[]} scores */
  const row = (name, scores) => make("tr", {}, make("th", { scope: "row" }, name),
    ...(table.shared ? scores.slice(0, 1) : table.order.map((seat) => scores[seat])).map((score) => make("td", {}, String(score))));
  const body = [...table.hands.map(([deal, scores]) => row(String(deal), scores)), row("all", table.totals)];
  $("scores").lastElementChild?.replaceChildren(
    make("p", { class: "keys" }, describeGoal(table)), ...rankingElements(table),
    make("table", {}, heads("deal", ...names), make("tbody", {}, ...body)));
}
