// Cards: a single card, the row of a hand, a pile under its title, and a card in a line of text.

/** @import { Card, Pile } from "../types/messages" */
/** @import { Act } from "../types/page" */

import { deckWords, followDeck, rankName, textInDeck } from "./deck.js";
import { draw, make } from "./dom.js";
import { face, sign } from "./face.js";
import { enableCard, isActive } from "./gestures.js";

/**
 * Draws a card. It can be clicked if `act` is given and the scene has a use for it; `seat` is its holder.
 * @param {Card} card
 * @param {Act | null} act
 * @param {boolean} small
 * @param {number} [seat]
 */
export function cardElement(card, act, small = false, seat = undefined) {
  const notes = card.notes ?? [];
  const explained = card.about || notes.join(", ");
  const words = (card.words ?? "a hidden card") + (explained ? `, ${explained}` : "") + (card.done ? ", done" : "");
  const kind = `card${small ? " small" : ""}`;
  const about = { title: card.annotation || card.about, "data-name": card.name || null, "data-order": card.order };
  const inside = [face(card), notes.length ? make("span", { class: "notes" }, notes.join(" · ")) : null,
    card.annotation ? make("span", { class: "annotated", "aria-hidden": "true" }, "✎") : null];
  /** @param {HTMLElement} element */
  const label = (element) => followDeck(element, () => {
    element.setAttribute("aria-label", deckWords(words));
    element.removeAttribute("data-words"); // the label without a badge, which has the words of the last deck
  });
  if (!act || !isActive(card)) return label(make("span", { class: kind, role: "img", ...about }, ...inside));
  const button = make("button", { class: `${kind} act`, ...about, "data-action": card.action, "data-actions": actionsOf(card).join(" ") }, ...inside);
  enableCard(button, card, seat);
  return label(button);
}

/**
 * The actions that a click on a card can begin.
 * @param {Card} card
 */
const actionsOf = (card) => [card.action, ...(card.options ?? []).map((option) => option.actions[0])].filter((action) => action !== undefined && action !== null);

const MAX_SPREAD = 3; // hidden cards of a pile that lie side by side; more of them are a stack

/** @param {Card} card */
export const isHidden = (card) => !card.name && !card.notes && !card.sign;

/**
 * Shows cards in one row that never wraps: cards overlap if the row is too narrow. Small cards that are all hidden become
 * a stack with their number; the own hand stays a row, because Hanabi plays hidden cards.
 * @param {Card[]} cards
 * @param {Act | null} act
 * @param {boolean} small
 * @param {number} seat
 */
export function handElement(cards, act, small, seat) {
  if (small && cards.length && cards.every(isHidden)) return stackElement(cards.length, cards.length);
  const hasNotes = cards.some((card) => card.notes?.length);
  const elements = cards.map((card) => cardElement(card, act, small, seat));
  elements.forEach((element, i) => element.style.setProperty("--turn", String(cards.length > 1 ? (2 * i) / (cards.length - 1) - 1 : 0)));
  return make("div", { class: `hand${hasNotes ? " noted" : ""}` }, ...elements);
}

/**
 * Shows the number of some hidden cards beside backs.
 * @param {number} count
 * @param {number} backs number of backs that are drawn
 */
function stackElement(count, backs) {
  return make("div", { class: "hand backs", role: "img", "aria-label": `${count} hidden cards` },
    ...Array.from({ length: backs }, () => cardElement({}, null, true)), make("span", { class: "count", "aria-hidden": "true" }, String(count)));
}

/**
 * @param {Pile} pile
 * @param {Act | null} act
 */
export function pileElement({ title, cards, is_small, use }, act) {
  const isStack = cards.length > MAX_SPREAD && cards.every(isHidden);
  return make("section", { class: `pile${is_small ? " many" : ""}`, "aria-label": title, "data-use": use }, make("h3", {}, title),
    isStack ? stackElement(cards.length, 1) : make("div", { class: "hand" }, ...cards.map((card) => cardElement(card, act, true))));
}

/**
 * Shows the rank of a card, as the deck names it, hidden from screen readers.
 * @param {string} rank
 */
function rankElement(rank) {
  const element = make("span", { "aria-hidden": "true" });
  return followDeck(element, () => { element.textContent = rankName(rank); });
}

/**
 * Shows a text whose names of cards, such as HT, become ranks and signs.
 * @param {string} text
 * @param {Card[]} cards cards that the text may name
 */
export function textWithCards(text, cards) {
  const byName = new Map(cards.map((card) => [card.name, card]));
  return text.split(/([A-Za-z0-9]+)/).map((part) => {
    const card = byName.get(part);
    return card?.rank && card.sign ? inlineCard(card) : textInDeck(part);
  });
}

/**
 * Shows a card in a line of text: its rank and its sign, with its words for screen readers.
 * @param {Card} card
 */
export function inlineCard(card) {
  const { rank } = card;
  if (!rank || !card.sign) return make("span", { class: "inline" }, card.words ?? card.name);
  const picture = draw("svg", { viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" }, sign(card.sign, 0, 0, 20));
  const spoken = make("span", { class: "unseen" });
  const element = make("span", { class: `inline ${card.sign}` }, rankElement(rank), picture, spoken);
  return followDeck(element, () => { element.title = spoken.textContent = deckWords(card.words ?? ""); });
}
