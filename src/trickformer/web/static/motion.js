// The motion of the table. It delays nothing: the page is in its final state while it runs.

/** @import { TableMessage, TrickCard } from "../types/messages" */
/** @typedef {{ played: TrickCard, place: number, from: DOMRect | undefined }} Flight */

import { $, all, make } from "./dom.js";
import { playSounds } from "./sound.js";
import { isMyTurn } from "./table.js";

const FLIGHT = 300; // milliseconds that a card travels
const REST = 350; // milliseconds that a complete trick lies before it is collected
const EASING = "cubic-bezier(0.2, 0.7, 0.3, 1)";

/** @type {Set<Animation>} */
const running = new Set(); // animations that a click ends

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const canMove = () => $("motion").checked && !reduced.matches;

export function initMotion() {
  $("motion").checked = localStorage.getItem("motion") !== "off";
  const showReduced = () => { $("reduced").hidden = !reduced.matches; };
  reduced.addEventListener("change", showReduced);
  showReduced();
  $("motion").addEventListener("change", () => localStorage.setItem("motion", $("motion").checked ? "on" : "off"));
}

// Ends all motion at once.
export function skipMotion() {
  for (const animation of [...running]) animation.finish();
}

/** @param {number} seat */
const seatBox = (seat) => (document.querySelector(`#felt .seat[data-seat="${seat}"] .hand`) ?? document.querySelector(`#felt .seat[data-seat="${seat}"]`))?.getBoundingClientRect();

/**
 * Compares two tables, before the second is drawn: which cards are new, where they come from, and who takes the trick.
 * @param {TableMessage | null} before
 * @param {TableMessage} table
 */
export function planMotion(before, table) {
  if (!before || before.deal !== table.deal || table.ply <= before.ply) return null;
  const isComplete = !table.scene.trick?.length;
  const shown = (isComplete ? table.scene.last : table.scene.trick) ?? [];
  /** @param {TrickCard} a @param {TrickCard} b */
  const isSame = (a, b) => a.seat === b.seat && a.card.name === b.card.name;
  const known = [...(before.scene.trick ?? []), ...(isComplete && !before.scene.trick?.length ? before.scene.last ?? [] : [])];
  /** @type {Flight[]} */
  const flights = [];
  for (const [place, played] of shown.entries()) {
    if (known.some((other) => isSame(other, played))) continue;
    const { seat, card } = played;
    const held = document.querySelector(`#own .seat[data-seat="${seat}"] .card[data-name="${CSS.escape(card.name ?? "")}"] svg`);
    flights.push({ played, place, from: held?.getBoundingClientRect() ?? seatBox(seat) });
  }
  return { flights, taker: isComplete && flights.length ? table.scene.taker : undefined, isTurn: isMyTurn(table) && !isMyTurn(before) };
}

/**
 * Moves the cards of a plan, after the table is drawn.
 * @param {ReturnType<typeof planMotion>} plan
 */
export function playMotion(plan) {
  if (!plan) return;
  const taker = plan.taker ?? null;
  playSounds(["card"]);
  if (taker !== null) playSounds(["trick"]);
  if (plan.isTurn) playSounds(["turn"]);
  if (!canMove()) return;
  const figures = all(".played", $("trick"));
  for (const { place, from } of plan.flights) {
    const to = figures[place]?.getBoundingClientRect();
    if (from?.width && to?.width) run(figures[place], [{ transform: shift(to, from) }, { transform: "none" }], { duration: FLIGHT });
  }
  const target = taker === null ? null : seatBox(taker);
  if (target?.width) collect(figures, target);
}

/**
 * The transform that lays a box onto another one, at a smaller size.
 * @param {DOMRect} box
 * @param {DOMRect} onto
 */
function shift(box, onto) {
  const [x, y] = [onto.left + onto.width / 2 - box.left - box.width / 2, onto.top + onto.height / 2 - box.top - box.height / 2];
  return `translate(${x}px, ${y}px)`;
}

/** @param {HTMLElement} element @param {Keyframe[]} frames @param {KeyframeAnimationOptions} options */
function run(element, frames, options) {
  const animation = element.animate(frames, { easing: EASING, ...options });
  running.add(animation);
  animation.onfinish = animation.oncancel = () => running.delete(animation);
  return animation;
}

/**
 * Sends copies of the trick's cards to the seat that took it. The trick itself stays, pale, until the next card.
 * @param {HTMLElement[]} figures
 * @param {DOMRect} target
 */
function collect(figures, target) {
  const copies = make("div", { class: "flying", "aria-hidden": "true" });
  document.body.append(copies);
  const flying = figures.map((figure) => {
    const box = figure.getBoundingClientRect();
    const copy = /** @type {HTMLElement} */ (figure.cloneNode(true));
    Object.assign(copy.style, { position: "fixed", left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px` });
    copies.append(copy);
    const animation = run(copy, [{ transform: "none", opacity: 0.9 }, { transform: `${shift(box, target)} scale(0.45)`, opacity: 0.2 }],
      { duration: FLIGHT, delay: FLIGHT + REST, fill: "backwards" });
    return { copy, animation };
  });
  for (const { copy } of flying) copy.style.visibility = "hidden"; // until the last card has landed
  const reveal = setTimeout(() => { for (const { copy } of flying) copy.style.visibility = ""; }, FLIGHT + REST);
  Promise.allSettled(flying.map(({ animation }) => animation.finished)).then(() => {
    clearTimeout(reveal);
    copies.remove();
  });
}
