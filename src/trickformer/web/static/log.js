// The log of the hand, and the hand in words at its end.

/** @import { LogEntry } from "../types/messages" */
/** @import { ShownTable } from "../types/page" */

import { inlineCard } from "./cards.js";
import { $, make } from "./dom.js";

/** @param {Pick<ShownTable, "me" | "open">} table @param {LogEntry} entry */
function logLine(table, entry) {
  if (entry.seat === undefined || entry.seat === null) return make("li", { class: "break" }, entry.words);
  const cards = (entry.cards ?? []).flatMap((card) => [" ", inlineCard(card)]);
  return make("li", {}, `${entry.seat === table.me && !table.open ? "you" : `seat ${entry.seat}`}:${entry.words ? ` ${entry.words}` : ""}`, ...cards);
}

/** @param {Pick<ShownTable, "me" | "open"> & { log: LogEntry[], told: string }} table */
export function showLog(table) {
  $("log").firstElementChild?.replaceChildren(...table.log.map((entry) => logLine(table, entry)));
  $("log").scrollTop = $("log").scrollHeight;
  $("telling").hidden = !table.told;
  $("told").textContent = table.told;
}
