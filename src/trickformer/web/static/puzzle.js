// The page of puzzles: its socket, the puzzle that is shown, the answer, and the score.

import { isElsewhere, moveFocus } from "./arrows.js";
import { $, make } from "./dom.js";
import { cancelOptions, closeOptions } from "./gestures.js";
import { showLog } from "./log.js";
import { seatName, showTable } from "./table.js";

let socket;
let puzzle = null; // message of the puzzle that is shown
let isAnswered = false;

const send = (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));

function connect() {
  const address = new URL("puzzles", location.href);
  address.protocol = "ws:";
  socket = new WebSocket(address);
  socket.addEventListener("open", () => { $("away").hidden = true; });
  socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
  socket.addEventListener("close", () => {
    $("away").hidden = false;
    setTimeout(connect, 1000);
  });
}

function receive(message) {
  if (message.type === "working") {
    showWork(message);
    return;
  }
  $("working").hidden = true;
  $("fault").hidden = message.type !== "error";
  if (message.type === "error") {
    $("fault").textContent = message.text;
    return;
  }
  $("score").textContent = message.score;
  if (message.type === "puzzle") showPuzzle(message);
  else if (message.type === "solution") showSolution(message);
  else if (message.type === "end") showEnd(message);
}

function showWork(message) {
  $("working").hidden = false;
  const [words, bar] = $("working").children;
  words.textContent = message.total ? `Looking for a puzzle: ${message.done} of ${message.total} ${message.unit}` : "Looking for a puzzle …";
  bar.hidden = !message.total;
  if (message.total) Object.assign(bar, { max: message.total, value: message.done });
}

function showPuzzle(message) {
  [puzzle, isAnswered] = [{ ...message, label: `puzzle ${message.number}`, scores: null, told: "" }, false];
  $("answer").hidden = true;
  document.body.dataset.puzzle = message.number;
  delete document.body.dataset.answered;
  showTable(puzzle, ([action]) => solve(action));
  showLog(puzzle);
  const name = seatName(puzzle, puzzle.me);
  $("status").textContent = `Puzzle ${message.number} of at most ${message.most}. You are ${name.split(" · ")[0]}: ${puzzle.scene.ask ?? "choose"}.`;
}

function solve(action) {
  if (!isAnswered) send({ do: "solve", puzzle: puzzle.number, action });
}

// Returns whether a card or button stands for an action.
const standsFor = (element, action) => (element.dataset.actions ?? element.dataset.action).split(" ").includes(String(action));

function showSolution(message) {
  isAnswered = true;
  document.body.dataset.answered = message.number;
  closeOptions();
  for (const element of document.querySelectorAll("#felt .act")) {
    element.disabled = true;
    element.classList.remove("act");
    if (!element.dataset.action && !element.dataset.actions) continue;
    const isRight = message.solutions.some((action) => standsFor(element, action));
    const isChosen = standsFor(element, message.chosen);
    element.classList.toggle("good", isRight);
    element.classList.toggle("bad", isChosen && !isRight);
    const marks = [...(isRight ? ["best"] : []), ...(isChosen ? ["your choice"] : [])];
    if (marks.length) element.setAttribute("aria-label", [element.getAttribute("aria-label") ?? element.textContent, ...marks].join(", "));
  }
  const chosen = message.rows.find((row) => row.action === message.chosen);
  const next = make("button", { id: "proceed", class: "main", click: proceed }, "Next puzzle");
  $("status").replaceChildren(make("span", { id: "verdict" }, chosen.verdict), " ", next);
  next.focus({ preventScroll: true }); // Enter goes on
  const by = puzzle.judge === "solver" ? "with open cards" : `by ${puzzle.judge}`;
  $("judged").textContent = `Values ${by}, in ${puzzle.unit}.`;
  $("rated").replaceChildren(ratingTable(message));
  $("review").href = `review.html#${message.record}.${message.decision}`;
  $("answer").hidden = false;
}

const number = (x, sign = "") => (x === null ? "" : `${x >= 0 ? sign : "−"}${Math.abs(x).toFixed(2)}`);
const withError = (text, error) => (error === null ? text : `${text} ± ${error.toFixed(2)}`);

function ratingTable({ rows, solutions, played, chosen }) {
  const body = rows.map((row) => {
    const marks = [...(solutions.includes(row.action) ? ["best"] : []), ...(row.action === chosen ? ["your choice"] : []), ...(row.action === played ? ["played"] : [])];
    return make("tr", {}, make("th", { scope: "row" }, row.words), make("td", {}, withError(number(row.value, "+"), row.error)),
      make("td", {}, withError(number(row.loss), row.loss_error)), make("td", { class: "marks" }, marks.join(", ")));
  });
  const heads = ["action", "value", "costs", "mark"].map((head) => make("th", { scope: "col" }, head));
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
}

function proceed() {
  if (!isAnswered) return;
  isAnswered = false;
  send({ do: "proceed", puzzle: puzzle.number });
}

function showEnd(message) {
  document.body.dataset.puzzle = "end";
  if (!puzzle) $("felt").className = "n1";
  $("status").replaceChildren(message.none || `The end: ${message.score || "no puzzle answered."}`, " ",
    make("button", { id: "restart", class: "main", click: () => location.reload() }, "Begin again"));
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") cancelOptions();
  if (isElsewhere(event) || moveFocus(event)) return;
  if (event.key === "n") proceed();
});

$("cancel").addEventListener("click", () => send({ do: "cancel" }));
connect();
