// Shows the scores of the match and the log of the hand.

import { $, draw, make } from "./dom.js";
import { sign } from "./face.js";
import { seatName } from "./table.js";

function describeGoal(table) {
  const better = table.best === "most" ? "more is better" : "less is better";
  if (table.seats.length === 1) return `Your score; ${better}.`;
  if (table.shared) return `All seats are one team with one score; ${better}.`;
  return `The seat with the ${table.best} points wins${table.plays_to ? `. A match ends at ${table.plays_to}` : ""}.`;
}

export function showScores(table) {
  const names = table.shared ? [table.seats.length === 1 ? "you" : "team"] : table.seats.map((_, seat) => seatName(table, seat));
  const row = (name, scores) => make("tr", {}, make("th", { scope: "row" }, name),
    ...(table.shared ? scores.slice(0, 1) : scores).map((score) => make("td", {}, String(score))));
  const head = make("tr", {}, make("th", { scope: "col" }, "deal"), ...names.map((name) => make("th", { scope: "col" }, name)));
  const body = [...table.hands.map(([deal, scores]) => row(String(deal), scores)), row("all", table.totals)];
  $("scores").lastElementChild.replaceChildren(
    make("p", { class: "keys" }, describeGoal(table)),
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}

// Shows a card in a line of text: its rank and its sign, with its words for screen readers.
export function inlineCard(card) {
  if (!card.rank) return make("span", { class: "inline" }, card.words ?? card.name);
  const picture = draw("svg", { viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" }, sign(card.sign, 0, 0, 20));
  return make("span", { class: `inline ${card.sign}`, title: card.words },
    make("span", { "aria-hidden": "true" }, card.rank), picture, make("span", { class: "unseen" }, card.words));
}

function logLine(table, entry) {
  if (entry.seat === undefined || entry.seat === null) return make("li", { class: "break" }, entry.words);
  const cards = (entry.cards ?? []).flatMap((card) => [" ", inlineCard(card)]);
  return make("li", {}, `${entry.seat === table.me && !table.open ? "you" : `seat ${entry.seat}`}:${entry.words ? ` ${entry.words}` : ""}`, ...cards);
}

export function showLog(table) {
  $("log").firstElementChild.replaceChildren(...table.log.map((entry) => logLine(table, entry)));
  $("log").scrollTop = $("log").scrollHeight;
  $("telling").hidden = !table.told;
  $("told").textContent = table.told;
}
