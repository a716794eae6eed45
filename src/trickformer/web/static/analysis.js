// The evaluation of the person's decision by the chosen source, a panel: a bar beside the table, and badges on the cards.

import { $, make } from "./dom.js";
import { onOffer } from "./gestures.js";
import { hintMark } from "./hint.js";
import { TITLES, actions, formatValue } from "./panels.js";
import { isMyTurn, nameOf } from "./table.js";

const SOURCES = ["model", "search", "pimc"];

let source = localStorage.getItem("source") ?? "";
let measure = localStorage.getItem("measure") ?? ""; // number on the badges: "value", "visits", "policy" or "" for no badges
let table = null; // the table that is shown
let latest = null; // the source's last message
let shown = null; // { deal, ply } of the decision that the bar shows

export const chosenSource = (panels) => (panels?.includes(source) ? [source] : []);

export function initAnalysis(onChange) {
  $("source").addEventListener("change", () => {
    source = $("source").value;
    localStorage.setItem("source", source);
    latest = null;
    showAnalysis(table);
    onChange();
  });
  $("measure").value = measure;
  $("measure").addEventListener("change", () => {
    measure = $("measure").value;
    localStorage.setItem("measure", measure);
    showAnalysis(table);
  });
  onOffer(redrawBadges);
}

// Shows the evaluation of the table's decision if it is known, and the last one while others are on turn.
export function showAnalysis(newTable) {
  table = newTable;
  showSources(table.panels);
  const isCurrent = latest && latest.ply === table.ply && isMyTurn(table);
  if (isCurrent) shown = { deal: table.deal, ply: table.ply };
  const isEarlier = latest && shown?.ply === latest.ply && shown.deal === table.deal && shown.ply <= table.ply;
  showGauge(table.scores || !(isCurrent || isEarlier) ? null : latest.data, isCurrent);
  showBadges(isCurrent ? latest.data : null);
}

// Takes a message about a panel. An evaluation that is ahead of the table on the page waits for the table.
export function receiveEvaluation(message) {
  if (message.panel !== source || message.busy) return;
  latest = message.data ? message : null;
  if (table) showAnalysis(table);
}

function showSources(panels) {
  const names = SOURCES.filter((name) => panels.includes(name));
  if ($("source").dataset.panels === names.join()) return;
  $("source").dataset.panels = names.join();
  $("source").replaceChildren(make("option", { value: "" }, "nothing"), ...names.map((name) => make("option", { value: name }, TITLES[name][0])));
  $("source").value = names.includes(source) ? source : "";
  $("source").closest("p").hidden = !names.length;
}

// Writes a number with its sign; a game without negative results needs no plus.
const signed = (digits, value, low) => `${value < 0 ? "−" : value > 0 && low < 0 ? "+" : ""}${digits(Math.abs(value))}`;

// Shows the expected result on a bar between the lowest and the highest result of the game.
function showGauge(data, isCurrent) {
  const hasValue = data?.scale && data.value !== null && data.value !== undefined;
  $("gauge").hidden = $("expected").hidden = !hasValue;
  document.body.classList.toggle("gauged", Boolean(hasValue));
  if (!hasValue) {
    if (data) {
      $("expected").textContent = `${nameOf(data.spec)} gives no value here.`;
      $("expected").hidden = false;
    }
    return;
  }
  const [low, high] = data.scale;
  const share = (value) => `${(100 * Math.min(1, Math.max(0, (value - low) / (high - low || 1)))).toFixed(1)}%`;
  const when = isCurrent ? "" : " at your last decision";
  const now = signed(formatValue, data.value, low);
  const ends = [low, high].map((value) => signed(Math.round, value, low));
  const words = `${now} ${data.unit}, expected by ${nameOf(data.spec)}${when}. The bar goes from ${ends[0]} to ${ends[1]}.`;
  const track = $("gauge").querySelector(".track");
  [now, ends[1], "", ends[0]].forEach((text, i) => text && ($("gauge").children[i].textContent = text));
  track.style.setProperty("--share", share(data.value));
  track.style.setProperty("--zero", share(0));
  track.classList.toggle("signed", low < 0 && high > 0);
  for (const [name, value] of Object.entries({ valuemin: low, valuemax: high, valuenow: data.value, valuetext: words })) $("gauge").setAttribute(`aria-${name}`, value);
  $("gauge").title = words;
  $("expected").textContent = words;
}

const FORMATS = {
  value: (value, [low, high]) => signed((size) => size.toFixed(size >= 99.95 ? 0 : high - low <= 2 ? 2 : 1), value, low),
  visits: (visits) => (visits >= 9_995 ? `${Math.round(visits / 1_000)}k` : String(visits)),
  policy: (share) => (share < 0.005 ? "0%" : `${Math.round(100 * share)}%`),
};

// Draws the evaluation and its badges again, after a change of the hint or of the buttons.
export const redrawBadges = () => table && showAnalysis(table);

// Puts the chosen number on each card and button that can be clicked, and the mark of a hint. The best action has a star.
function showBadges(data) {
  for (const badge of document.querySelectorAll("#felt .evaluation")) badge.remove();
  for (const element of document.querySelectorAll("#felt [data-words]")) {
    if (element.dataset.words) element.setAttribute("aria-label", element.dataset.words);
    else element.removeAttribute("aria-label");
    element.removeAttribute("data-words");
  }
  const rows = new Map((measure && data ? data.rows : []).filter((row) => row[measure] !== null).map((row) => [row.action, row]));
  for (const element of document.querySelectorAll("#felt .act")) {
    const offered = (element.dataset.actions ?? element.dataset.action ?? "").split(" ").filter(Boolean).map(Number);
    const evaluated = offered.map((action) => rows.get(action)).filter(Boolean);
    const row = evaluated.find(({ action }) => action === data.best) ?? evaluated.reduce((a, b) => (a && a[measure] >= b[measure] ? a : b), null);
    const mark = hintMark(offered);
    if (!row && !mark) continue;
    const isBest = mark === "best" || Boolean(row && row.action === data.best);
    const text = row ? FORMATS[measure](row[measure], data.scale ?? [-1, 1]) : "";
    const words = element.getAttribute("aria-label");
    const notes = [row && `${measure} ${text}`, mark === "candidate" && "worth a thought", isBest && "best"].filter(Boolean);
    element.dataset.words = words ?? "";
    element.setAttribute("aria-label", `${words ?? element.textContent}, ${notes.join(", ")}`);
    const kind = `evaluation${isBest ? " best" : ""}${mark ? " hinted" : ""}${row ? "" : " bare"}`;
    element.append(make("span", { class: kind, "aria-hidden": "true" }, `${isBest ? "★" : mark ? "?" : ""}${text}`));
  }
  document.body.classList.toggle("badged", Boolean(measure && source));
  document.body.classList.toggle("hinting", Boolean(document.querySelector("#felt .evaluation.bare")));
  $("evaluated").replaceChildren(...(rows.size ? actions(data) : []));
  if (measure && data?.rows.length && !rows.size) {
    $("expected").append(` ${nameOf(data.spec)} reports no ${measure === "policy" ? "policy" : measure === "value" ? "values of actions" : "visits"}.`);
    $("expected").hidden = false;
  }
}
