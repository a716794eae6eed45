// The page that reviews hands: the list of hands, the steps through a hand, and the requests to the server.

/** @import { HandMessage, ListMessage, Position, ReviewMessage, ReviewPageMessage, WorkingMessage } from "../types/messages" */
/** @import { ShownTable } from "../types/page" */

import { initAppearance } from "./appearance.js";
import { textWithCards } from "./cards.js";
import { dealtElements } from "./dealt.js";
import { $, all, isPageKey, make, showFault } from "./dom.js";
import { shortNames, shortUnit } from "./format.js";
import { closeOptions } from "./gestures.js";
import { endRequest, initHands, isRefreshing, requestHands, showHands } from "./hands.js";
import { showMoves } from "./moves.js";
import { showCurves, showReview } from "./rating.js";
import { showRun } from "./run.js";
import { actionWords, cardsIn } from "./scene.js";
import { connect, send } from "./socket.js";
import { seatName, showTable } from "./table.js";
import { showWhatIf } from "./what-if.js";

/** @type {HandMessage | null} */
let hand = null; // message of the hand that is shown; null if the list is shown
let at = 1; // the hand is shown before this decision; one more than the last decision stands for the end
/** @type {ReviewMessage | null} */
let review = null; // message with the review of the hand
/** @type {number | null} */
let firstAction = null; // first action of a what-if; null lets the player decide
/** @type {{ at: number, first: string } | null} */
let lastRequest = null; // position and first action of the last what-if that was requested

// The address may name a match of a training, or the seat that a person had in the hand.
const query = new URLSearchParams(location.search);
const match = query.get("match");
const seatInAddress = Number.parseInt(query.get("seat") ?? "", 10);
// The address holds the number of a hand after #, and after a point that of a decision: #7 or #7.12.
const numberInAddress = () => Number.parseInt(location.hash.slice(1), 10) || null;
const decisionInAddress = () => Number.parseInt(location.hash.split(".")[1], 10) || 1;

// Requests the hand whose number the address holds, or the list if there is none.
function requestHand() {
  const number = numberInAddress();
  if (number === null) requestHands();
  else if (hand?.number !== number) send({ do: "open", number });
  else jump(decisionInAddress());
}

/** @param {ReviewPageMessage} message */
function receive(message) {
  if (message.type !== "working") $("fault").hidden = true;
  if (message.type === "list") {
    if (numberInAddress() === null) showShelf(message);
  } else if (message.type === "run") {
    showRun(message);
  } else if (message.type === "hand") {
    if (message.number === numberInAddress()) openHand(message);
  } else if (message.type === "review") {
    if (!hand || message.number !== hand.number) return;
    review = message;
    showReview(review, cardsIn(hand.positions.map(({ scene }) => scene)), jump);
    showMoves(hand, review, jump);
    show();
  } else if (message.type === "what-if") {
    if (message.hand === hand?.number) showWhatIf(message, lastRequest);
  } else if (message.type === "working") {
    showWork(message);
  } else if (message.type === "error") {
    endRequest();
    showFault(message.text);
  }
}

/** @param {Omit<WorkingMessage, "type">} message */
function showWork(message) {
  if (message.what === "list" && isRefreshing()) return;
  $("working").hidden = !message.what;
  if (!message.what) {
    endRequest();
    return;
  }
  const [words, bar] = all("span, progress", $("working"));
  words.textContent = message.total ? `${message.what}: ${message.done} of ${message.total} ${message.unit}` : `${message.what} …`;
  bar.hidden = !message.total;
  if (message.total) Object.assign(bar, { max: message.total, value: message.done });
}

/** @param {ListMessage} message */
function showShelf(message) {
  hand = null;
  $("hand").hidden = $("all").hidden = true;
  $("shelf").hidden = false;
  document.title = `${message.name} – trickformer`;
  $("title").textContent = message.name;
  $("features").textContent = "";
  showHands(message);
}

/** @param {HandMessage} message */
function openHand(message) {
  hand = message;
  review = firstAction = null;
  at = Math.min(decisionInAddress(), hand.positions.length + 1);
  $("shelf").hidden = true;
  $("hand").hidden = false;
  $("all").hidden = hand.table;
  $("back").hidden = !hand.table;
  $("at").max = String(hand.positions.length + 1);
  $("analyst").replaceChildren(...shortNames(hand.analysts).map((name, i) => make("option", { value: i, title: message.analysts[i] }, name)));
  $("rate").disabled = !hand.analysts.length;
  $("sat").replaceChildren(...message.names.map((_, seat) => make("p", {}, make("label", { for: `who${seat}` }, `Seat ${seat}`),
    make("select", { id: `who${seat}` }, ...shortNames(message.players).map((name, i) => make("option", { value: i, selected: i === message.sat[seat], title: message.players[i] }, name))))));
  $("notes").replaceChildren(...hand.notes.map((note) => make("li", {}, note)));
  const scores = hand.shared ? hand.scores?.slice(0, 1) : hand.scores;
  $("scores").textContent = scores ? `Scores: ${scores.join(" ")}` : "The hand was broken off.";
  $("told").textContent = hand.told;
  const dealt = dealtElements(hand);
  $("dealt").replaceChildren(...dealt);
  $("telling").hidden = !hand.told;
  $("telling").open = !dealt.length;
  $("review").replaceChildren();
  $("tried").replaceChildren();
  showMoves(hand, review, jump);
  show();
}

/** @param {number} number */
function jump(number) {
  if (!hand) return;
  const to = Math.min(Math.max(number, 1), hand.positions.length + 1);
  if (to === at) return;
  [at, firstAction] = [to, null];
  history.replaceState(null, "", `#${hand.number}.${at}`);
  show();
}

function show() {
  if (!hand) return;
  const position = at <= hand.positions.length ? hand.positions[at - 1] : null;
  const { scene } = position ?? hand.end;
  /** @type {ShownTable} */
  const table = {
    scene, game: hand.game, deal: hand.deal, me: seatInAddress in hand.names ? seatInAddress : Math.max(0, hand.names.indexOf("you")), you: null, seats: hand.names, turn: position?.seat ?? null, scores: hand.scores, shared: hand.shared,
    label: `game ${hand.number}${hand.deal === null ? "" : `, deal ${hand.deal}`}`,
  };
  showTable(table, choose);
  const words = position
    ? `Decision ${at} of ${hand.positions.length}: ${seatName(table, position.seat)} ${describeRating(position)}`
    : `The end. ${$("scores").textContent}`;
  $("status").replaceChildren(...textWithCards(words, position ? cardsIn([scene]) : []));
  document.body.dataset.at = String(at);
  $("at").value = String(at);
  $("first").disabled = $("before").disabled = at === 1;
  $("last").disabled = $("after").disabled = !position;
  $("try").disabled = !position || !hand.players.length;
  for (const button of $("decisions").querySelectorAll("button")) {
    const here = Number(button.dataset.number) === at;
    if (here) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    if (here) $("decisions").scrollTop = button.offsetTop - $("decisions").offsetTop - 60;
  }
  if (review) showCurves(review, at, jump);
  showChosen();
}

/**
 * Describes the action of a position, and the analyst's rating of it.
 * @param {Position} position
 */
function describeRating(position) {
  const rating = review?.ratings.find((each) => each.number === position.number);
  const best = rating?.actions[0];
  const done = `does this: ${position.words}`;
  if (!review || !best || rating.loss === null) return `${done}.`;
  if (!rating.loss) return `${done}. Nothing is better.`;
  return `${done}. ${best[0]} is better by ${rating.loss.toFixed(2)}${rating.error ? ` ± ${rating.error.toFixed(2)}` : ""} ${shortUnit(review.unit)}.`;
}

/** @param {number[]} actions */
function choose([action]) {
  firstAction = firstAction === action ? null : action;
  closeOptions();
  showChosen();
}

function showChosen() {
  const scene = hand?.positions[at - 1]?.scene;
  const words = (scene && firstAction !== null && actionWords(scene).get(firstAction)) || "";
  for (const element of all("#felt [data-action]")) {
    const on = Number(element.dataset.action) === firstAction;
    element.classList.toggle("chosen", on);
    element.setAttribute("aria-pressed", String(on));
  }
  $("first-done").textContent = words ? `First: ${words}.` : "";
}

document.addEventListener("keydown", (event) => {
  if (!hand || !isPageKey(event, "input, select, pre")) return;
  const to = new Map([["ArrowLeft", at - 1], ["ArrowRight", at + 1], ["Home", 1], ["End", hand.positions.length + 1]]).get(event.key);
  if (to === undefined) return;
  jump(to);
  event.preventDefault();
});

$("first").addEventListener("click", () => jump(1));
$("before").addEventListener("click", () => jump(at - 1));
$("after").addEventListener("click", () => jump(at + 1));
$("last").addEventListener("click", () => hand && jump(hand.positions.length + 1));
$("at").addEventListener("input", () => jump(Number($("at").value)));
$("rate").addEventListener("click", () => hand && send({ do: "rate", number: hand.number, analyst: Number($("analyst").value) }));
$("try").addEventListener("click", () => {
  if (!hand) return;
  lastRequest = { at, first: $("first-done").textContent };
  const seats = hand.names.map((_, seat) => Number($(`who${seat}`).value));
  send({ do: "try", number: hand.number, at: hand.positions[at - 1].number, seats, action: firstAction, n: Math.trunc(Number($("games").value)) });
});
$("cancel").addEventListener("click", () => send({ do: "cancel" }));
$("all").addEventListener("click", () => { location.hash = ""; });
$("jump").addEventListener("submit", (event) => {
  event.preventDefault();
  const decision = Math.trunc(Number($("decision").value));
  location.hash = `${Math.trunc(Number($("game").value))}${decision > 1 ? `.${decision}` : ""}`;
});
window.addEventListener("hashchange", requestHand);
initAppearance();
initHands(() => hand === null && numberInAddress() === null);
$("training").hidden = !match;
connect(match ? `match-${match}` : "reviewing", { opened: requestHand, received: receive, closed: () => showWork({ what: null }) });
