// The review of a hand: its curves, mistakes and answers.

/** @import { Card, ReviewMessage } from "../types/messages" */

import { textWithCards } from "./cards.js";
import { legend, strokeOf } from "./charts.js";
import { $, draw, make } from "./dom.js";
import { nameOf } from "./format.js";
import { markOf } from "./moves.js";

const MAX_SHOWN = 10; // mistakes that are shown; the rest is folded away
const [WIDTH, HEIGHT, EDGE] = [640, 180, 34];

/**
 * @param {ReviewMessage} review
 * @param {Card[]} cards cards of the hand
 * @param {(number: number) => void} jump takes the number of a decision
 */
export function showReview(review, cards, jump) {
  const ratings = new Map(review.ratings.map((rating) => [rating.number, rating]));
  const mistakes = review.mistakes.map((mistake) =>
    make("li", {}, make("button", { "data-number": mistake.number, click: () => jump(mistake.number) }, ...textWithCards(mistake.words, cards), markOf(ratings.get(mistake.number), review.unit))));
  const answers = review.answers.map(({ lines, losing_step: step }) => make("div", {}, make("p", { class: "answer" }, ...textWithCards(lines.join("\n"), cards)),
    step === null ? null : make("button", { class: "losing-step", click: () => jump(step) }, `To decision ${step}, which lost it`)));
  $("review").replaceChildren(
    make("p", { class: "keys", title: review.analyst }, [`by ${nameOf(review.analyst)}; values in ${review.unit}`, ...review.notes].join(" · ")),
    ...(review.answers.length ? [make("h3", {}, "Could it have been won?"), ...answers] : []),
    ...(review.curves.length ? [make("h3", {}, "Value of the hand at each decision"), make("div", { id: "curves" })] : []),
    make("h3", {}, "Mistakes by size"),
    ...(mistakes.length ? [make("ol", { class: "mistakes" }, ...mistakes.slice(0, MAX_SHOWN))] : [make("p", {}, "None that is certain.")]),
    mistakes.length > MAX_SHOWN ? make("details", {}, make("summary", {}, `${mistakes.length - MAX_SHOWN} smaller ones`),
      make("ol", { class: "mistakes", start: MAX_SHOWN + 1 }, ...mistakes.slice(MAX_SHOWN))) : "");
}

/**
 * Draws the curves, with a vertical line at decision `at`. A click jumps to the nearest decision.
 * @param {ReviewMessage} review
 * @param {number} at
 * @param {(number: number) => void} jump
 */
export function showCurves(review, at, jump) {
  if (!review.curves.length) return;
  const end = (review.ratings.at(-1)?.number ?? 0) + 1;
  const curves = review.curves.map(({ who, points, result }) =>
    ({ who, points: result === null ? points : [...points, /** @type {[number, number]} */ ([end, result])] }));
  const values = curves.flatMap(({ points }) => points.map(([, value]) => value));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  /** @param {number} number */
  const x = (number) => EDGE + ((WIDTH - EDGE - 6) * (number - 1)) / (end - 1 || 1);
  /** @param {number} value */
  const y = (value) => HEIGHT - 12 - ((HEIGHT - 24) * (value - low)) / (high - low || 1);
  const words = curves.map(({ who, points }) => `${who} from ${points[0][1].toFixed(2)} to ${points[points.length - 1][1].toFixed(2)}`);
  const picture = draw("svg", { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words.join("; ") });
  for (const value of new Set([low, high])) {
    const label = draw("text", { x: 0, y: y(value) + 4, "font-size": 12, fill: "var(--soft)" });
    label.textContent = String(Number(value.toFixed(1)));
    picture.append(label, draw("line", { x1: EDGE, x2: WIDTH, y1: y(value), y2: y(value), stroke: "var(--grid-soft)" }));
  }
  picture.append(draw("line", { x1: x(at), x2: x(at), y1: 0, y2: HEIGHT, stroke: "var(--ink)", "stroke-width": 1.5 }));
  curves.forEach(({ points }, i) => picture.append(draw("polyline", { points: points.map(([number, value]) => `${x(number)},${y(value)}`).join(" "), ...strokeOf(i), "stroke-width": 2.5 })));
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const across = ((event.clientX - box.left) / box.width) * WIDTH;
    jump(Math.round(1 + ((across - EDGE) / (WIDTH - EDGE - 6)) * (end - 1)));
  });
  $("curves").replaceChildren(picture, legend(curves.map(({ who }) => who), 2.5));
}
