// Warns before a large mistake: the panel that gives hints rates each decision, and the page asks before it plays.

import { $, make } from "./dom.js";
import { shortUnit } from "./moves.js";
import { formatValue } from "./panels.js";

const ERRORS = 2; // standard errors that a loss must exceed

let table = null; // the table that is shown
let received = ""; // deal and seats of the latest table, which may not be shown yet
let rating = null; // last message of the panel; it may be ahead of the table that is shown
let waiting = null; // actions of a decision that wait for the rating
let take; // takes the actions of a decision
let request; // called after a change of warningSource()
let showWaiting; // called after a change of warningElements()
let ask; // opens the dialog; its argument is called if the person plays anyway

const keyOf = ({ deal, ply, seats }) => JSON.stringify([deal, ply, seats]);

export function initWarning(callbacks) {
  ({ take, request, showWaiting, ask } = callbacks);
  for (const id of ["warns", "warns-at"]) $(id).addEventListener("change", () => {
    if (!$("warns").checked) playWaiting();
    request();
  });
}

// Names the panel that rates the decisions, as a list: the one that gives hints.
export const warningSource = () => ($("warns").checked && $("hint").dataset.source ? [$("hint").dataset.source] : []);

// Takes a table that the server has sent, and forgets the rating of another deal. After an undo the server does not send
// the rating of the decision again.
export function forgetRating({ deal, seats }) {
  const key = JSON.stringify([deal, seats]);
  if (key !== received) rating = null;
  received = key;
}

// Takes the table that the page shows. A waiting decision ends with the table that it was made at.
export function updateWarning(newTable) {
  if (!table) {
    const { is_on: isOn, limit, unit } = newTable.warning;
    $("warns").checked = isOn;
    $("warns-at").value = Number(limit.toPrecision(3));
    $("warns-unit").textContent = shortUnit(unit);
    $("warns").closest("p").hidden = !$("hint").dataset.source || newTable.open;
  }
  if (table && keyOf(table) !== keyOf(newTable)) {
    waiting = null;
    if ($("warning").open) $("warning").close("");
  }
  table = newTable;
}

// Takes a message about a panel.
export function receiveWarning(message) {
  if (message.panel !== $("hint").dataset.source) return;
  rating = message.busy ? null : message; // another history may have as many actions
  if (waiting && isCurrent()) judge();
}

// Takes the actions of a decision, and asks before if they cost too much. Waits for the rating.
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
  if (isCurrent()) judge();
  else showWaiting();
}

// Returns whether the rating is about the decision that the page shows, by the panel that is chosen now.
const isCurrent = () => rating?.ply === table.ply && rating.panel === warningSource()[0];

function playWaiting() {
  if (!waiting) return;
  const actions = waiting;
  waiting = null;
  take(actions);
}

// Returns the row of the chosen action that costs most, of the actions that are rated.
function worstRow(data) {
  const rows = (data?.rows ?? []).filter((row) => waiting.includes(row.action) && row.loss !== null);
  return rows.reduce((a, b) => (a && a.loss >= b.loss ? a : b), null);
}

function judge() {
  if (rating.fault) {
    showWaiting();
    return;
  }
  const row = worstRow(rating.data);
  const isLarge = row && row.loss >= Number($("warns-at").value) && row.loss > 0 && row.loss > ERRORS * (row.loss_error ?? 0);
  if (!isLarge) {
    playWaiting();
    return;
  }
  const error = row.loss_error === null ? "" : ` ± ${formatValue(row.loss_error)}`;
  $("warning-words").textContent = `This costs about ${formatValue(row.loss)}${error} ${shortUnit(rating.data.unit)}. Play it anyway?`;
  const actions = waiting;
  waiting = null;
  showWaiting();
  ask(() => take(actions));
}

// Returns what the status line says while a decision waits for its rating.
export function warningElements() {
  if (!waiting) return [];
  const words = isCurrent() && rating.fault ? ` Your choice cannot be rated: ${rating.fault}. ` : " Your choice is rated first. ";
  return [make("span", { id: "rating" }, words), make("button", { id: "unrated", click: playWaiting }, "Play it now")];
}
