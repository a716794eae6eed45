// The arrow keys move the focus between the actions that can be clicked.

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

// Handles a key. Returns whether it is an arrow.
export function moveFocus(event) {
  const step = STEPS[event.key];
  if (!step) return false;
  const focusable = [...document.querySelectorAll("#felt .act")].filter((element) => element.offsetParent !== null);
  if (!focusable.length) return true;
  const at = focusable.indexOf(document.activeElement);
  focusable[at < 0 ? (step > 0 ? 0 : focusable.length - 1) : (at + step + focusable.length) % focusable.length].focus();
  event.preventDefault();
  return true;
}

// Returns whether a key belongs to an element of its own, such as a text field, or to the browser.
export const isElsewhere = (event) => event.ctrlKey || event.altKey || event.metaKey || Boolean(event.target.closest("input, select, dialog, pre, #log"));
