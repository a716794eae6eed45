// The result of a what-if: games that replay the rest of a hand from one position.

/** @import { WhatIfMessage } from "../types/messages" */

import { $, make } from "./dom.js";
import { nameOf } from "./format.js";
import { heads } from "./tables.js";

/**
 * @param {WhatIfMessage} result
 * @param {{ at: number, first: string } | null} request the last request, with the first action in words
 */
export function showWhatIf(result, request) {
  const titles = ["seat", "player", "mean", "95% interval", ...(result.came ? ["as played"] : [])];
  const rows = result.players.map((spec, seat) => make("tr", {}, make("th", { scope: "row" }, String(seat)),
    make("td", { title: spec }, nameOf(spec)), make("td", {}, result.means[seat].toFixed(2)),
    make("td", {}, formatInterval(result.ci95[seat])),
    ...(result.came ? [make("td", {}, String(result.came[seat]))] : [])));
  $("tried").replaceChildren(
    make("h3", {}, `From decision ${request?.at ?? result.number}, ${result.games} games. ${request?.first ?? ""}`),
    make("table", {}, heads(...titles), make("tbody", {}, ...rows)),
    make("p", { class: "keys" }, `Means in ${result.unit}.`));
}

/** @param {[low: number, high: number] | null} ends */
const formatInterval = (ends) => (ends ? `[${ends.map((value) => value.toFixed(2)).join(", ")}]` : "");
