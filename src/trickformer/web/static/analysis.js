// The evaluation of the person's decision by the chosen source: a panel whose player values positions.

import { $, make } from "./dom.js";
import { TITLES, formatValue } from "./panels.js";
import { nameOf } from "./table.js";

const SOURCES = ["model", "search", "pimc"];

let source = localStorage.getItem("source") ?? "";
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
}

// Shows the evaluation of the table's decision if it is known, and the last one while others are on turn.
export function showAnalysis(newTable) {
  table = newTable;
  showSources(table.panels);
  const isCurrent = latest && latest.ply === table.ply && table.turn === table.me;
  if (isCurrent) shown = { deal: table.deal, ply: table.ply };
  const isEarlier = latest && shown?.ply === latest.ply && shown.deal === table.deal && shown.ply <= table.ply;
  showGauge(table.scores || !(isCurrent || isEarlier) ? null : latest.data, isCurrent);
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
  $("source").parentElement.hidden = !names.length;
}

const signed = (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${formatValue(Math.abs(value))}`;
const end = (value) => `${value < 0 ? "−" : value > 0 ? "+" : ""}${Math.round(Math.abs(value))}`;

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
  const words = `${signed(data.value)} ${data.unit}, expected by ${nameOf(data.spec)}${when}. The bar goes from ${end(low)} to ${end(high)}.`;
  const [now, top, track, bottom] = $("gauge").children;
  [now.textContent, top.textContent, bottom.textContent] = [signed(data.value), end(high), end(low)];
  track.style.setProperty("--share", share(data.value));
  track.style.setProperty("--zero", share(0));
  track.classList.toggle("signed", low < 0 && high > 0);
  for (const [name, value] of Object.entries({ valuemin: low, valuemax: high, valuenow: data.value, valuetext: words })) $("gauge").setAttribute(`aria-${name}`, value);
  $("gauge").title = words;
  $("expected").textContent = words;
}
