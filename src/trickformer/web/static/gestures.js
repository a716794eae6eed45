// What a click on a card of the hand does: it plays the card, chooses it among several, or offers its uses. Dragging the card
// onto the table plays or chooses it too; in Hanabi the pile where it lands decides its use.

/** @import { Card, Option, Scene } from "../types/messages" */
/** @import { Act } from "../types/page" */

import { $, make } from "./dom.js";
import { isLegal } from "./scene.js";

/** @type {number[]} */
let chosen = []; // actions of the chosen cards, in the order of the clicks
/** @type {{ element: HTMLElement, options: Option[], option: Option | null } | null} */
let open = null; // the card whose uses are offered
/** @type {Act} */
let act; // function that takes the actions of a decision
/** @type {Scene} */
let scene;
/** @type {WeakMap<Element, Card>} */
const shownCards = new WeakMap(); // cards that can be used, by their elements
let afterOffer = () => {}; // called when the uses of a card are offered

/** @param {() => void} callback */
export const onOffer = (callback) => { afterOffer = callback; };

/**
 * Forgets what was chosen, and sets up the gestures of a scene. Returns the elements that go below the table.
 * @param {Scene} newScene
 * @param {Act} newAct
 */
export function initGestures(newScene, newAct) {
  [scene, act, chosen, open] = [newScene, newAct, [], null];
  const offer = make("div", { id: "offer", class: "group", role: "group", "aria-label": "Uses of the card", hidden: true });
  if (!scene.pick) return [offer];
  return [make("button", { id: "confirm", class: "choice main", disabled: true, click: () => act([...chosen].sort((a, b) => a - b)) }, pickWords())];
}

function pickWords() {
  const words = scene.confirm ?? "";
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} (${chosen.length} of ${scene.pick})`;
}

/** @param {Card} card */
export const isActive = (card) => isLegal(card) || Boolean(card.options?.length);

/**
 * Lets a card be clicked and dragged.
 * @param {HTMLElement} element
 * @param {Card} card card that can be used
 * @param {number} [seat] holder of the card; undefined if it lies on the table
 */
export function enableCard(element, card, seat) {
  shownCards.set(element, card);
  element.addEventListener("click", () => clickCard(element, card, seat));
}

/**
 * Returns the effect of dropping a card; null if the card only returns to the hand. If piles have uses, as in Hanabi, a card
 * with several uses can only be dropped there.
 * @param {HTMLElement} element
 * @param {Element | undefined} place element of the page below the card
 */
export function findDrop(element, place) {
  const options = shownCards.get(element)?.options ?? [];
  if (!place?.closest("#felt") || place.closest("#own")) return null;
  if (!options.length || !scene.piles?.some(({ use }) => use)) return () => element.click();
  const pile = place.closest(".pile");
  const option = pile instanceof HTMLElement && options.find(({ words }) => words === pile.dataset.use);
  return option ? () => act(option.actions) : null;
}

/**
 * @param {HTMLElement} element
 * @param {Card} card
 * @param {number} [seat]
 */
function clickCard(element, card, seat) {
  if (card.options?.length) offerOptions(element, card, card.options, seat);
  else if (!isLegal(card)) return;
  else if (scene.pick && seat !== undefined) toggle(element, card.action, scene.pick);
  else act([card.action]);
}

/**
 * @param {HTMLElement} element
 * @param {number} action
 * @param {number} pick number of cards that are chosen together
 */
function toggle(element, action, pick) {
  if (chosen.includes(action)) chosen = chosen.filter((other) => other !== action);
  else chosen = [...chosen, action].slice(-pick); // one card too many replaces the first
  for (const card of element.parentElement?.querySelectorAll("button") ?? []) card.setAttribute("aria-pressed", String(chosen.includes(Number(card.dataset.action))));
  const isComplete = chosen.length === pick;
  $("confirm").disabled = !isComplete;
  $("confirm").classList.toggle("act", isComplete);
  $("confirm").textContent = pickWords();
  if (isComplete) $("confirm").focus({ preventScroll: true }); // Enter confirms
}

/**
 * @param {HTMLElement} element
 * @param {Card} card
 * @param {Option[]} options
 * @param {number} [seat]
 */
function offerOptions(element, card, options, seat) {
  if (open?.option && open.element === element && options.length > 1) {
    choose(options[(options.indexOf(open.option) + 1) % options.length]);
    return;
  }
  closeOptions();
  open = { element, options, option: null };
  element.setAttribute("aria-pressed", "true");
  const isHint = Boolean(options[0].lights);
  const buttons = options.map((option) => make("button", {
    class: "choice act", "data-actions": option.actions[0], "aria-pressed": isHint ? "false" : undefined, click: () => (isHint ? choose(option) : act(option.actions)),
  }, option.words));
  const give = isHint ? [make("button", { id: "give", class: "choice act main", click: () => open?.option && act(open.option.actions) }, "Give the hint")] : [];
  const cancel = make("button", { class: "choice act", click: cancelOptions }, "Cancel");
  $("offer").replaceChildren(make("h3", {}, isHint ? `Hint to seat ${seat}` : card.words ?? ""),
    make("div", { class: "row" }, ...buttons, ...give, cancel));
  $("offer").hidden = false;
  if (isHint) choose(options[0]);
  afterOffer();
  (isHint ? $("give") : buttons[0]).focus();
}

/**
 * Chooses a hint: the cards that it names are lit before it is given.
 * @param {Option} option
 */
function choose(option) {
  if (!open) return;
  const { element, options } = open;
  open.option = option;
  [...$("offer").querySelectorAll(".row button")].slice(0, options.length)
    .forEach((button, i) => button.setAttribute("aria-pressed", String(options[i] === option)));
  [...(element.parentElement?.children ?? [])].forEach((card, i) => {
    card.classList.toggle("lit", Boolean(option.lights?.includes(i)));
    card.classList.toggle("unlit", !option.lights?.includes(i));
  });
}

export function closeOptions() {
  if (!open) return;
  open.element.removeAttribute("aria-pressed");
  for (const card of open.element.parentElement?.children ?? []) card.classList.remove("lit", "unlit");
  $("offer").hidden = true;
  open = null;
}

/** Closes the offer, and returns the focus to its card. */
export function cancelOptions() {
  const element = open?.element;
  closeOptions();
  element?.focus();
}
