// What a click on a card of the hand does: it plays the card, chooses it among several, or offers its uses.

import { $, make } from "./dom.js";

let chosen = []; // actions of the chosen cards, in the order of the clicks
let open = null; // the card whose uses are offered: { element, card, seat, option }
let act; // function that takes the actions of a decision
let scene;
let afterOffer = () => {}; // called when the uses of a card are offered

export const onOffer = (callback) => { afterOffer = callback; };

// Forgets what was chosen, and sets up the gestures of a scene. Returns the elements that go below the table.
export function initGestures(newScene, newAct) {
  [scene, act, chosen, open] = [newScene, newAct, [], null];
  const offer = make("div", { id: "offer", class: "group", role: "group", "aria-label": "Uses of the card", hidden: true });
  if (!scene.pick) return [offer];
  return [make("button", { id: "confirm", class: "choice main", disabled: true, click: () => act([...chosen].sort((a, b) => a - b)) }, pickWords())];
}

const pickWords = () => `${scene.confirm[0].toUpperCase()}${scene.confirm.slice(1)} (${chosen.length} of ${scene.pick})`;

export const isActive = (card) => (card.action !== undefined && card.action !== null) || Boolean(card.options?.length);

// Handles a click on a card that can be used. `seat` is the holder of the card; undefined if it lies on the table.
export function clickCard(element, card, seat) {
  if (card.options?.length) offerOptions(element, card, seat);
  else if (scene.pick && seat !== undefined) toggle(element, card.action);
  else act([card.action]);
}

function toggle(element, action) {
  if (chosen.includes(action)) chosen = chosen.filter((other) => other !== action);
  else chosen = [...chosen, action].slice(-scene.pick); // one card too many replaces the first
  for (const card of element.parentElement.querySelectorAll("button")) card.setAttribute("aria-pressed", String(chosen.includes(Number(card.dataset.action))));
  const isComplete = chosen.length === scene.pick;
  $("confirm").disabled = !isComplete;
  $("confirm").classList.toggle("act", isComplete);
  $("confirm").textContent = pickWords();
  if (isComplete) $("confirm").focus({ preventScroll: true }); // Enter confirms
}

function offerOptions(element, card, seat) {
  if (open?.element === element && card.options.length > 1 && card.options[0].lights) {
    choose(card.options[(card.options.indexOf(open.option) + 1) % card.options.length]);
    return;
  }
  closeOptions();
  open = { element, card, seat, option: null };
  element.setAttribute("aria-pressed", "true");
  const isHint = Boolean(card.options[0].lights);
  const buttons = card.options.map((option) => make("button", {
    class: "choice act", "data-actions": option.actions[0], "aria-pressed": isHint ? "false" : undefined, click: () => (isHint ? choose(option) : act(option.actions)),
  }, option.words));
  const give = isHint ? [make("button", { id: "give", class: "choice act main", click: () => act(open.option.actions) }, "Give the hint")] : [];
  const cancel = make("button", { class: "choice act", click: cancelOptions }, "Cancel");
  $("offer").replaceChildren(make("h3", {}, isHint ? `Hint to seat ${seat}` : card.words),
    make("div", { class: "row" }, ...buttons, ...give, cancel));
  $("offer").hidden = false;
  if (isHint) choose(card.options[0]);
  afterOffer();
  (isHint ? $("give") : buttons[0]).focus();
}

// Chooses a hint: the cards that it names are lit before it is given.
function choose(option) {
  open.option = option;
  [...$("offer").querySelectorAll(".row button")].slice(0, open.card.options.length)
    .forEach((button, i) => button.setAttribute("aria-pressed", String(open.card.options[i] === option)));
  [...open.element.parentElement.children].forEach((card, i) => {
    card.classList.toggle("lit", option.lights.includes(i));
    card.classList.toggle("unlit", !option.lights.includes(i));
  });
}

export function closeOptions() {
  if (!open) return;
  open.element.removeAttribute("aria-pressed");
  for (const card of open.element.parentElement.children) card.classList.remove("lit", "unlit");
  $("offer").hidden = true;
  open = null;
}

// Closes the offer, and returns the focus to its card.
export function cancelOptions() {
  const element = open?.element;
  closeOptions();
  element?.focus();
}
