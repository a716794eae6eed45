// Drawings of cards: a rank and a sign in the corner, and a figure or pips; a small card has one pip. Each sign has its own
// colour and shape, so that it can be recognised without the colour.

/** @import { Card, Sign } from "../types/messages" */

import { followDeck, isGerman, rankName } from "./deck.js";
import { draw } from "./dom.js";
import { court, isCourt } from "./faces-courts.js";

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

/**
 * Signs of the German deck by the sign whose place they take: acorns, bells and leaves.
 * @type {{ [Name in Sign]?: string }}
 */
const GERMAN_SHAPES = {
  clubs: "M9.200 0h1.600v2C15 2.200 17.500 4.600 17.500 8h-15C2.500 4.600 5 2.200 9.200 2zM4 9.200h12c0 5-2.500 8.300-6 10.800-3.500-2.500-6-5.800-6-10.800z",
  diamonds: "M10 0a2.300 2.300 0 1 1 0 4.600 2.300 2.300 0 0 1 0-4.600zM10 1.200a1.100 1.100 0 1 0 0 2.200 1.100 1.100 0 0 0 0-2.200zM10 4.600a7.700 7.700 0 1 1 0 15.400 7.700 7.700 0 0 1 0-15.400zM4 12.700a1.300 1.300 0 0 0 2.500.6h2.900V20h1.200v-6.700h2.900a1.300 1.300 0 1 0 0-1.200h-7a1.300 1.300 0 0 0-2.500.6z",
  spades: "M10 0c6.500 4 9.500 9.500 7 13.500-1.500 2.300-4 2.300-6 1.300V20H9v-5.200c-2 1-4.500 1-6-1.300C.5 9.500 3.500 4 10 0zM9.600 4v9h.8V4zM6 7l-.5.7L9 11v-1.100zM14 7l-3 2.900V11l3.500-3.300z",
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
  const path = draw("path", { fill: inkOf(name), "fill-rule": "evenodd", transform: `translate(${x} ${y}) scale(${size / 20})` });
  return followDeck(path, () => path.setAttribute("d", (isGerman() && GERMAN_SHAPES[name]) || SHAPES[name]));
}

/**
 * Rows of the pips of a number card, from -1 at the top to 1 at the bottom: first the two outer
 * columns, then the middle one.
 * @type {{ [rank: string]: [outer: number[], middle: number[]] | undefined }}
 */
const PIPS = {
  2: [[], [-1, 1]],
  3: [[], [-1, 0, 1]],
  4: [[-1, 1], []],
  5: [[-1, 1], [0]],
  6: [[-1, 0, 1], []],
  7: [[-1, 0, 1], [-0.500]],
  8: [[-1, 0, 1], [-0.500, 0.500]],
  9: [[-1, -1 / 3, 1 / 3, 1], [0]],
  10: [[-1, -1 / 3, 1 / 3, 1], [-2 / 3, 2 / 3]],
};
const CENTRE = [41, 42]; // of the picture, which lies beside the rank in the corner
const COLUMN = 9.800; // distance of the columns of pips
const LAST_ROW = 29; // distance of the first and the last row of pips from the centre

/**
 * Draws a sign around a point; in the lower half of the card it is upside down.
 * @param {Sign} name
 * @param {number} x from the centre of the picture
 * @param {number} y
 * @param {number} size
 */
const pip = (name, x, y, size) => draw("g", y > 0 ? { transform: `translate(${x} ${y}) rotate(180)` } : { transform: `translate(${x} ${y})` }, sign(name, -size / 2, -size / 2, size));

/**
 * Draws the picture of a card from the French or the German deck: a figure or pips.
 * @param {string} rank
 * @param {Sign} name
 * @returns {SVGElement[]}
 */
function pictureParts(rank, name) {
  if (isCourt(rank)) return [court(rank, isGerman(), inkOf(name), (x, y, size) => sign(name, x, y, size))];
  const pips = PIPS[rank];
  if (!pips) return isGerman() ? [pip(name, 0, -18, 27), pip(name, 0, 18, 27)] : [pip(name, 0, 0, 30)];
  const [outer, middle] = pips;
  return [...outer.flatMap((row) => [[-COLUMN, row], [COLUMN, row]]), ...middle.map((row) => [0, row])].map(([x, row]) => pip(name, x, LAST_ROW * row, 10.800));
}

/** @param {string} rank @param {Sign} name */
function pictureOf(rank, name) {
  const group = draw("g", { class: "picture", transform: `translate(${CENTRE.join(" ")})` });
  return followDeck(group, () => group.replaceChildren(...pictureParts(rank, name)));
}

/** @type {Sign[]} */
const SUITS = ["clubs", "diamonds", "hearts", "spades"];

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
  const { rank, sign: suit } = card;
  const ink = suit ? inkOf(suit) : "var(--ink)";
  picture.append(draw("rect", { x: 1, y: 1, width: 58, height: 82, rx: 6, fill: "var(--card-face)", stroke: "var(--card-line)" }));
  const corner = draw("text", { x: 6, y: 23, "font-size": 21, "font-weight": 700, fill: ink, "font-family": "inherit" });
  followDeck(corner, () => { corner.textContent = rankName(rank); });
  if (rank.length > 1) Object.entries({ textLength: "17", lengthAdjust: "spacingAndGlyphs" }).forEach(([name, value]) => corner.setAttribute(name, value));
  picture.append(corner);
  if (suit) {
    const plain = sign(suit, 21, 40, 32);
    picture.append(sign(suit, 6, 28, 14), plain);
    if (SUITS.includes(suit)) {
      plain.classList.add("plain"); // shown instead of the picture if the card is small
      picture.append(pictureOf(rank, suit));
    }
  }
  if (card.done) picture.append(draw("path", { d: "M8 44l15 22L54 20", fill: "none", stroke: "var(--green)", "stroke-width": 6 }));
  return picture;
}
