// Dragging a card out of one's own hand onto the table, by mouse, pen or finger. A short movement stays a click.

import { $, all } from "./dom.js";
import { findDrop } from "./gestures.js";
import { returnCard } from "./motion.js";
import { SLACK } from "./press.js";

/** @type {{ card: HTMLElement, id: number, start: [x: number, y: number], isMoving: boolean } | null} */
let drag = null; // the card under a pressed pointer
let isClickDue = false; // whether the browser may still send a click after a drag

/** @param {PointerEvent} event */
function begin(event) {
  isClickDue = false;
  if (!event.isPrimary || event.button !== 0 || !(event.target instanceof Element)) return;
  const card = event.target.closest("#own .seat > .hand > button.card.act");
  if (card instanceof HTMLElement) drag = { card, id: event.pointerId, start: [event.clientX, event.clientY], isMoving: false };
}

/**
 * Finds what happens when the card is released; null if it only returns to the hand.
 * @param {HTMLElement} card
 * @param {PointerEvent} event
 */
const dropAt = (card, { clientX, clientY }) =>
  findDrop(card, document.elementsFromPoint(clientX, clientY).find((element) => !card.contains(element)));

/** @param {PointerEvent} event */
function move(event) {
  if (drag?.id !== event.pointerId) return;
  const { card, start: [x, y] } = drag;
  const shift = [event.clientX - x, event.clientY - y];
  if (!drag.isMoving && Math.hypot(...shift) < SLACK) return;
  if (!card.isConnected || all("dialog[open]").length) { // the table was drawn anew, or a long press opened a note
    end();
    return;
  }
  if (!drag.isMoving) card.setPointerCapture(event.pointerId);
  drag.isMoving = true;
  card.classList.add("dragged");
  card.style.translate = `${shift[0]}px ${shift[1]}px`;
  card.classList.toggle("droppable", dropAt(card, event) !== null);
}

// Ends a drag. The card returns to the hand; if it was played, its flight to the table begins where it is then.
function end() {
  if (!drag) return;
  const { card, isMoving } = drag;
  drag = null;
  if (!isMoving) return;
  isClickDue = true;
  const from = card.style.translate;
  card.classList.remove("dragged", "droppable");
  card.style.translate = "";
  returnCard(card, from);
}

/** @param {PointerEvent} event */
function release(event) {
  if (drag?.id !== event.pointerId) return;
  move(event);
  const drop = drag?.isMoving ? dropAt(drag.card, event) : null;
  end();
  drop?.();
}

/**
 * Keeps an event of another gesture from the page during a drag.
 * @param {Event} event
 */
function suppress(event) {
  event.preventDefault();
  event.stopPropagation();
}

export function initDrag() {
  $("own").classList.add("draggable");
  $("own").addEventListener("pointerdown", begin);
  $("own").addEventListener("dragstart", (event) => event.preventDefault()); // the browser's own drag of selected text
  document.addEventListener("pointerdown", () => { isClickDue = false; }, true);
  document.addEventListener("pointermove", move);
  document.addEventListener("pointerup", release);
  document.addEventListener("pointercancel", ({ pointerId }) => drag?.id === pointerId && end());
  document.addEventListener("contextmenu", (event) => drag?.isMoving && suppress(event), true);
  document.addEventListener("click", (event) => {
    if (!event.detail) return; // a key or a drop
    if (isClickDue) suppress(event);
    isClickDue = false;
  }, true);
  document.addEventListener("keydown", (event) => {
    if (!drag?.isMoving) return;
    suppress(event);
    if (event.key === "Escape") end();
  }, true);
}
