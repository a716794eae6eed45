// The evaluation of the person's decision by the chosen source, a panel, which the gauge and the badges show.

/** @import { EvaluationMessage, EvaluationName, LookMessage, PanelName, TableMessage } from "../types/messages" */

import { initBadges, showBadges } from "./badges.js";
import { $, make } from "./dom.js";
import { showGauge } from "./gauge.js";
import { onOffer } from "./gestures.js";
import { TITLES } from "./panels.js";
import { isMyTurn } from "./table.js";

const SOURCES = /** @type {const} */ (["model", "search", "pimc"]);

/** @param {string | null} text */
const readSource = (text) => SOURCES.find((name) => name === text) ?? "";

/** @type {EvaluationName | ""} */
let source = readSource(localStorage.getItem("source"));
/** @type {TableMessage | null} */
let table = null; // the table that is shown
/** @type {EvaluationMessage | null} */
let latest = null; // the source's last message
/** @type {{ deal: number, ply: number } | null} */
let shown = null; // the decision that the gauge shows

/** @param {PanelName[]} panels */
export const chosenSource = (panels) => (source && panels.includes(source) ? [source] : []);

/** @param {() => void} onChange */
export function initAnalysis(onChange) {
  $("source").addEventListener("change", () => {
    source = readSource($("source").value);
    localStorage.setItem("source", source);
    latest = null;
    redrawAnalysis();
    onChange();
  });
  initBadges(redrawAnalysis);
  onOffer(redrawAnalysis);
}

/** Draws the evaluation and its badges again, after a change of the hint or of the buttons. */
export const redrawAnalysis = () => table && showAnalysis(table);

/**
 * Shows the evaluation of the table's decision if it is known, and the last one while others are on turn.
 * @param {TableMessage} newTable
 */
export function showAnalysis(newTable) {
  table = newTable;
  showSources(table.panels);
  const isCurrent = latest !== null && latest.ply === table.ply && isMyTurn(table);
  if (isCurrent) shown = { deal: table.deal, ply: table.ply };
  const isEarlier = shown !== null && latest?.ply === shown.ply && shown.deal === table.deal && shown.ply <= table.ply;
  showGauge(table.scores || !(isCurrent || isEarlier) ? null : latest?.data ?? null, isCurrent);
  showBadges(isCurrent ? latest?.data ?? null : null, source !== "");
}

/**
 * Takes a message about a panel. An evaluation that is ahead of the table on the page waits for the table.
 * @param {LookMessage} message
 */
export function receiveEvaluation(message) {
  if (!source || message.panel !== source) return;
  if (message.busy && latest && latest.ply < message.ply) return; // it stays until the new one arrives
  latest = message.data ? message : null; // otherwise it may be of another deal, at the same ply
  redrawAnalysis();
}

/** @param {PanelName[]} panels */
function showSources(panels) {
  const names = SOURCES.filter((name) => panels.includes(name));
  if ($("source").dataset.panels === names.join()) return;
  $("source").dataset.panels = names.join();
  $("source").replaceChildren(make("option", { value: "" }, "nothing"), ...names.map((name) => make("option", { value: name }, TITLES[name][0])));
  $("source").value = source && names.includes(source) ? source : "";
  const form = $("source").closest("p");
  if (form) form.hidden = !names.length;
}
