// A person's own flags on the closed cells of a board: a right click, a long press or the key f sets and removes one. A click
// on a flagged cell opens nothing. The flags stay in this tab of the browser until the next hand.

/** @import { TableMessage } from "../types/messages" */

import { $, all, draw } from "./dom.js";
import { handKey } from "./format.js";
import { onSecondPress } from "./press.js";

const SHAPE = "M6 2v16M6 3l10 4-10 4z";

/** @type {TableMessage | null} */
let table = null;
/** @type {Set<number>} */
let flags = new Set(); // actions of the flagged cells

/** @param {TableMessage} shown */
const keyOf = (shown) => `${location.pathname} ${shown.game} ${handKey(shown)}`;

/** @param {TableMessage} shown @returns {Set<number>} */
function storedFlags(shown) {
  const { key, actions } = JSON.parse(sessionStorage.getItem("flags") ?? "{}");
  return new Set(key === keyOf(shown) ? actions : []);
}

/**
 * Finds the closed cell that an event is about.
 * @param {Event} event
 */
function cellOf({ target }) {
  const element = target instanceof Element ? target.closest("#board .cell[data-action]") : null;
  return element instanceof HTMLElement && table?.you !== null ? element : null;
}

/**
 * Shows or removes the flag on a cell. Words that the badges keep for later also name it.
 * @param {HTMLElement} element
 * @param {boolean} isFlagged
 */
function showFlag(element, isFlagged) {
  if (element.classList.contains("flagged") === isFlagged) return;
  element.classList.toggle("flagged", isFlagged);
  for (const name of ["aria-label", "data-words"]) {
    const words = element.getAttribute(name);
    if (words) element.setAttribute(name, isFlagged ? `flag, ${words}` : words.replace("flag, ", ""));
  }
  if (isFlagged) element.prepend(draw("svg", { class: "flag", viewBox: "0 0 20 20", "aria-hidden": "true" }, draw("path", { d: SHAPE })));
  else element.querySelector(".flag")?.remove();
}

function showFlags() {
  if (!table?.scene.mines) return;
  const cells = all("#board .cell[data-action]");
  const flagged = cells.filter(({ dataset }) => flags.has(Number(dataset.action)));
  for (const cell of cells) showFlag(cell, flagged.includes(cell));
  const features = table.scene.features ?? [];
  $("features").textContent = [...features, `${flagged.length} of ${table.scene.mines} mines flagged`].join(" · ");
}

/** @param {HTMLElement} cell */
function toggleFlag({ dataset }) {
  if (!table) return;
  const action = Number(dataset.action);
  if (!flags.delete(action)) flags.add(action);
  sessionStorage.setItem("flags", JSON.stringify({ key: keyOf(table), actions: [...flags] }));
  showFlags();
}

/**
 * Handles a key. Returns whether it sets or removes a flag.
 * @param {KeyboardEvent} event
 */
export function pressFlag(event) {
  const cell = event.key === "f" ? cellOf(event) : null;
  if (cell) toggleFlag(cell);
  return Boolean(cell);
}

/**
 * Takes the table that the page shows.
 * @param {TableMessage} newTable
 */
export function updateFlags(newTable) {
  if (!table || keyOf(table) !== keyOf(newTable)) flags = storedFlags(newTable);
  table = newTable;
  showFlags();
}

export function initFlags() {
  onSecondPress($("board"), cellOf, toggleFlag);
  $("board").addEventListener("click", (event) => {
    if (cellOf(event)?.classList.contains("flagged")) event.stopPropagation();
  }, true);
}
