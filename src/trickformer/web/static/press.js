// The second gesture on an element, beside a click: a right click, or a long press of a finger or pen.

const PRESS = 500; // milliseconds of a long press
export const SLACK = 8; // pixels of a movement that ends a press, and begins to drag a card

/**
 * Calls a function after a right click or a long press. No click follows a long press.
 * @template T
 * @param {HTMLElement} root
 * @param {(event: Event) => T | null | undefined} find returns what an event is about, if the gesture means anything there
 * @param {(found: T) => void} act
 */
export function onSecondPress(root, find, act) {
  let timer = 0;
  let start = [0, 0];
  let isPressed = false; // whether the last press was long
  const endPress = () => clearTimeout(timer);
  root.addEventListener("contextmenu", (event) => {
    const found = find(event);
    if (!found) return;
    event.preventDefault();
    endPress();
    if (!isPressed) act(found); // some browsers send this event after a long press, too
    isPressed = event.button !== 2;
  });
  root.addEventListener("pointerdown", (event) => {
    endPress();
    isPressed = false;
    const found = event.pointerType === "mouse" ? null : find(event);
    if (!found) return;
    start = [event.clientX, event.clientY];
    timer = setTimeout(() => {
      isPressed = true;
      act(found);
    }, PRESS);
  });
  document.addEventListener("pointermove", ({ clientX, clientY }) => Math.hypot(clientX - start[0], clientY - start[1]) >= SLACK && endPress());
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, endPress);
  root.addEventListener("click", (event) => {
    if (isPressed && event.detail) event.stopPropagation(); // a key has no detail
    isPressed = false;
  }, true);
}
