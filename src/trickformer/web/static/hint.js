// Hints for the person's decision: one press marks the actions that deserve a thought, the next one names the best.

/** @import { Evaluation, EvaluationName, Hint, LookMessage, TableMessage } from "../types/messages" */

import { deckWords } from "./deck.js";
import { $, make } from "./dom.js";
import { formatValue, nameOf, shortUnit, withError } from "./format.js";
import { TITLES } from "./panels.js";
import { actionWords } from "./scene.js";
import { isMyTurn } from "./table.js";

/** @type {EvaluationName[]} */
const SOURCES = ["search", "pimc", "model"]; // sources of hints if the page evaluates by none, in order of preference
const BASES = {
  error: "within two standard errors of the best",
  visits: "visited most",
  policy: "most likely",
  value: "of the highest values",
};

let level = 0; // 0: no hint, 1: the candidates, 2: the best action
/** @type {EvaluationName | null} */
let source = null; // panel that gives the hint
/** @type {EvaluationName | null} */
let nextSource = null; // panel that gives the next hint; null if none can
/** @type {{ data: Evaluation } | { data?: undefined, fault: string } | null} */
let answer = null; // answer of the source; null while it is computed
/** @type {string | null} */
let decision = null; // decision that the hint is about
/** @type {TableMessage | null} */
let table = null;
/** @type {() => void} */
let showHint; // called after a change of the hint
/** @type {() => void} */
let request; // called after a change of hintSource()
/** @type {() => void} */
let stop; // ends the computation

/** @param {{ showHint: () => void, request: () => void, stop: () => void }} callbacks */
export function initHint(callbacks) {
  ({ showHint, request, stop } = callbacks);
  $("hint").addEventListener("click", pressHint);
}

// Names the panel that the hint needs, as a list.
export const hintSource = () => (level && source ? [source] : []);

/** @param {TableMessage} table */
const keyOf = ({ deal, ply, me, seats }) => JSON.stringify([deal, ply, me, seats]);

/**
 * Takes the table that the page shows. A hint ends with its decision.
 * @param {TableMessage} newTable
 * @param {EvaluationName[]} chosen the source that the page evaluates by, if there is one
 */
export function updateHint(newTable, chosen) {
  table = newTable;
  nextSource = chosen[0] ?? SOURCES.find((name) => newTable.panels.includes(name)) ?? null;
  const isMine = isMyTurn(table);
  if (level && (!isMine || keyOf(table) !== decision || (chosen.length && chosen[0] !== source))) endHint();
  $("hint").disabled = !isMine || !nextSource;
  $("hint").dataset.source = nextSource ?? "";
}

// Ends the hint, so that the next decision does not compute one unasked.
export function endHint() {
  if (!level) return;
  level = 0;
  answer = null;
  request();
  showHint();
}

// Names the panel that gives the next hint; null if none can.
export const nextHintSource = () => nextSource;

export function pressHint() {
  if (!table || !nextSource || $("hint").disabled || (level && !answer)) return;
  const hasHint = Boolean(answer?.data?.hint);
  if (level === 2 || (answer?.data && !hasHint)) {
    endHint();
    return;
  }
  level = hasHint ? 2 : 1; // after a fault the source is requested again
  if (level === 1) {
    source = nextSource;
    decision = keyOf(table);
    answer = null;
    request();
  }
  showHint();
}

/**
 * Takes a message about a panel.
 * @param {LookMessage} message
 */
export function receiveHint(message) {
  if (!level || !source || message.panel !== source || message.busy || message.ply !== table?.ply) return;
  if (answer && answer.data && message.data) return; // sent again because another panel was opened
  answer = message.data ? { data: message.data } : { fault: message.fault ?? "" };
  showHint();
}

/**
 * Returns the mark of a card or button that can begin the actions: "candidate", "best", or "" for none.
 * @param {number[]} actions
 */
export function hintMark(actions) {
  const hint = level && answer?.data?.hint;
  if (!hint) return "";
  if (level === 2 && actions.includes(hint.best)) return "best";
  return level === 1 && actions.some((action) => hint.candidates.includes(action)) ? "candidate" : "";
}

// Returns the hint in words, as elements of the status line.
export function hintElements() {
  if (!level || !table || !source) return [];
  if (!answer) return [` ${TITLES[source][0]} looks for advice. `, make("button", { click: stop }, "Stop")];
  if (!answer.data) return [` There is no advice: ${answer.fault}.`];
  const { data } = answer;
  if (!data.hint) return [` There is no advice: ${data.note}.`];
  const words = level === 1 ? candidateWords(table, data, data.hint) : bestWords(table, data, data.hint);
  return [" ", make("span", { id: "hinted" }, words)];
}

/**
 * Returns the words of an action as the table shows them.
 * @param {TableMessage} table
 * @param {Evaluation} data
 * @param {number} action
 */
const wordsOf = (table, data, action) => deckWords(actionWords(table.scene).get(action) ?? data.rows.find((row) => row.action === action)?.words ?? "");

/** @param {TableMessage} table @param {Evaluation} data @param {Hint} hint */
function candidateWords(table, data, { candidates, basis }) {
  const names = candidates.map((action) => wordsOf(table, data, action));
  if (!basis) return `Worth a thought: ${names.join(", ")} (the action of ${nameOf(data.spec)}, which compares no actions).`;
  return `Worth a thought: ${names.join(", ")} (${BASES[basis]} by ${nameOf(data.spec)}).`;
}

/** @param {TableMessage} table @param {Evaluation} data @param {Hint} hint */
function bestWords(table, data, { best, basis, rival, lead, error }) {
  const row = data.rows.find(({ action }) => action === best);
  const pick = table.scene.pick ?? 0;
  const together = pick > 1 ? `, the first of ${pick} cards` : "";
  const value = row?.value ?? null;
  const worth = value === null ? "" : `, ${formatValue(value)} ${shortUnit(data.unit)}`;
  const allVisits = data.rows.reduce((sum, other) => sum + (other.visits ?? 0), 0);
  const visits = basis === "visits" ? `, ${row?.visits ?? 0} of ${allVisits} visits` : "";
  const first = `Best by ${nameOf(data.spec)}: ${wordsOf(table, data, best)}${together}${worth}${visits}.`;
  if (rival === null || lead === null) return `${first} It compares the value with no other action.`;
  const size = withError(formatValue(Math.abs(lead)), error);
  return `${first} It ${lead < 0 ? "trails" : "leads"} ${wordsOf(table, data, rival)} by ${size}.`;
}
