// Drawings of cards. Each sign has its own colour and shape, so that it can be recognised without the colour.

/** @import { Card, Sign } from "../types/messages" */

import { draw } from "./dom.js";

/** @type {{ [Name in Sign]: string }} */
const SHAPES = {
  clubs: "M10 1a4 4 0 0 1 3.700 5.600 4.200 4.200 0 1 1-2.300 7.700c.2 1.700.8 3 2 4.200H6.600c1.200-1.200 1.800-2.500 2-4.200a4.200 4.200 0 1 1-2.300-7.700A4 4 0 0 1 10 1z",
  diamonds: "M10 1l6.500 9L10 19 3.500 10z",
  hearts: "M10 19C1 12 1 4 5.500 3 8 2.400 10 4.500 10 6c0-1.500 2-3.600 4.500-3C19 4 19 12 10 19z",
  spades: "M10 1c8 6.500 8 9 7.500 11.500-.7 3-4.500 3.300-6.200 1 .2 2 .8 3.400 2 5H6.700c1.200-1.600 1.800-3 2-5-1.700 2.300-5.500 2-6.200-1C2 10 2 7.500 10 1z",
  rocket: "M10 0c4 4 4.500 9 3.500 13l2.500 3v3l-4-2-2 3-2-3-4 2v-3l2.500-3C5.500 9 6 4 10 0zm0 5.500a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  pink: "M10 2a8 8 0 1 1 0 16 8 8 0 0 1 0-16z",
  blue: "M10 1.500L19 18H1z",
  green: "M3 3h14v14H3z",
  yellow: "M10 .500l2.800 6.300 6.700.700-5 4.600 1.400 6.800L10 15.500l-5.900 3.400 1.400-6.800-5-4.600 6.700-.700z",
  red: "M10 1l9 6.500L15.500 18h-11L1 7.500z",
  white: "M10 1a9 9 0 1 1 0 18 9 9 0 0 1 0-18zm0 4a5 5 0 1 0 0 10 5 5 0 0 0 0-10z",
};

/** @param {Sign} name */
const inkOf = (name) => `var(--${name})`;

/**
 * Draws a sign.
 * @param {Sign} name
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
export function sign(name, x, y, size) {
  return draw("path", {
    d: SHAPES[name], fill: inkOf(name), "fill-rule": "evenodd", transform: `translate(${x} ${y}) scale(${size / 20})`,
  });
}

/**
 * Draws a card of a scene as an SVG: face up, face down, or as an empty place with a faint sign.
 * @param {Card} card
 */
export function face(card) {
  const picture = draw("svg", { viewBox: "0 0 60 84", "aria-hidden": "true", focusable: "false" });
  if (!card.rank) {
    picture.append(
      draw("rect", { x: 1, y: 1, width: 58, height: 82, rx: 6, fill: card.sign ? "var(--card-empty)" : "var(--card-back)", stroke: "var(--card-back-line)" }),
    );
    if (card.sign) {
      const faint = sign(card.sign, 17, 29, 26);
      faint.setAttribute("opacity", "0.35");
      picture.append(faint);
      return picture;
    }
    for (let row = 0; row < 5; row++)
      for (let col = 0; col < 3; col++)
        picture.append(
          draw("path", {
            d: "M0-5L5 0 0 5-5 0z", fill: "none", stroke: "var(--card-back-sign)", transform: `translate(${14 + 16 * col} ${13 + 14.5 * row})`,
          }),
        );
    return picture;
  }
  const ink = card.sign ? inkOf(card.sign) : "var(--ink)";
  picture.append(draw("rect", { x: 1, y: 1, width: 58, height: 82, rx: 6, fill: "var(--card-face)", stroke: "var(--card-line)" }));
  const rank = draw("text", { x: 6, y: 23, "font-size": 21, "font-weight": 700, fill: ink, "font-family": "inherit" });
  rank.textContent = card.rank;
  if (card.rank.length > 1) Object.entries({ textLength: "17", lengthAdjust: "spacingAndGlyphs" }).forEach(([name, value]) => rank.setAttribute(name, value));
  picture.append(rank);
  if (card.sign) picture.append(sign(card.sign, 6, 28, 14), sign(card.sign, 21, 40, 32));
  if (card.done) picture.append(draw("path", { d: "M8 44l15 22L54 20", fill: "none", stroke: "var(--green)", "stroke-width": 6 }));
  return picture;
}
