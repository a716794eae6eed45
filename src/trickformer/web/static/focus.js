// Keeps the focus of people who play by keys, although each action draws the table anew: the status line has it while
// others decide, and at the next own decision the action nearest to the last one.

import { $, all } from "./dom.js";

let isByKey = false; // whether the last input was a key
/** @type {[x: number, y: number] | null} */
let place = null; // middle of the element of the table that had the focus last

export function initFocus() {
  document.addEventListener("pointerdown", () => { [isByKey, place] = [false, null]; }, true);
  document.addEventListener("keydown", () => { isByKey = true; }, true);
}

/** @param {Element} element @returns {[x: number, y: number]} */
function middleOf(element) {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return [(left + right) / 2, (top + bottom) / 2];
}

// Remembers where the focus is, before the table is drawn.
export function rememberFocus() {
  const focused = document.activeElement;
  if (isByKey && focused?.closest("#felt") && focused !== $("status")) place = middleOf(focused);
}

/**
 * Returns the focus to the table after it is drawn, if the table had it.
 * @param {boolean} isMine whether the reader decides now
 */
export function restoreFocus(isMine) {
  if (!place || ![document.body, $("status")].includes(/** @type {HTMLElement} */ (document.activeElement))) return;
  const [x, y] = place;
  /** @param {Element} element */
  const distance = (element) => Math.hypot(middleOf(element)[0] - x, middleOf(element)[1] - y);
  const actions = isMine ? all("#felt .act").filter((element) => element.offsetParent !== null) : [];
  const nearest = actions.sort((a, b) => distance(a) - distance(b))[0] ?? $("status");
  nearest.focus({ preventScroll: true });
}
