// Warns before a large mistake: the panel that gives hints rates each decision, and the page asks before it plays.

/** @import { Evaluation, EvaluationMessage, EvaluationName, LookMessage, TableMessage } from "../types/messages" */
/** @import { Act } from "../types/page" */

import { $, make } from "./dom.js";
import { formatValue, handKey, shortUnit, withError } from "./format.js";
import { nextHintSource } from "./hint.js";

const ERRORS = 2; // standard errors that a loss must exceed

/** @type {TableMessage | null} */
let table = null; // the table that is shown
let received = ""; // hand of the latest table, which may not be shown yet
/** @type {EvaluationMessage | null} */
let rating = null; // last message of the panel; it may be ahead of the table that is shown
/** @type {number[] | null} */
let waiting = null; // actions of a decision that wait for the rating
/** @type {Act} */
let take; // takes the actions of a decision
/** @type {() => void} */
let request; // called after a change of warningSource()
/** @type {() => void} */
let showWaiting; // called after a change of warningElements()
/** @type {(done: () => void) => void} */
let ask; // opens the dialog; its argument is called if the person plays anyway

/** @param {TableMessage} table */
const keyOf = (table) => `${handKey(table)} ${table.ply}`;

/** @param {{ take: Act, request: () => void, showWaiting: () => void, ask: (done: () => void) => void }} callbacks */
export function initWarning(callbacks) {
  ({ take, request, showWaiting, ask } = callbacks);
  for (const input of [$("warns"), $("warns-at")]) input.addEventListener("change", () => {
    if (!$("warns").checked) playWaiting();
    request();
  });
}

/**
 * Names the panel that rates the decisions, as a list: the one that gives hints.
 * @returns {EvaluationName[]}
 */
export function warningSource() {
  const source = $("warns").checked ? nextHintSource() : null;
  return source ? [source] : [];
}

/**
 * Takes a table that the server has sent, and forgets the rating of another deal. After an undo the server does not send
 * the rating of the decision again.
 * @param {TableMessage} table
 */
export function forgetRating(table) {
  const key = handKey(table);
  if (key !== received) rating = null;
  received = key;
}

/**
 * Takes the table that the page shows. A waiting decision ends with the table that it was made at.
 * @param {TableMessage} newTable
 */
export function updateWarning(newTable) {
  if (!table) {
    const { is_on: isOn, limit, unit } = newTable.warning;
    $("warns").checked = isOn;
    $("warns-at").value = String(Number(limit.toPrecision(3)));
    $("warns-unit").textContent = shortUnit(unit);
    const line = $("warns").closest("p");
    if (line) line.hidden = !nextHintSource() || newTable.open;
  }
  if (table && keyOf(table) !== keyOf(newTable)) {
    waiting = null;
    if ($("warning").open) $("warning").close("");
  }
  table = newTable;
}

/**
 * Takes a message about a panel.
 * @param {LookMessage} message
 */
export function receiveWarning(message) {
  if (message.panel !== nextHintSource()) return;
  rating = message.busy ? null : message; // another history may have as many actions
  judgeWaiting();
}

/**
 * Takes the actions of a decision, and asks before if they cost too much. Waits for the rating.
 * @param {number[]} actions
 */
export function checkAction(actions) {
  waiting = actions;
  if (!warningSource().length) {
    playWaiting();
    return;
  }
  if (rating?.fault) { // request the panel again
    rating = null;
    request();
  }
  if (!judgeWaiting()) showWaiting();
}

// Returns whether the rating is about the decision that the page shows, by the panel that is chosen now.
const isCurrent = () => rating !== null && rating.ply === table?.ply && rating.panel === warningSource()[0];

function playWaiting() {
  if (!waiting) return;
  const actions = waiting;
  waiting = null;
  take(actions);
}

/**
 * Returns the loss of the chosen action that costs most, of the actions that are rated, and its error; null without one.
 * @param {Evaluation} data
 * @param {number[]} actions
 */
function largestLoss(data, actions) {
  /** @type {{ loss: number, error: number | null } | null} */
  let largest = null;
  for (const { action, loss, loss_error: error } of data.rows)
    if (actions.includes(action) && loss !== null && (!largest || loss > largest.loss)) largest = { loss, error };
  return largest;
}

// Judges the decision that waits for its rating. Returns whether there is one and its rating is known.
function judgeWaiting() {
  if (!waiting || !rating || !isCurrent()) return false;
  if (!rating.data) {
    showWaiting();
    return true;
  }
  const largest = largestLoss(rating.data, waiting);
  const isLarge = largest && largest.loss >= Number($("warns-at").value) && largest.loss > 0 && largest.loss > ERRORS * (largest.error ?? 0);
  if (!isLarge) {
    playWaiting();
    return true;
  }
  const cost = withError(formatValue(largest.loss), largest.error);
  $("warning-words").textContent = `This costs about ${cost} ${shortUnit(rating.data.unit)}. Play it anyway?`;
  const actions = waiting;
  waiting = null;
  showWaiting();
  ask(() => take(actions));
  return true;
}

// Returns what the status line says while a decision waits for its rating.
export function warningElements() {
  if (!waiting) return [];
  const words = isCurrent() && rating?.fault ? ` Your choice cannot be rated: ${rating.fault}. ` : " Your choice is rated first. ";
  return [make("span", { id: "rating" }, words), make("button", { id: "unrated", click: playWaiting }, "Play it now")];
}
