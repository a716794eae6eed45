// The motion of the table. It delays nothing: the page is in its final state while it runs.

/** @import { Effect, Scene, TableMessage, TrickCard } from "../types/messages" */
/** @typedef {{ find: () => Element | null | undefined, from: DOMRect | undefined }} Flight `find` finds the card where it lands */

import { $, all, make } from "./dom.js";
import { handKey } from "./format.js";
import { playSounds } from "./sound.js";
import { isMyTurn } from "./table.js";

const FLIGHT = 300; // milliseconds that a card travels
const REST = 350; // milliseconds that a complete trick lies before it is collected
const GLOW = 1_200; // milliseconds that the cards of a hint are lit
const EASING = "cubic-bezier(0.2, 0.7, 0.3, 1)";

/** @type {Set<Animation>} */
const running = new Set(); // animations that a click ends

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const isSwitchedOn = () => localStorage.getItem("motion") !== "off"; // pages without the switch follow the table
const canMove = () => isSwitchedOn() && !reduced.matches;

export function initMotion() {
  $("motion").checked = isSwitchedOn();
  const showReduced = () => { $("reduced").hidden = !reduced.matches; };
  reduced.addEventListener("change", showReduced);
  showReduced();
  $("motion").addEventListener("change", () => localStorage.setItem("motion", $("motion").checked ? "on" : "off"));
}

// Ends all motion at once.
export function skipMotion() {
  for (const animation of [...running]) animation.finish();
}

/** @param {Element | null | undefined} element */
const boxOf = (element) => element?.getBoundingClientRect();

/** @param {number} seat */
const handOf = (seat) => document.querySelector(`#felt .seat[data-seat="${seat}"] > .hand`);

/** @param {number} seat */
const seatBox = (seat) => boxOf(handOf(seat) ?? document.querySelector(`#felt .seat[data-seat="${seat}"]`));

/**
 * The element of a pile in the middle of the table.
 * @param {Scene} scene
 * @param {number} place its place in the scene
 */
function pileAt({ piles = [] }, place) {
  const middle = piles.filter(({ seat }) => seat === undefined || seat === null);
  return $("piles").children[middle.indexOf(piles[place])];
}

const TRICK_CARDS = "#trick .played";

/**
 * The new cards of a trick.
 * @param {TrickCard[]} shown cards of the trick
 * @param {TrickCard[]} known cards that lay there before
 * @returns {Flight[]}
 */
function trickFlights(shown, known) {
  return shown.flatMap(({ seat, card }, place) => {
    if (known.some((other) => other.seat === seat && other.card.name === card.name)) return [];
    const held = document.querySelector(`#own .seat[data-seat="${seat}"] .card[data-name="${CSS.escape(card.name ?? "")}"] svg`);
    return { find: () => all(TRICK_CARDS)[place], from: boxOf(held) ?? seatBox(seat) };
  });
}

/**
 * The card that leaves a hand for a pile, and the card that is drawn instead.
 * @param {Scene} scene scene after the action
 * @param {Scene} before
 * @param {Effect} effect
 * @returns {Flight[]}
 */
function pileFlights(scene, before, { seat, places, pile, at = 0, source }) {
  if (pile === undefined || pile === null) return [];
  /** @type {Flight[]} */
  const flights = [{ find: () => pileAt(scene, pile)?.querySelectorAll(".card")[at], from: boxOf(handOf(seat)?.children[places[0]]?.firstElementChild) ?? seatBox(seat) }];
  if (source !== undefined && source !== null)
    flights.push({ find: () => handOf(seat)?.lastElementChild, from: boxOf(pileAt(before, source)?.querySelector(".card svg")) });
  return flights;
}

/**
 * Compares two tables, before the second is drawn: which cards move, where they come from, who takes the trick, and which
 * cards a hint names.
 * @param {TableMessage | null} before
 * @param {TableMessage} table
 */
export function planMotion(before, table) {
  if (!before || handKey(before) !== handKey(table) || table.ply <= before.ply) return null;
  const isComplete = !table.scene.trick?.length;
  const shown = (isComplete ? table.scene.last : table.scene.trick) ?? [];
  const known = [...(before.scene.trick ?? []), ...(isComplete && !before.scene.trick?.length ? before.scene.last ?? [] : [])];
  const { effect } = table.scene;
  const tricks = trickFlights(shown, known);
  return {
    flights: effect ? [...tricks, ...pileFlights(table.scene, before.scene, effect)] : tricks,
    named: effect && (effect.pile === undefined || effect.pile === null) ? effect : null,
    taker: isComplete && tricks.length ? table.scene.taker : undefined,
    isTurn: isMyTurn(table) && !isMyTurn(before),
  };
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
  for (const { find, from } of plan.flights) {
    const card = find();
    const to = boxOf(card);
    if (card && from?.width && to?.width) run(card, [{ transform: shift(to, from), zIndex: 4 }, { transform: "none", zIndex: 4 }], { duration: FLIGHT });
  }
  const cards = plan.named ? handOf(plan.named.seat)?.children : undefined;
  for (const place of plan.named?.places ?? []) if (cards?.[place]) light(cards[place]);
  const target = taker === null ? null : seatBox(taker);
  if (target?.width) collect(all(TRICK_CARDS), target);
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

/**
 * Lights a card that a hint names, for a moment.
 * @param {Element} card
 */
function light(card) {
  const lit = { outline: "4px solid var(--felt-gold)", boxShadow: "0 0 1rem var(--felt-gold)" };
  run(card, [lit, { ...lit, offset: 0.6 }, { outline: "4px solid transparent", boxShadow: "none" }], { duration: GLOW });
}

/**
 * Moves a dragged card back to its place.
 * @param {HTMLElement} card
 * @param {string} from its place before, as the property `translate`
 */
export function returnCard(card, from) {
  if (canMove()) run(card, [{ translate: from, zIndex: 6 }, { translate: "none", zIndex: 6 }], { duration: FLIGHT });
}

/** @param {Element} element @param {Keyframe[]} frames @param {KeyframeAnimationOptions} options */
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
