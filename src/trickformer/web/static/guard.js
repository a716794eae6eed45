// Keeps input that was meant for the last position from deciding the one that has just appeared: the second click of a
// double click, a click that began before the position was shown, and the repetitions of a held key.

const DOUBLE_CLICK = 500; // milliseconds in which a click near the last one belongs to it, whatever the browser counts
const NEAR = 16; // pixels within which two clicks are at the same place
const DECISIONS = ".act, #confirm, #next, #again, #proceed";
const KEYS = new Set(["Enter", " ", "u", "h", "l", "n", "f"]);

let position = ""; // key of the position that is shown
let pressed = ""; // position at the last press of the pointer
let first = { position: "", x: 0, y: 0, time: -Infinity }; // last click that was no repetition

/**
 * Takes the position that the page shows from now on.
 * @param {string} key differs for each position
 */
export function notePosition(key) {
  position = key;
}

/** @param {MouseEvent} event */
function isStray({ detail, clientX, clientY, timeStamp }) {
  if (pressed !== position) return true;
  if (first.position === position) return false;
  const isNear = Math.hypot(clientX - first.x, clientY - first.y) <= NEAR;
  return detail > 1 || (isNear && timeStamp - first.time < DOUBLE_CLICK);
}

/** @param {Event} event */
function suppress(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

// Sets up the guard. The page calls this before it adds listeners of its own.
export function initGuard() {
  document.addEventListener("pointerdown", () => { pressed = position; }, true);
  document.addEventListener("click", (event) => {
    if (!event.detail) return; // a key, or a card that was dropped
    const isDecision = event.target instanceof Element && event.target.closest(DECISIONS);
    if (isDecision && isStray(event)) suppress(event);
    else if (event.detail === 1) first = { position: pressed, x: event.clientX, y: event.clientY, time: event.timeStamp };
  }, true);
  document.addEventListener("keydown", (event) => {
    const isText = event.target instanceof Element && event.target.closest("input, textarea, select");
    if (event.repeat && KEYS.has(event.key) && !isText) suppress(event);
  }, true);
}
