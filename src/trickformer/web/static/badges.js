// The badges on cards and buttons: a number of the evaluation on each, and the mark of a hint. The best action has a star.

/** @import { Evaluation } from "../types/messages" */

import { $, all, make } from "./dom.js";
import { actions } from "./evaluation.js";
import { nameOf, signed } from "./format.js";
import { hintMark } from "./hint.js";

const MEASURES = /** @type {const} */ (["value", "visits", "policy"]);

const FORMATS = {
  /** @param {number} value @param {[low: number, high: number]} scale */
  value: (value, [low, high]) => signed((size) => size.toFixed(size >= 99.95 ? 0 : high - low <= 2 ? 2 : 1), value, low),
  /** @param {number} visits */
  visits: (visits) => (visits >= 9_995 ? `${Math.round(visits / 1_000)}k` : String(visits)),
  /** @param {number} share */
  policy: (share) => (share < 0.005 ? "0%" : `${Math.round(100 * share)}%`),
};

/** @param {string | null} text */
const readMeasure = (text) => MEASURES.find((name) => name === text) ?? "";

/** @type {typeof MEASURES[number] | ""} */
let measure = readMeasure(localStorage.getItem("measure")); // number on the badges; "" for none

/** @param {() => void} changed called after another choice of the number */
export function initBadges(changed) {
  $("measure").value = measure;
  $("measure").addEventListener("change", () => {
    measure = readMeasure($("measure").value);
    localStorage.setItem("measure", measure);
    changed();
  });
}

/**
 * Puts the chosen number on each card and button that can be clicked, and the mark of a hint.
 * @param {Evaluation | null} data
 * @param {boolean} hasSource whether the page evaluates decisions
 */
export function showBadges(data, hasSource) {
  for (const badge of all("#felt .evaluation")) badge.remove();
  for (const element of all("#felt [data-words]")) {
    if (element.dataset.words) element.setAttribute("aria-label", element.dataset.words);
    else element.removeAttribute("aria-label");
    element.removeAttribute("data-words");
  }
  const numbers = numbersByAction(data);
  for (const element of all("#felt .act")) {
    const offered = (element.dataset.actions ?? element.dataset.action ?? "").split(" ").filter(Boolean).map(Number);
    const evaluated = offered.map((action) => numbers.get(action)).filter((each) => each !== undefined);
    const shown = evaluated.find(({ action }) => action === data?.best) ?? [...evaluated].sort((a, b) => b.number - a.number)[0];
    const mark = hintMark(offered);
    if (!shown && !mark) continue;
    const isBest = mark === "best" || Boolean(shown && shown.action === data?.best);
    const text = shown && measure ? FORMATS[measure](shown.number, data?.scale ?? [-1, 1]) : "";
    const words = element.getAttribute("aria-label");
    const notes = [shown && `${measure} ${text}`, mark === "candidate" && "worth a thought", isBest && "best"].filter(Boolean);
    element.dataset.words = words ?? "";
    element.setAttribute("aria-label", `${words ?? element.textContent}, ${notes.join(", ")}`);
    const kind = `evaluation${isBest ? " best" : ""}${mark ? " hinted" : ""}${shown ? "" : " bare"}`;
    element.append(make("span", { class: kind, "aria-hidden": "true" }, `${isBest ? "★" : mark ? "?" : ""}${text}`));
  }
  document.body.classList.toggle("badged", Boolean(measure && hasSource));
  document.body.classList.toggle("hinting", Boolean(document.querySelector("#felt .evaluation.bare")));
  $("evaluated").replaceChildren(...(data && numbers.size ? actions(data) : []));
  if (measure && data?.rows.length && !numbers.size) {
    $("expected").append(` ${nameOf(data.spec)} reports no ${measure === "policy" ? "policy" : measure === "value" ? "values of actions" : "visits"}.`);
    $("expected").hidden = false;
  }
}

/**
 * The chosen number of each action that has one.
 * @param {Evaluation | null} data
 */
function numbersByAction(data) {
  /** @type {Map<number, { action: number, number: number }>} */
  const numbers = new Map();
  if (!measure || !data) return numbers;
  for (const row of data.rows) {
    const number = row[measure];
    if (number !== null) numbers.set(row.action, { action: row.action, number });
  }
  return numbers;
}
