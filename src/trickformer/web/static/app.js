// The page of a table: its socket, its state, and its buttons and keys.

import { chosenSource, initAnalysis, receiveEvaluation, redrawBadges, showAnalysis } from "./analysis.js";
import { isElsewhere, moveFocus } from "./arrows.js";
import { comparedPlayers, initComparison, receiveComparison, showComparison } from "./compare.js";
import { $, make, showProgress } from "./dom.js";
import { cancelOptions } from "./gestures.js";
import { endHint, hintElements, hintSource, initHint, pressHint, receiveHint, updateHint } from "./hint.js";
import { showLog, showScores } from "./log.js";
import { initMotion, planMotion, playMotion, skipMotion } from "./motion.js";
import { forgetPanels, initPanels, showPanel } from "./panels.js";
import { isMyTurn, seatName, showTable } from "./table.js";
import { checkAction, forgetRating, initWarning, receiveWarning, updateWarning, warningElements, warningSource } from "./warn.js";

let socket;
let table = null; // message of the table that is shown
const queuedTables = []; // messages of later tables, which are shown one after the other
let expectedPly = 0; // number of actions of the hand after the last decision that was sent
let nextTimer = null; // timer that shows the next of them
let requested = null; // panels of the last request
let absent = []; // seats of people who have no page open
let thinking = null; // { seat, since, progress } of the player on turn, or { stopped: true }
const openPanels = new Set(JSON.parse(sessionStorage.getItem("looks") ?? "[]"));

const send = (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));

// Sends the actions of one decision. Tables between them are not shown.
function take(actions) {
  endHint();
  actions.forEach((action, i) => send({ do: "act", seat: table.me, action, ply: table.ply + i }));
  expectedPly = table.ply + actions.length;
}

function connect() {
  const address = new URL("socket", location.href);
  address.protocol = "ws:";
  socket = new WebSocket(address);
  socket.addEventListener("open", () => {
    $("away").hidden = true;
    if (table) requestPanels();
  });
  socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
  socket.addEventListener("close", () => {
    $("away").hidden = false;
    setTimeout(connect, 1000);
  });
}

// Requests the open panels, and the panels that evaluate the decision and give a hint.
function requestPanels() {
  if (table.open) return; // a spectator has no decision
  requested = [...new Set([...openPanels, ...chosenSource(table.panels), ...hintSource(), ...warningSource()])].filter((panel) => table.panels.includes(panel));
  send({ do: "look", panels: requested, players: comparedPlayers(table.players) });
}

function receive(message) {
  if (message.type === "table") {
    forgetRating(message);
    if (message.deal === table?.deal && message.ply > table.ply && message.ply < expectedPly) return;
    queuedTables.push(message);
    if (!nextTimer) showNext();
  } else if (message.type === "thinking") {
    const since = message.progress ? thinking?.since : undefined;
    thinking = message.seat === null ? null : { seat: message.seat, since: since ?? performance.now(), progress: message.progress };
    if (message.stopped) thinking = { stopped: true };
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
    $("fault").textContent = message.text;
    $("fault").hidden = false;
  }
}

// Shows the next queued table. A pause lets people see each action, a longer one the complete trick.
function showNext() {
  nextTimer = null;
  if (!queuedTables.length) return;
  const before = table;
  table = queuedTables.shift();
  if (table.ply >= expectedPly) expectedPly = 0;
  $("fault").hidden = true;
  const pace = Number($("speed").value);
  const motion = pace || !queuedTables.length ? planMotion(before, table) : null;
  updateHint(table, chosenSource(table.panels));
  updateWarning(table);
  showTable(table, checkAction);
  playMotion(motion);
  showScores(table);
  showLog(table);
  showStatus();
  if (!before || before.deal !== table.deal || before.ply !== table.ply) forgetPanels(table);
  showAnalysis(table);
  showComparison(table);
  if (!requested) requestPanels();
  for (const id of ["undo", "again"]) $(id).disabled = !table.undo;
  $("claim").disabled = !isMyTurn(table);
  showRights();
  const isTrickComplete = table.scene.last?.length && !table.scene.trick?.length;
  if (pace && table.turn !== null && before) nextTimer = setTimeout(showNext, isTrickComplete ? 3 * pace : pace);
  else if (queuedTables.length) showNext();
}

// Shows the latest table at once.
function skip() {
  skipMotion();
  if (!queuedTables.length) return;
  clearTimeout(nextTimer);
  queuedTables.splice(0, queuedTables.length - 1);
  showNext();
  skipMotion();
}

// Hides what the holder of this link may not do, and shows the host the links of the others.
function showRights() {
  for (const id of ["undo", "again", "match", "next"]) $(id).hidden = table.rights !== "host";
  for (const id of ["hint", "claim", "looking"]) $(id).hidden = table.rights === "watch";
  if (table.links.length === $("links").childElementCount) return;
  $("inviting").hidden = !table.links.length;
  $("links").replaceChildren(...table.links.map(([seat, path]) =>
    make("li", {}, make("a", { href: path, target: "_blank", rel: "noopener" }, seat === null ? "spectators, who see all cards" : `seat ${seat}`))));
}

function showStatus() {
  if (!table) return;
  const status = $("status");
  document.body.dataset.turn = table.scores ? "over" : isMyTurn(table) ? "mine" : "others";
  document.body.dataset.ply = table.ply;
  if (table.scores) {
    const own = table.scores[table.me];
    const score = table.shared ? `: the score is ${own}` : table.open ? "" : `: you score ${own}`;
    status.replaceChildren(`The hand is over${score}. `,
      make("a", { id: "review", class: "button main act", href: `review.html#${table.record}` }, "Review this hand"), " ",
      table.open ? "" : make("button", { class: "act", click: () => send({ do: "next" }) }, "Next deal"));
  } else if (isMyTurn(table)) {
    status.replaceChildren(`Your turn: ${table.scene.ask ?? "choose"}.`, ...hintElements(), ...warningElements());
  } else if (thinking?.stopped) {
    status.replaceChildren("Stopped. ", make("button", { click: () => location.reload() }, "Go on"));
  } else if (table.people.includes(table.turn)) {
    const away = absent.includes(table.turn) ? ", whose page is not open" : "";
    status.replaceChildren(`Waiting for ${seatName(table, table.turn)}${away}.`);
  } else {
    const seconds = thinking ? (performance.now() - thinking.since) / 1000 : 0;
    const since = seconds >= 1 ? ` for ${Math.floor(seconds)} s` : "";
    const name = `${seatName(table, table.turn)} is thinking`;
    if (!$("since") || status.firstChild.textContent !== name) {
      status.replaceChildren(name, make("span", { id: "since", "aria-hidden": "true" }), " ",
        make("progress", { id: "searched", "aria-label": "Search done" }), " ",
        table.rights === "host" ? make("button", { id: "cancel", click: () => send({ do: "cancel" }) }, "Stop") : "");
    }
    $("since").textContent = since; // hidden from screen readers, which would read it out every second
    $("searched").hidden = seconds < 1;
    showProgress($("searched"), thinking?.progress);
  }
}

document.addEventListener("pointerdown", skip);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") cancelOptions();
  if (isElsewhere(event) || moveFocus(event)) return;
  if (event.key === "u" && !$("undo").disabled && !$("undo").hidden) {
    send({ do: "undo" });
  } else if (event.key === "h") {
    pressHint();
  } else if (event.key === "n" && table?.scores && !table.open) {
    send({ do: "next" });
  }
});

function openDialog(dialog, done) {
  dialog.returnValue = "";
  dialog.onclose = () => dialog.returnValue && done();
  dialog.showModal();
}

$("undo").addEventListener("click", () => send({ do: "undo" }));
$("again").addEventListener("click", () => send({ do: "again" }));
$("next").addEventListener("click", () => send({ do: "next" }));
$("claim").addEventListener("click", () => {
  const most = table.best === "most" ? "at least" : "at most";
  $("claim-help").textContent = `You say that this hand brings you ${most} this score, whatever the others do. The table tries every line of play with open cards; where that shows it, the hand is played out so.`;
  openDialog($("claiming"), () => send({ do: "claim", score: Math.trunc(Number($("claim-score").value)) }));
});
$("match").addEventListener("click", () => {
  const isInvited = (seat) => table.links.some(([invited]) => invited === seat);
  $("seats").replaceChildren(...table.seats.map((who, seat) =>
    make("p", {}, make("label", { for: `who${seat}` }, `Seat ${seat}`), " ",
      make("select", { id: `who${seat}` }, ...table.players.map((player, i) =>
        make("option", { value: i, selected: player === who }, player === "you" && isInvited(seat) ? "the invited person" : player))))));
  $("deal").value = table.deal + 1;
  openDialog($("seating"), () => send({
    do: "match", deal: Math.trunc(Number($("deal").value)), seats: table.seats.map((_, seat) => Number($(`who${seat}`).value)),
  }));
});
$("speed").value = localStorage.getItem("speed") ?? "350";
$("speed").addEventListener("change", () => localStorage.setItem("speed", $("speed").value));

initPanels(openPanels, () => {
  sessionStorage.setItem("looks", JSON.stringify([...openPanels]));
  requestPanels();
});
initMotion();
initHint({
  showHint: () => {
    showStatus();
    redrawBadges();
  },
  request: requestPanels,
  stop: () => send({ do: "cancel" }),
});
initAnalysis(() => {
  updateHint(table, chosenSource(table.panels));
  requestPanels();
});
initWarning({
  take,
  request: () => table && requestPanels(),
  showWaiting: showStatus,
  ask: (done) => openDialog($("warning"), done),
});
initComparison(() => table && requestPanels());
setInterval(() => thinking?.seat !== undefined && showStatus(), 1000);
connect();
