// The report of a run: tables with their explanations, and notes.

/** @import { Report, ReportSection } from "../types/messages" */

import { $, make } from "./dom.js";
import { scrolled } from "./tables.js";

/** @param {Report} report */
export function showReport(report) {
  $("run").hidden = false;
  $("run-title").textContent = report.heading;
  $("conclusion").textContent = report.conclusion;
  $("specs").replaceChildren(...report.names.flatMap(([name, spec]) => (name === spec ? [make("dt", {}, name)] : [make("dt", {}, name), make("dd", {}, spec)])));
  $("tables").replaceChildren(...report.sections.map(sectionElement));
  $("remarks").replaceChildren(...report.notes.map((note) => make("li", {}, note)));
}

/** @param {ReportSection} section @param {number} i */
function sectionElement({ title, head, rows, key, folded }, i) {
  const table = scrolled(title || "Result", tableElement(head, rows));
  const parts = [table, make("p", { class: "keys" }, key)];
  if (folded) return make("details", {}, make("summary", {}, title), ...parts);
  return make("section", { "aria-label": title || `Table ${i + 1}` }, title ? make("h3", {}, title) : null, ...parts);
}

/** @param {string[]} head @param {string[][]} rows */
function tableElement(head, rows) {
  return make("table", {}, make("thead", {}, make("tr", {}, ...head.map((text) => (text ? make("th", { scope: "col" }, text) : make("td"))))),
    make("tbody", {}, ...rows.map(([first, ...cells]) => make("tr", {}, make("th", { scope: "row" }, first), ...cells.map((cell) => make("td", {}, cell))))));
}
