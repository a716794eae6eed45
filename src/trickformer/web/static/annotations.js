// A person's own notes on cards that lie in a hand: a right click, a long press or the key n opens a field for the text.

/** @import { Card, TableMessage } from "../types/messages" */

import { $, all, openDialog } from "./dom.js";
import { handKey } from "./format.js";
import { cancelOptions } from "./gestures.js";
import { onSecondPress } from "./press.js";
import { send } from "./socket.js";

/** @type {TableMessage | null} */
let table = null;

/** @returns {(Card & { order: number })[]} */
const heldCards = () => (table?.scene.seats ?? []).flatMap(({ cards = [] }) => cards.flatMap((card) => (typeof card.order === "number" ? { ...card, order: card.order } : [])));

/**
 * Finds the card that an event is about, if the reader can write on it.
 * @param {Event} event
 */
function cardOf({ target }) {
  const element = target instanceof Element ? target.closest("#felt .seat > .hand > .card[data-order]") : null;
  return element instanceof HTMLElement && table?.you !== null ? heldCards().find(({ order }) => String(order) === element.dataset.order) : undefined;
}

/**
 * Focuses a card, which may have been drawn anew while its field was open.
 * @param {number} order
 */
const focusCard = (order) => all(`#felt .seat > .hand > .card[data-order="${order}"]`)[0]?.focus({ preventScroll: true });

/**
 * Opens the field for the text on a card.
 * @param {Card & { order: number }} card
 */
function openField({ words, order, annotation }) {
  if (!table || table.you === null || table.scores || $("annotation").open) return;
  const { deal, you: seat } = table;
  cancelOptions();
  $("annotation-card").textContent = words ?? "";
  $("annotation-text").value = annotation ?? "";
  $("annotation").addEventListener("close", () => focusCard(order), { once: true });
  openDialog($("annotation"), () => send({ do: "annotate", deal, seat, card: order, text: $("annotation-text").value }));
  $("annotation-text").select();
}

/**
 * Handles a key. Returns whether it opens the field; at the end of a hand it deals the next one.
 * @param {KeyboardEvent} event
 */
export function pressAnnotate(event) {
  const card = event.key === "n" && !table?.scores ? cardOf(event) : undefined;
  if (!card) return false;
  event.preventDefault(); // the letter would be typed
  openField(card);
  return true;
}

export const initAnnotations = () => onSecondPress($("felt"), cardOf, openField);

/**
 * Takes the table that the page shows. Every card that the reader can write on can have the focus, and the card that had
 * it before the table was drawn has it again.
 * @param {TableMessage} newTable
 * @param {string | undefined} focused its place in the order of drawing
 */
export function updateAnnotations(newTable, focused) {
  if (table && handKey(table) !== handKey(newTable)) $("annotation").close();
  table = newTable;
  if (table.you === null || table.scores) return;
  for (const element of all("#felt .seat > .hand > .card[data-order]")) {
    element.setAttribute("aria-keyshortcuts", "n");
    if (!element.classList.contains("act")) element.tabIndex = 0;
    if (element.dataset.order === focused) element.focus({ preventScroll: true });
  }
}

// Returns the place in the order of drawing of the card that has the focus.
export const focusedOrder = () => (document.activeElement instanceof HTMLElement ? document.activeElement.dataset.order : undefined);
