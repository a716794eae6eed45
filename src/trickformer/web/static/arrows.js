// The arrow keys move the focus between the actions that can be clicked.

import { all, isPageKey } from "./dom.js";

const STEPS = new Map([["ArrowRight", 1], ["ArrowDown", 1], ["ArrowLeft", -1], ["ArrowUp", -1]]);

/**
 * Handles a key. Returns whether it is an arrow.
 * @param {KeyboardEvent} event
 */
export function moveFocus(event) {
  const step = STEPS.get(event.key);
  if (!step) return false;
  const focusable = all("#felt .act").filter((element) => element.offsetParent !== null);
  if (!focusable.length) return true;
  const at = focusable.findIndex((element) => element === document.activeElement);
  focusable[at < 0 ? (step > 0 ? 0 : focusable.length - 1) : (at + step + focusable.length) % focusable.length].focus();
  event.preventDefault();
  return true;
}

/**
 * Returns whether a key belongs to an element of its own, such as a text field, or to the browser.
 * @param {KeyboardEvent} event
 */
export const isElsewhere = (event) => !isPageKey(event, "input, select, dialog, pre, #log");
