// The list of the decisions of a hand: one row for each trick, with a column for each seat, and one line for any other decision.

/** @import { DecisionRating, HandMessage, Position, ReviewMessage } from "../types/messages" */
/** @import { Attributes, Child } from "../types/page" */

import { inlineCard } from "./cards.js";
import { $, make } from "./dom.js";
import { shortUnit } from "./format.js";
import { findCard } from "./scene.js";

const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

/**
 * Marks a mistake by a colour and by signs as in chess; the words are for screen readers.
 * @param {DecisionRating | undefined} rating
 * @param {string} unit
 */
export function markOf(rating, unit) {
  if (!rating?.grade || rating.loss === null) return null;
  const words = `${rating.grade}, loses ${rating.loss.toFixed(2)} ${shortUnit(unit)}`;
  return make("span", { class: `lost ${rating.grade}`, title: words },
    make("span", { "aria-hidden": "true" }, SIGNS[rating.grade]), make("span", { class: "unseen" }, `, ${words}`));
}

/**
 * Shows the decisions of a hand.
 * @param {HandMessage} hand
 * @param {ReviewMessage | null} review
 * @param {(number: number) => void} jump takes the number of a decision
 */
export function showMoves(hand, review, jump) {
  const ratings = new Map(review?.ratings.map((rating) => [rating.number, rating]));
  /** @param {Position} position @param {Attributes} attributes @param {Child[]} words */
  const button = (position, attributes, ...words) => make("button", { "data-number": position.number, click: () => jump(position.number), ...attributes },
    ...words, markOf(ratings.get(position.number), review?.unit ?? ""));
  const seats = hand.names.map((_, seat) => seat);
  const items = [];
  /** @type {{ trick: number, element: HTMLElement } | null} */
  let row = null; // row of the trick that is being played
  for (const position of hand.positions) {
    const card = findCard(position.scene, position.action);
    if (!position.trick || !card) {
      row = null;
      items.push(make("li", {}, button(position, {}, `${position.number} · seat ${position.seat}: `, card ? inlineCard(card) : position.words)));
      continue;
    }
    const isLead = row?.trick !== position.trick;
    if (!row || isLead) {
      row = { trick: position.trick, element: make("li", { class: "trick" }, make("span", { class: "count", title: `trick ${position.trick}` },
        make("span", { class: "unseen" }, "trick "), String(position.trick))) };
      row.element.style.setProperty("--seats", String(seats.length));
      items.push(row.element);
    }
    const move = button(position, { class: isLead ? "lead" : null, title: `${isLead ? "leads · " : ""}decision ${position.number}, seat ${position.seat}` },
      make("span", { class: "unseen" }, `seat ${position.seat}: `), inlineCard(card));
    move.style.gridColumn = String(position.seat + 2);
    row.element.append(move);
  }
  if (items.some((item) => item.className === "trick")) {
    const heads = make("li", { class: "trick seats", "aria-hidden": "true" }, make("span", {}, ""), ...seats.map((seat) => make("span", {}, `seat ${seat}`)));
    heads.style.setProperty("--seats", String(seats.length));
    items.splice(items.findIndex((item) => item.className === "trick"), 0, heads);
  }
  const end = hand.positions.length + 1;
  items.push(make("li", {}, make("button", { "data-number": end, click: () => jump(end) }, "the end")));
  $("decisions").firstElementChild?.replaceChildren(...items);
  $("signs").hidden = !review?.ratings.some((rating) => rating.grade);
}
