// The page of puzzles: its socket, the puzzle that is shown, the answer, and the score.

/** @import { Card, PuzzleMessage, PuzzlePageMessage, SolutionMessage, WorkingMessage, PuzzleEndMessage } from "../types/messages" */
/** @import { ShownTable } from "../types/page" */

import { initAppearance } from "./appearance.js";
import { isElsewhere, moveFocus } from "./arrows.js";
import { textWithCards } from "./cards.js";
import { $, all, make, showFault } from "./dom.js";
import { initDrag } from "./drag.js";
import { initFocus, rememberFocus, restoreFocus } from "./focus.js";
import { withError } from "./format.js";
import { cancelOptions, closeOptions } from "./gestures.js";
import { initGuard, notePosition } from "./guard.js";
import { showLog } from "./log.js";
import { cardsIn } from "./scene.js";
import { connect, send } from "./socket.js";
import { seatName, showTable } from "./table.js";
import { heads } from "./tables.js";

/** @type {PuzzleMessage | null} */
let puzzle = null; // message of the puzzle that is shown
let isAnswered = false;

/** @param {PuzzlePageMessage} message */
function receive(message) {
  if (message.type === "working") {
    showWork(message);
    return;
  }
  $("working").hidden = true;
  $("fault").hidden = message.type !== "error";
  if (message.type === "error") {
    showFault(message.text);
    return;
  }
  $("score").textContent = message.score;
  if (message.type === "puzzle") showPuzzle(message);
  else if (message.type === "solution") showSolution(message);
  else if (message.type === "end") showEnd(message);
}

/** @param {WorkingMessage} message */
function showWork(message) {
  $("working").hidden = false;
  const [words, bar] = all("span, progress", $("working"));
  words.textContent = message.total ? `Looking for a puzzle: ${message.done} of ${message.total} ${message.unit}` : "Looking for a puzzle …";
  bar.hidden = !message.total;
  if (message.total) Object.assign(bar, { max: message.total, value: message.done });
}

/** @param {PuzzleMessage} message */
function showPuzzle(message) {
  [puzzle, isAnswered] = [message, false];
  rememberFocus();
  notePosition(`puzzle ${message.number}`);
  /** @type {ShownTable} */
  const table = { ...message, you: message.me, label: `puzzle ${message.number}`, scores: null, deal: null };
  $("answer").hidden = true;
  document.body.dataset.puzzle = String(message.number);
  delete document.body.dataset.answered;
  showTable(table, ([action]) => solve(action));
  showLog({ ...table, log: message.log, told: "" });
  const name = seatName(table, table.me);
  $("status").textContent = `Puzzle ${message.number} of at most ${message.most}. You are ${name.split(" · ")[0]}: ${table.scene.ask ?? "choose"}.`;
  restoreFocus(true);
}

/** @param {number} action */
function solve(action) {
  if (puzzle && !isAnswered) send({ do: "solve", puzzle: puzzle.number, action });
}

/**
 * Returns whether a card or button stands for an action.
 * @param {HTMLElement} element
 * @param {number} action
 */
const standsFor = (element, action) => (element.dataset.actions ?? element.dataset.action ?? "").split(" ").includes(String(action));

/** @param {SolutionMessage} message */
function showSolution(message) {
  if (!puzzle) return;
  isAnswered = true;
  notePosition(`answer ${message.number}`);
  document.body.dataset.answered = String(message.number);
  closeOptions();
  for (const element of all("#felt .act")) {
    if (element instanceof HTMLButtonElement) element.disabled = true;
    element.classList.remove("act");
    if (!element.dataset.action && !element.dataset.actions) continue;
    const isRight = message.solutions.some((action) => standsFor(element, action));
    const isChosen = standsFor(element, message.chosen);
    element.classList.toggle("good", isRight);
    element.classList.toggle("bad", isChosen && !isRight);
    const marks = [...(isRight ? ["best"] : []), ...(isChosen ? ["your choice"] : [])];
    if (marks.length) element.setAttribute("aria-label", [element.getAttribute("aria-label") ?? element.textContent, ...marks].join(", "));
  }
  const cards = cardsIn([puzzle.scene]);
  const chosen = message.rows.find((row) => row.action === message.chosen);
  const next = make("button", { id: "proceed", class: "main", click: proceed }, "Next puzzle");
  $("status").replaceChildren(make("span", { id: "verdict" }, ...textWithCards(chosen?.verdict ?? "", cards)), " ", next);
  next.focus({ preventScroll: true }); // Enter goes on
  const by = puzzle.judge === "solver" ? "with open cards" : `by ${puzzle.judge}`;
  $("judged").textContent = `Values ${by}, in ${puzzle.unit}.`;
  $("rated").replaceChildren(ratingTable(message, cards));
  $("review-hand").href = `review.html#${message.record}.${message.decision}`;
  $("answer").hidden = false;
}

/** @param {number | null} x */
const number = (x, sign = "") => (x === null ? "" : `${x >= 0 ? sign : "−"}${Math.abs(x).toFixed(2)}`);
/** @param {number} error */
const errorDigits = (error) => error.toFixed(2);

/** @param {SolutionMessage} solution @param {Card[]} cards */
function ratingTable({ rows, solutions, played, chosen }, cards) {
  const body = rows.map((row) => {
    const marks = [...(solutions.includes(row.action) ? ["best"] : []), ...(row.action === chosen ? ["your choice"] : []), ...(row.action === played ? ["played"] : [])];
    return make("tr", {}, make("th", { scope: "row" }, ...textWithCards(row.words, cards)), make("td", {}, withError(number(row.value, "+"), row.error, errorDigits)),
      make("td", {}, withError(number(row.loss), row.loss_error, errorDigits)), make("td", { class: "marks" }, marks.join(", ")));
  });
  return make("table", {}, heads("action", "value", "costs", "mark"), make("tbody", {}, ...body));
}

function proceed() {
  if (!puzzle || !isAnswered) return;
  isAnswered = false; // a second press before the next puzzle arrives does nothing
  send({ do: "proceed", puzzle: puzzle.number });
}

/** @param {PuzzleEndMessage} message */
function showEnd(message) {
  document.body.dataset.puzzle = "end";
  if (!puzzle) $("felt").className = "n1"; // the layout for one seat, which has no columns at its sides
  $("status").replaceChildren(message.none || `The end: ${message.score || "no puzzle answered."}`, " ",
    make("button", { id: "restart", class: "main", click: () => location.reload() }, "Begin again"));
}

initGuard();
initFocus();
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") cancelOptions();
  if (isElsewhere(event) || moveFocus(event)) return;
  if (event.key === "n") proceed();
});

$("cancel").addEventListener("click", () => send({ do: "cancel" }));
initDrag();
initAppearance();
connect("puzzles", {
  opened: () => { $("felt").inert = false; },
  received: receive,
  closed: () => { $("felt").inert = true; },
});
