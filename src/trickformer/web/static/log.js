// The log of the hand, and the hand in words at its end.

/** @import { LogEntry } from "../types/messages" */
/** @import { ShownTable } from "../types/page" */

import { inlineCard } from "./cards.js";
import { textInDeck } from "./deck.js";
import { $, make } from "./dom.js";

/** @param {Pick<ShownTable, "you">} table @param {LogEntry} entry */
function logLine(table, entry) {
  const { seat, taker, words } = entry;
  if (taker !== undefined && taker !== null)
    return make("li", { class: "break" }, `${taker === table.you ? "you take it" : `seat ${taker} takes it`}${words ? `, ${words}` : ""}`);
  if (seat === undefined || seat === null) return make("li", { class: "break" }, words);
  const cards = (entry.cards ?? []).flatMap((card) => [" ", inlineCard(card)]);
  return make("li", {}, `${seat === table.you ? "you" : `seat ${seat}`}:`, ...(words ? [" ", textInDeck(words)] : []), ...cards);
}

/** @type {string[]} */
let shown = []; // keys of the lines that the log has

/**
 * Shows the log. Lines that it has already stay: a screen reader would read new ones, and a reader who has scrolled back
 * keeps the place.
 * @param {Pick<ShownTable, "you"> & { log: LogEntry[], told: string }} table
 */
export function showLog(table) {
  const log = $("log");
  const list = log.firstElementChild;
  if (!list) return;
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 8;
  const keys = table.log.map((entry) => JSON.stringify([table.you, entry]));
  const changed = keys.findIndex((key, i) => key !== shown[i]);
  const kept = changed < 0 ? keys.length : changed;
  while (list.children.length > kept) list.lastElementChild?.remove();
  list.append(...table.log.slice(kept).map((entry) => logLine(table, entry)));
  if (isAtEnd || !kept) log.scrollTop = log.scrollHeight;
  shown = keys;
  $("telling").hidden = !table.told;
  $("told").textContent = table.told;
}
