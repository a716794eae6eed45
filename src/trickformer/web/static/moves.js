// The list of the decisions of a hand: one row for each trick, with a column for each seat, and one line for any other decision.

import { $, make } from "./dom.js";
import { inlineCard } from "./log.js";
import { findCard } from "./table.js";

const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

// The unit of a review without the explanation that follows it.
export const shortUnit = (unit) => unit.split(",")[0];

// Marks a mistake by a colour and by signs as in chess; the words are for screen readers.
export function markOf(rating, unit) {
  if (!rating?.grade) return null;
  const words = `${rating.grade}, loses ${rating.loss.toFixed(2)} ${shortUnit(unit)}`;
  return make("span", { class: `lost ${rating.grade}`, title: words },
    make("span", { "aria-hidden": "true" }, SIGNS[rating.grade]), make("span", { class: "unseen" }, `, ${words}`));
}

// Shows the decisions of a hand. `review` may be null; `jump` takes the number of a decision.
export function showMoves(hand, review, jump) {
  const ratings = new Map(review?.ratings.map((rating) => [rating.number, rating]));
  const button = (position, attributes, ...words) => make("button", { "data-number": position.number, click: () => jump(position.number), ...attributes },
    ...words, markOf(ratings.get(position.number), review?.unit));
  const seats = hand.names.map((_, seat) => seat);
  const items = [];
  let row = null; // row of the trick that is being played
  for (const position of hand.positions) {
    const card = findCard(position.scene, position.action);
    if (!position.trick || !card) {
      row = null;
      items.push(make("li", {}, button(position, {}, `${position.number} · seat ${position.seat}: `, card ? inlineCard(card) : position.words)));
      continue;
    }
    const isLead = row?.trick !== position.trick;
    if (isLead) {
      row = { trick: position.trick, element: make("li", { class: "trick" }, make("span", { class: "count", title: `trick ${position.trick}` },
        make("span", { class: "unseen" }, "trick "), String(position.trick))) };
      row.element.style.setProperty("--seats", seats.length);
      items.push(row.element);
    }
    const move = button(position, { class: isLead ? "lead" : null, title: `${isLead ? "leads · " : ""}decision ${position.number}, seat ${position.seat}` },
      make("span", { class: "unseen" }, `seat ${position.seat}: `), inlineCard(card));
    move.style.gridColumn = position.seat + 2;
    row.element.append(move);
  }
  if (items.some((item) => item.className === "trick")) {
    const heads = make("li", { class: "trick seats", "aria-hidden": "true" }, make("span", {}, ""), ...seats.map((seat) => make("span", {}, `seat ${seat}`)));
    heads.style.setProperty("--seats", seats.length);
    items.splice(items.findIndex((item) => item.className === "trick"), 0, heads);
  }
  const end = hand.positions.length + 1;
  items.push(make("li", {}, make("button", { "data-number": end, click: () => jump(end) }, "the end")));
  $("decisions").firstElementChild.replaceChildren(...items);
  $("signs").hidden = !review?.ratings.some((rating) => rating.grade);
}
