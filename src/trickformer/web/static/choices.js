// The buttons below the table: choices in groups, and the ladder of bids. Long lists are folded.

/** @import { Choice, Rung } from "../types/messages" */
/** @import { Act } from "../types/page" */

import { textInDeck } from "./deck.js";
import { make } from "./dom.js";
import { isLegal } from "./scene.js";

const MAX_SHOWN = 8; // choices of a group that are shown; the rest is folded away

/**
 * @param {Choice[]} choices
 * @param {Act} act
 */
export function choiceElements(choices, act) {
  /** @type {Map<string, Choice[]>} */
  const groups = new Map();
  for (const choice of choices) groups.set(choice.group ?? "", [...(groups.get(choice.group ?? "") ?? []), choice]);
  return [...groups].map(([title, members]) => {
    const buttons = members.map((choice) =>
      make("button", { class: "choice act", "data-action": choice.action, click: () => act([choice.action]) }, textInDeck(choice.words)));
    const folded = buttons.length > MAX_SHOWN
      ? make("details", {}, make("summary", {}, `${buttons.length - MAX_SHOWN} more`), make("div", { class: "row" }, ...buttons.slice(MAX_SHOWN)))
      : null;
    return make("div", { class: "group", role: "group", "aria-label": title || "What you can do" },
      title ? make("h3", {}, title) : null,
      make("div", { class: "row" }, ...(folded ? buttons.slice(0, MAX_SHOWN) : buttons), folded));
  });
}

/**
 * Shows the bids around the highest one so far: the next bid first, then higher ones, which are folded if they are many.
 * @param {Rung[]} ladder
 * @param {Act} act
 */
export function ladderElement(ladder, act) {
  const called = ladder.filter((rung) => rung.is_called);
  const ahead = ladder.filter((rung) => !rung.is_called);
  const past = called.slice(-4).map((rung, i, last) => make("li", { class: `rung called${i === last.length - 1 ? " now" : ""}` }, rung.words));
  /** @param {Rung & { action: number }} rung @param {boolean} main */
  const bid = (rung, main) => make("button", { class: `choice act${main ? " main" : ""}`, "data-action": rung.action, click: () => act([rung.action]) }, main ? `Bid ${rung.words}` : rung.words);
  const legal = ahead.filter(isLegal);
  const next = legal.length ? legal.slice(0, MAX_SHOWN).map((rung, i) => make("li", {}, bid(rung, i === 0)))
    : ahead.slice(0, 4).map((rung) => make("li", { class: "rung" }, rung.words));
  const folded = legal.length > MAX_SHOWN
    ? make("details", {}, make("summary", {}, "higher bids"), make("div", { class: "row" }, ...legal.slice(MAX_SHOWN).map((rung) => bid(rung, false)))) : null;
  return make("div", { class: "ladder", role: "group", "aria-label": "Bids" }, make("ol", {}, ...past, ...next), folded);
}
