// Hints for the person's decision: one press marks the actions that deserve a thought, the next one names the best.

import { $, make } from "./dom.js";
import { shortUnit } from "./moves.js";
import { TITLES, formatValue } from "./panels.js";
import { actionWords, isMyTurn, nameOf } from "./table.js";

const SOURCES = ["search", "pimc", "model"]; // sources of hints if the page evaluates by none, in order of preference
const BASES = {
  error: "within two standard errors of the best",
  visits: "visited most",
  policy: "most likely",
  value: "of the highest values",
};

let level = 0; // 0: no hint, 1: the candidates, 2: the best action
let source = null; // panel that gives the hint
let answer = null; // { data } or { fault } of the source; null while it is computed
let decision = null; // decision that the hint is about
let table = null;
let showHint; // called after a change of the hint
let request; // called after a change of hintSource()
let stop; // ends the computation

export function initHint(callbacks) {
  ({ showHint, request, stop } = callbacks);
  $("hint").addEventListener("click", pressHint);
}

// Names the panel that the hint needs, as a list.
export const hintSource = () => (level ? [source] : []);

const keyOf = ({ deal, ply, me, seats }) => JSON.stringify([deal, ply, me, seats]);
const sourceOf = (chosen) => chosen[0] ?? SOURCES.find((name) => table.panels.includes(name));

// Takes the table that the page shows. A hint ends with its decision. `chosen` lists the source that the page evaluates by.
export function updateHint(newTable, chosen) {
  table = newTable;
  const isMine = isMyTurn(table);
  if (level && (!isMine || keyOf(table) !== decision || (chosen.length && chosen[0] !== source))) endHint();
  $("hint").disabled = !isMine || !sourceOf(chosen);
  $("hint").dataset.source = sourceOf(chosen) ?? "";
}

// Ends the hint, so that the next decision does not compute one unasked.
export function endHint() {
  if (!level) return;
  level = 0;
  answer = null;
  request();
  showHint();
}

export function pressHint() {
  if ($("hint").disabled || (level && !answer)) return;
  const hasHint = Boolean(answer?.data?.hint);
  if (level === 2 || (answer?.data && !hasHint)) {
    endHint();
    return;
  }
  level = hasHint ? 2 : 1; // after a fault the source is requested again
  if (level === 1) {
    source = $("hint").dataset.source;
    decision = keyOf(table);
    answer = null;
    request();
  }
  showHint();
}

// Takes a message about a panel.
export function receiveHint(message) {
  if (!level || message.panel !== source || message.busy || message.ply !== table.ply) return;
  if (answer && answer.data && message.data) return; // sent again because another panel was opened
  answer = message.data ? { data: message.data } : { fault: message.fault };
  showHint();
}

// Returns the mark of a card or button that can begin the actions: "candidate", "best", or "" for none.
export function hintMark(actions) {
  const hint = level && answer?.data?.hint;
  if (!hint) return "";
  if (level === 2 && actions.includes(hint.best)) return "best";
  return level === 1 && actions.some((action) => hint.candidates.includes(action)) ? "candidate" : "";
}

// Returns the hint in words, as elements of the status line.
export function hintElements() {
  if (!level) return [];
  if (!answer) return [` ${TITLES[source][0]} looks for a hint. `, make("button", { click: stop }, "Stop")];
  if (answer.fault) return [` There is no hint: ${answer.fault}.`];
  const { data } = answer;
  if (!data.hint) return [` There is no hint: ${data.note}.`];
  return [" ", make("span", { id: "hinted" }, level === 1 ? candidateWords(data) : bestWords(data))];
}

// Returns the words of an action as the table shows them.
const wordsOf = (data, action) => actionWords(table.scene).get(action) ?? data.rows.find((row) => row.action === action).words;

function candidateWords(data) {
  const { candidates, basis } = data.hint;
  const names = candidates.map((action) => wordsOf(data, action));
  if (!basis) return `Worth a thought: ${names.join(", ")} (the action of ${nameOf(data.spec)}, which compares no actions).`;
  return `Worth a thought: ${names.join(", ")} (${BASES[basis]} by ${nameOf(data.spec)}).`;
}

function bestWords(data) {
  const { best, rival, lead, error } = data.hint;
  const row = data.rows.find(({ action }) => action === best);
  const together = table.scene.pick > 1 ? `, the first of ${table.scene.pick} cards` : "";
  const worth = row.value === null ? "" : `, ${formatValue(row.value)} ${shortUnit(data.unit)}`;
  const allVisits = data.rows.reduce((sum, other) => sum + (other.visits ?? 0), 0);
  const visits = data.hint.basis === "visits" ? `, ${row.visits} of ${allVisits} visits` : "";
  const first = `Best by ${nameOf(data.spec)}: ${wordsOf(data, best)}${together}${worth}${visits}.`;
  if (rival === null) return `${first} It compares the value with no other action.`;
  const size = `${formatValue(Math.abs(lead))}${error === null ? "" : ` ± ${formatValue(error)}`}`;
  return `${first} It ${lead < 0 ? "trails" : "leads"} ${wordsOf(data, rival)} by ${size}.`;
}
