// The page of a training: its report, its curves, and links to the hands of its matches. A running training is polled.

import { drawCharts } from "./charts.js";
import { $, make } from "./dom.js";
import { showReport } from "./report.js";

const POLL = 3_000; // milliseconds between two looks for new entries of the log, at least
const SHARE = 5; // and this many times as long as the last answer took
let socket;
let known = null; // length of the log that the page has a description of
let isOver = false;
let asked = 0; // time of the last request
let timer;

function connect() {
  const address = new URL("training", location.href);
  address.protocol = "ws:";
  address.hash = "";
  socket = new WebSocket(address);
  socket.addEventListener("open", () => {
    $("away").hidden = true;
    request();
  });
  socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
  socket.addEventListener("close", () => {
    $("away").hidden = false;
    clearTimeout(timer);
    setTimeout(connect, 1000);
  });
}

function request() {
  asked = performance.now();
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ do: "describe", known }));
}

function receive(message) {
  $("fault").hidden = message.type !== "error";
  const took = known === null ? 0 : performance.now() - asked; // the first answer waits for the start of a process
  if (message.type === "error") $("fault").textContent = message.text;
  else if (message.changed) showTraining(message);
  clearTimeout(timer);
  if (!isOver) timer = setTimeout(request, Math.max(POLL, SHARE * took));
}

function showTraining(message) {
  [known, isOver] = [message.known, message.over];
  document.title = `${message.name} – trickformer`;
  $("title").textContent = message.name;
  showReport(message);
  drawCharts($("charts"), message.charts);
  $("played").textContent = isOver ? "The training is finished." : "This page follows the training.";
  showMatches(message.matches);
}

function showMatches(matches) {
  $("matches-note").textContent = matches.length
    ? "Each match is a tournament of the model's ArgmaxVal*. Its page lists the hands, and opens each in the review."
    : "No match is finished yet.";
  const titles = ["match", "opponent", "difference", "95% interval", "deals"];
  const rows = matches.map(({ model, opponent, difference, interval, deals, hands }) => make("tr", {},
    make("th", { scope: "row" }, hands ? make("a", { href: `review.html?match=${encodeURIComponent(hands)}` }, `hands of ${model}`) : model),
    make("td", { class: "words" }, opponent), ...[difference, interval, deals].map((cell) => make("td", {}, cell))));
  $("rows").replaceChildren(...(matches.length ? [make("table", {},
    make("thead", {}, make("tr", {}, ...titles.map((title) => make("th", { scope: "col" }, title)))), make("tbody", {}, ...rows))] : []));
}

connect();
