// The log of the hand, and the hand in words at its end.

/** @import { LogEntry } from "../types/messages" */
/** @import { ShownTable } from "../types/page" */

import { inlineCard } from "./cards.js";
import { $, make } from "./dom.js";

/** @param {Pick<ShownTable, "you">} table @param {LogEntry} entry */
function logLine(table, entry) {
  const { seat, taker, words } = entry;
  if (taker !== undefined && taker !== null)
    return make("li", { class: "break" }, `${taker === table.you ? "you take it" : `seat ${taker} takes it`}${words ? `, ${words}` : ""}`);
  if (seat === undefined || seat === null) return make("li", { class: "break" }, words);
  const cards = (entry.cards ?? []).flatMap((card) => [" ", inlineCard(card)]);
  return make("li", {}, `${seat === table.you ? "you" : `seat ${seat}`}:${words ? ` ${words}` : ""}`, ...cards);
}

/** @param {Pick<ShownTable, "you"> & { log: LogEntry[], told: string }} table */
export function showLog(table) {
  $("log").firstElementChild?.replaceChildren(...table.log.map((entry) => logLine(table, entry)));
  $("log").scrollTop = $("log").scrollHeight;
  $("telling").hidden = !table.told;
  $("told").textContent = table.told;
}
