// The page of a table: its state, its status line, and its buttons and keys.

/** @import { PanelName, Progress, TableMessage, TablePageMessage } from "../types/messages" */

import { chosenSource, initAnalysis, receiveEvaluation, redrawAnalysis, showAnalysis } from "./analysis.js";
import { focusedOrder, initAnnotations, pressAnnotate, updateAnnotations } from "./annotations.js";
import { initAppearance } from "./appearance.js";
import { isElsewhere, moveFocus } from "./arrows.js";
import { claim } from "./claim.js";
import { comparedPlayers, initComparison, receiveComparison, showComparison } from "./compare.js";
import { deckWords } from "./deck.js";
import { $, make, openDialog, showFault, showProgress, storeChoice } from "./dom.js";
import { initDrag } from "./drag.js";
import { initFlags, pressFlag, updateFlags } from "./flags.js";
import { initFocus, rememberFocus, restoreFocus } from "./focus.js";
import { handKey } from "./format.js";
import { cancelOptions } from "./gestures.js";
import { initGuard, notePosition } from "./guard.js";
import { endHint, hintElements, hintSource, initHint, pressHint, receiveHint, updateHint } from "./hint.js";
import { showLog } from "./log.js";
import { chooseMatch } from "./match.js";
import { initMotion, planMotion, playMotion, skipMotion } from "./motion.js";
import { forgetPanels, initPanels, showPanel } from "./panels.js";
import { isMatchOver, showScores, winnerWords } from "./scores.js";
import { refusal } from "./scene.js";
import { connect, send } from "./socket.js";
import { initSound } from "./sound.js";
import { isMyTurn, seatName, showTable, toggleLastTrick, wasTrickLast } from "./table.js";
import { checkAction, forgetRating, initWarning, receiveWarning, updateWarning, warningElements, warningSource } from "./warn.js";

/** @type {TableMessage | null} */
let table = null; // message with the state of the table that is shown
/** @type {TableMessage[]} */
const queuedTables = []; // messages with later states of the table, which are shown one after the other
let isSent = false; // whether a decision was sent for the table that is shown
let expectedPly = 0; // number of actions of the hand after the last decision that was sent
/** @type {number | null} */
let nextTimer = null; // timer that shows the next state in `queuedTables`
/** @type {number[]} */
let absent = []; // seats of people who have no page open
let hasRequested = false; // whether the page has requested panels
/** @type {{ seat: number, since: number, progress?: Progress } | null} */
let thinking = null; // the player on turn
let isStopped = false; // whether the players were stopped
let isClaiming = false; // whether the table checks a claim
let refused = ""; // why the card that was clicked last cannot be played
let isHolding = false; // whether the last trick lies open before the result is shown
/** @type {Set<PanelName>} */
const openPanels = new Set(JSON.parse(sessionStorage.getItem("looks") ?? "[]"));

/**
 * Sends the actions of one decision. States of the table between these actions are not shown.
 * @param {number[]} actions
 */
function take(actions) {
  if (!table || isSent) return;
  isSent = true;
  endHint();
  const { me, ply } = table;
  actions.forEach((action, i) => send({ do: "act", seat: me, action, ply: ply + i }));
  expectedPly = ply + actions.length;
}

// Requests the open panels, and the panels that evaluate the decision and give a hint.
function requestPanels() {
  if (!table || table.open) return; // a spectator has no decision
  const { panels } = table;
  const wanted = new Set([...openPanels, ...chosenSource(panels), ...hintSource(), ...warningSource()]);
  hasRequested = true;
  send({ do: "look", panels: [...wanted].filter((panel) => panels.includes(panel)), players: comparedPlayers(table.players) });
}

/** @param {TablePageMessage} message */
function receive(message) {
  if (message.type === "table") {
    forgetRating(message);
    if (table && handKey(message) === handKey(table) && message.ply > table.ply && message.ply < expectedPly) return;
    queuedTables.push(message);
    if (!nextTimer) showNext();
  } else if (message.type === "thinking") {
    const since = message.progress ? thinking?.since : undefined;
    thinking = message.seat === null ? null : { seat: message.seat, since: since ?? performance.now(), progress: message.progress };
    isStopped = message.stopped;
    showStatus();
  } else if (message.type === "absent") {
    absent = message.seats;
    showStatus();
  } else if (message.type === "look") {
    showPanel(message);
    receiveEvaluation(message);
    receiveHint(message);
    receiveWarning(message);
    receiveComparison(message);
  } else if (message.type === "error") {
    expectedPly = 0;
    [isSent, isClaiming] = [false, false];
    showFault(message.text);
    showStatus();
  }
}

// Shows the next queued state of the table. A pause lets people see each action, a longer one the complete trick.
function showNext() {
  nextTimer = null;
  const next = queuedTables.shift();
  if (!next) return;
  const before = table;
  const pace = Number($("speed").value);
  isHolding = pace > 0 && before !== null && handKey(before) === handKey(next) && before.ply < next.ply && wasTrickLast(next);
  if (isHolding && before) {
    queuedTables.unshift(next);
    const { hands, totals, told } = before;
    table = { ...next, scores: null, hands, totals, told, scene: { ...next.scene, hands: [], result: [] } };
  } else {
    table = next;
  }
  if (table.ply >= expectedPly) expectedPly = 0;
  $("fault").hidden = true;
  [isSent, isClaiming, refused] = [false, false, ""];
  rememberFocus();
  notePosition(`${handKey(table)} ${table.ply}`);
  const motion = pace || !queuedTables.length ? planMotion(before, table) : null;
  updateHint(table, chosenSource(table.panels));
  updateWarning(table);
  const focused = focusedOrder();
  showTable(table, checkAction);
  updateAnnotations(table, focused);
  updateFlags(table);
  playMotion(motion);
  showScores(table);
  showLog(table);
  showStatus();
  if (!before || handKey(before) !== handKey(table) || before.ply !== table.ply) forgetPanels(table);
  showAnalysis(table);
  showComparison(table);
  if (!hasRequested) requestPanels();
  $("undo").disabled = $("again").disabled = !table.undo;
  $("claim").disabled = !isMyTurn(table);
  showRights(table);
  restoreFocus(isMyTurn(table));
  const isTrickComplete = table.scene.last?.length && !table.scene.trick?.length;
  if (pace && (table.turn !== null || isHolding) && before) nextTimer = setTimeout(showNext, isTrickComplete ? 3 * pace : pace);
  else if (queuedTables.length) showNext();
}

// Shows the latest state of the table at once.
function skip() {
  skipMotion();
  if (!queuedTables.length) return;
  if (nextTimer !== null) clearTimeout(nextTimer);
  queuedTables.splice(0, queuedTables.length - 1);
  showNext();
  skipMotion();
}

/**
 * Hides what the holder of this link may not do, and shows the host the links of the others.
 * @param {TableMessage} shown
 */
function showRights({ rights, links }) {
  for (const button of [$("undo"), $("again"), $("match"), $("next")]) button.hidden = rights !== "host";
  for (const element of [$("hint"), $("claim"), $("looking")]) element.hidden = rights === "watch";
  const shownFor = JSON.stringify(links);
  if ($("links").dataset.shownFor === shownFor) return;
  $("links").dataset.shownFor = shownFor;
  $("inviting").hidden = !links.length;
  $("links").replaceChildren(...links.map(([seat, path]) =>
    make("li", {}, make("a", { href: path, target: "_blank", rel: "noopener" }, seat === null ? "spectators, who see all cards" : `seat ${seat}`))));
}

/** @param {TableMessage} table @param {number[]} scores */
function resultWords({ scene, shared, me, you }, scores) {
  if (scene.outcome) return `${scene.outcome}.`;
  const score = shared ? `: the score is ${scores[me]}` : you === null ? "" : `: you score ${scores[me]}`;
  return `The hand is over${score}.`;
}

/** @param {"takes" | "took"} verb */
function lastTrickWords(verb) {
  const taker = table?.scene.taker ?? null;
  if (!table || taker === null || table.scene.trick?.length) return "";
  return `${taker === table.you ? `You ${verb === "takes" ? "take" : verb}` : `Seat ${taker} ${verb}`} the last trick.`;
}

function showStatus() {
  if (!table) return;
  const status = $("status");
  document.body.dataset.turn = table.scores ? "over" : isMyTurn(table) ? "mine" : "others";
  document.body.dataset.ply = String(table.ply);
  if (table.scores) {
    const matchOver = isMatchOver(table);
    status.replaceChildren([resultWords(table, table.scores), lastTrickWords("took"), matchOver ? winnerWords(table) : ""].filter(Boolean).join(" "), " ",
      make("a", { id: "review-hand", class: "button main act", href: `review.html${table.you === null ? "" : `?seat=${table.you}`}#${table.record}` }, "Review this hand"), " ",
      table.open ? "" : make("button", { class: "act", click: dealNext }, "Next deal"), " ",
      matchOver && table.rights === "host" ? make("button", { class: "act", click: newMatch }, "New match …") : "");
  } else if (isHolding) {
    status.replaceChildren(lastTrickWords("takes"));
  } else if (isMyTurn(table)) {
    const claimed = isClaiming ? [make("span", { id: "checking" }, " Checking the claim … "), make("button", { click: () => send({ do: "cancel" }) }, "Stop")] : [];
    const reason = refused ? [" ", make("span", { id: "refused" }, deckWords(refused))] : [];
    status.replaceChildren(`Your turn: ${table.scene.ask ?? "choose"}.`, ...reason, ...claimed, ...hintElements(), ...warningElements());
  } else if (isStopped || table.turn === null) {
    status.replaceChildren("Stopped. ", make("button", { click: () => location.reload() }, "Go on"));
  } else if (table.people.includes(table.turn)) {
    const away = absent.includes(table.turn) ? ", whose page is not open" : "";
    status.replaceChildren(`Waiting for ${seatName(table, table.turn)}${away}.`);
  } else {
    const seconds = thinking ? (performance.now() - thinking.since) / 1000 : 0;
    const since = seconds >= 1 ? ` for ${Math.floor(seconds)} s` : "";
    const name = `${seatName(table, table.turn)} is thinking`;
    if (!$("since") || status.firstChild?.textContent !== name) {
      status.replaceChildren(name, make("span", { id: "since", "aria-hidden": "true" }), " ",
        make("progress", { id: "searched", "aria-label": "Search done" }), " ",
        table.rights === "host" ? make("button", { id: "cancel", click: () => send({ do: "cancel" }) }, "Stop") : "");
    }
    $("since").textContent = since; // hidden from screen readers, which would read it out every second
    $("searched").hidden = seconds < 1;
    showProgress($("searched"), thinking?.progress);
  }
}

const newMatch = () => table && chooseMatch(table);

const dealNext = () => table && send({ do: "next", hand: table.hand });

/**
 * Deals anew. A hand in which the reader has decided something is given up only after a question.
 * @param {() => void} leave
 */
function leaveHand(leave) {
  if (table?.undo && !table.scores && !isHolding) openDialog($("giving-up"), leave);
  else leave();
}

initGuard();
initFocus();
document.addEventListener("pointerdown", skip);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") cancelOptions();
  if (isElsewhere(event) || moveFocus(event) || pressAnnotate(event) || pressFlag(event)) return;
  if (event.key === "u" && !$("undo").disabled && !$("undo").hidden) {
    send({ do: "undo" });
  } else if (event.key === "h") {
    pressHint();
  } else if (event.key === "l") {
    toggleLastTrick();
  } else if (event.key === "n" && table?.scores && !table.open) {
    dealNext();
  }
});

$("undo").addEventListener("click", () => send({ do: "undo" }));
$("again").addEventListener("click", () => leaveHand(() => send({ do: "again" })));
$("next").addEventListener("click", () => leaveHand(dealNext));
$("claim").addEventListener("click", () => table && claim(table, () => {
  isClaiming = true;
  showStatus();
}));
$("own").addEventListener("click", ({ target }) => {
  const card = target instanceof Element ? target.closest(".seat > .hand > .card:not(.act)") : null;
  if (!table || !isMyTurn(table) || !(card instanceof HTMLElement)) return;
  refused = refusal(table.scene, table.me, card.dataset.name ?? "");
  showStatus();
});
$("match").addEventListener("click", newMatch);
$("speed").value = localStorage.getItem("speed") ?? "350";
storeChoice("speed");

initPanels(openPanels, () => {
  sessionStorage.setItem("looks", JSON.stringify([...openPanels]));
  requestPanels();
});
initAnnotations();
initDrag();
initFlags();
initAppearance();
initMotion();
initSound();
initHint({
  showHint: () => {
    showStatus();
    redrawAnalysis();
  },
  request: requestPanels,
  stop: () => send({ do: "cancel" }),
});
initAnalysis(() => {
  if (table) updateHint(table, chosenSource(table.panels));
  requestPanels();
});
initWarning({
  take,
  request: requestPanels,
  showWaiting: showStatus,
  ask: (done) => openDialog($("warning"), done),
});
initComparison(requestPanels);
setInterval(() => thinking && showStatus(), 1000);
connect("socket", {
  opened: () => {
    $("felt").inert = false;
    requestPanels();
  },
  received: receive,
  closed: () => { $("felt").inert = true; },
});
