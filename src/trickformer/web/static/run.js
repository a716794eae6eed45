// The description of a tournament: its report, its charts, and how far it is. A run that is being played is polled.

/** @import { RunDescription, RunMessage } from "../types/messages" */

import { drawCharts } from "./charts.js";
import { $ } from "./dom.js";
import { refreshHands, requestDescription } from "./hands.js";
import { showReport } from "./report.js";

const POLL = 3_000; // milliseconds between two looks for new records, at least
const PAUSE_RATIO = 5; // least ratio of this pause to the time of the last answer
/** @type {number | null} */
let known = null; // number of records that the page has a description of
let isOver = true;
let asked = 0; // time of the last look
/** @type {number | undefined} */
let timer;

/** @param {RunMessage} message */
export function showRun(message) {
  if (message.changed) {
    const isUpdate = known !== null;
    [known, isOver] = [message.played, message.over];
    showReport(message);
    drawCharts($("charts"), message.charts);
    $("played").textContent = describePlayed(message);
    refreshHands(isUpdate);
  }
  clearTimeout(timer);
  if (!isOver) timer = setTimeout(poll, Math.max(POLL, asked ? PAUSE_RATIO * (performance.now() - asked) : 0));
}

// Looks for new records. The server leaves a poll without an answer while it does other work.
function poll() {
  asked = performance.now();
  requestDescription(known);
  timer = setTimeout(poll, 4 * POLL);
}

/** @param {RunDescription} run */
function describePlayed({ played, scheduled, over, written }) {
  const [number, all] = [played, scheduled].map((n) => n.toLocaleString("en"));
  if (over) return played === scheduled ? `All ${all} hands are played.` : `${number} of ${all} hands are played; the match has stopped.`;
  const time = new Date(1_000 * written).toLocaleTimeString("en-GB");
  return `${number} of ${all} hands are played, the last at ${time}. This page follows the run.`;
}
