// The page of a training: its report, its curves, and links to the hands of its matches. A running training is polled.

/** @import { TrainingDescription, TrainingMatch, TrainingPageMessage } from "../types/messages" */

import { drawCharts } from "./charts.js";
import { $, make, showFault } from "./dom.js";
import { showReport } from "./report.js";
import { connect, send } from "./socket.js";
import { heads } from "./tables.js";
import { initTheme } from "./theme.js";

const POLL = 3_000; // milliseconds between two looks for new entries of the log, at least
const PAUSE_RATIO = 5; // least ratio of this pause to the time of the last answer
/** @type {number | null} */
let known = null; // length of the log that the page has a description of
let isOver = false;
let asked = 0; // time of the last request
/** @type {number | undefined} */
let timer;

function request() {
  asked = performance.now();
  send({ do: "describe", known });
}

/** @param {TrainingPageMessage} message */
function receive(message) {
  $("fault").hidden = message.type !== "error";
  const took = known === null ? 0 : performance.now() - asked; // the first answer waits for the start of a process
  if (message.type === "error") showFault(message.text);
  else if (message.changed) showTraining(message);
  clearTimeout(timer);
  if (!isOver) timer = setTimeout(request, Math.max(POLL, PAUSE_RATIO * took));
}

/** @param {TrainingDescription} message */
function showTraining(message) {
  [known, isOver] = [message.known, message.over];
  document.title = `${message.name} – trickformer`;
  $("title").textContent = message.name;
  showReport(message);
  drawCharts($("charts"), message.charts);
  $("played").textContent = isOver ? "The training is finished." : "This page follows the training.";
  showMatches(message.matches);
}

/** @param {TrainingMatch[]} matches */
function showMatches(matches) {
  $("matches-note").textContent = matches.length
    ? "Each match is a tournament of the model's ArgmaxVal*. Its page lists the hands, and opens each in the review."
    : "No match is finished yet.";
  const titles = ["match", "opponent", "difference", "95% interval", "deals"];
  const rows = matches.map(({ model, opponent, difference, interval, deals, hands }) => make("tr", {},
    make("th", { scope: "row" }, hands ? make("a", { href: `review.html?match=${encodeURIComponent(hands)}` }, `hands of ${model}`) : model),
    make("td", { class: "words" }, opponent), ...[difference, interval, deals].map((cell) => make("td", {}, cell))));
  $("rows").replaceChildren(...(matches.length ? [make("table", {},
    heads(...titles), make("tbody", {}, ...rows))] : []));
}

initTheme();
connect("training", { opened: request, received: receive, closed: () => clearTimeout(timer) });
