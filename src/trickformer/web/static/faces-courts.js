// Pictures of court cards. A figure is a list of shapes around the middle of a frame, which reaches from -16 to 16 and from
// -37 to 37. A French figure ends at the middle and is shown again upside down; a German figure stands on its feet.

/** @typedef {"J" | "Q" | "K"} Court */
/** @typedef {(string | [d: string, fill: string])[]} Shapes a shape without a fill is a line */

import { draw } from "./dom.js";

const ROBE = "robe"; // stands for the colour of the suit
const GOLD = "var(--court-gold)";
const GREY = "var(--court-grey)";
const HAIR = "var(--court-hair)";
const INK = "var(--ink)";
const RED = "var(--red)";
const SKIN = "var(--court-skin)";
const WHITE = "var(--card-face)";

/** @param {number} x @param {number} y @param {number} r */
const disc = (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 1 ${2 * r} 0a${r} ${r} 0 1 1 ${-2 * r} 0z`;

/** @type {Shapes} */
const FACE = [
  ["M-5.400-25V-18.500C-5.400-14-2.600-11.600 0-11.600S5.400-14 5.400-18.500V-25z", SKIN],
  [disc(-2.400, -20, 0.500) + disc(2.400, -20, 0.500), INK],
  "M-3.800-22Q-2.500-22.800-1.200-22.200M3.800-22Q2.500-22.800 1.200-22.200M-.900-17.800Q0-17.200.900-17.800",
  ["M-1.700-15.200Q0-16 1.700-15.200 0-13.900-1.700-15.200z", RED],
];
/** @type {Shapes} */
const BOB = [["M-6-26C-9-22-8-16-8.500-13Q-5.500-12-4-14V-26zM6-26C9-22 8-16 8.500-13Q5.500-12 4-14V-26z", HAIR]];
/** @type {Shapes} */
const FEATHER = [
  ["M5-29C6-35 10-37 13.500-36 14-31 11-28 6-27z", WHITE],
  "M6-28Q10-31 13-35.500",
];
/** @type {Shapes} */
const CAP = [
  ["M-7.500-27C-9-33-2-34 3-32.500 8-31 9.500-28 7.500-25.500Q0-27.500-7.500-24.500z", ROBE],
  ["M-7.800-26.500Q0-29.500 8-27.500L7.500-24.700Q0-26.700-7.500-24z", GOLD],
];

/** @type {{ [Name in Court | "O"]: Shapes }} */
const HEADS = {
  J: [...BOB, ...FACE, ...CAP],
  Q: [
    ...FACE,
    ["M-5.400-19C-5.500-24-2-24.500 0-25 2-24.500 5.500-24 5.400-19 8-24 5-28 0-28S-8-24-5.400-19z", HAIR],
    ["M-6-26L-6.500-30Q-4.500-32-3-29.500-1.500-34 0-34 1.500-34 3-29.500 4.500-32 6.500-30L6-26Q0-28-6-26z", GOLD],
    [disc(-6.500, -30.600, 0.800) + disc(0, -34.400, 1) + disc(6.500, -30.600, 0.800), WHITE],
  ],
  K: [
    ["M-7.400-25C-8.600-19-8.600-14-7.500-11L-4-13V-25zM7.400-25C8.600-19 8.600-14 7.500-11L4-13V-25z", GREY],
    ...FACE.slice(0, 3),
    ["M-5.400-19C-6.500-11-3.500-6.500 0-3.500 3.500-6.500 6.500-11 5.400-19 4.500-16.500 2.500-17.500 0-16.500-2.500-17.500-4.500-16.500-5.400-19z", GREY],
    ...FACE.slice(3),
    ["M-6.800-24L-7.200-31.500-3.800-28 0-34 3.800-28 7.200-31.500 6.800-24z", GOLD],
    [disc(-7.100, -32, 0.900) + disc(0, -34.700, 1.100) + disc(7.100, -32, 0.900) + disc(0, -26.200, 0.900), RED],
  ],
  O: [
    ...BOB,
    ...FACE,
    ["M0-16.800Q-2-18-4.500-15.500-2-15.200 0-16.200 2-15.200 4.500-15.500 2-18 0-16.800z", HAIR],
    ["M4-28C6-36 12-37 14-31 11-30 9-28 4-26z", WHITE],
    ["M-5.500-25L-4.500-31.500Q0-34 4.500-31.500L5.500-25z", ROBE],
    ["M-11-25.500Q0-29 11-25.500 0-21.500-11-25.500z", ROBE],
    ["M-5.300-27.200Q0-29.500 5.300-27.200L5.500-25Q0-26.800-5.500-25z", GOLD],
  ],
};

/** @type {Shapes} */
const COLLAR = [["M-6-12.500L0-5.500 6-12.500 3-13.500H-3z", WHITE]];
/** @type {Shapes} */
const SHOULDERS = [["M-16 0V-4C-15-8.500-9-10-4.500-12H4.500C9-10 15-8.500 16-4V0z", ROBE]];
/** @type {Shapes} */
const SCEPTRE = [["M11.700-24H13.300V0H11.700zM9.700-26A2.800 2.800 0 1 1 15.300-26 2.800 2.800 0 1 1 9.700-26z", GOLD], [disc(12.500, -6, 2), SKIN]];

/** @type {{ [Name in Court]: Shapes }} */
const HALVES = {
  J: [...SHOULDERS, ["M0-12H4.500C9-10 15-8.500 16-4V0H0z", GOLD], "M4-9.500V0M8-9V0M12-7.500V0", ...COLLAR, ...FEATHER, ...HEADS.J],
  Q: [
    ["M-6-27C-10-22-7-17-10.500-8H10.500C7-17 10-22 6-27z", HAIR],
    ...SHOULDERS,
    ["M-5-12C-4-7-2-5 0-5S4-7 5-12L2.500-13.500H-2.500z", SKIN],
    ["M-6.500-11.500C-5.500-6-2.500-3.500 0-3.500S5.500-6 6.500-11.500L5-12C4-7 2-5 0-5S-4-7-5-12z", WHITE],
    [disc(0, -8.500, 1) + disc(-9.500, -5, 1) + disc(-13, -5, 1), GOLD],
    ...HEADS.Q,
    "M12.500-4V-17M12.500-10Q15-11 15-13.500",
    ["M12.500-16Q8.500-18 10-22L12.500-20 15-22Q16.500-18 12.500-16z", RED],
    [disc(12.500, -5.500, 2), SKIN],
  ],
  K: [...SHOULDERS, ["M-10-10.300L-12 0H-8L-4-10.500zM10-10.300L12 0H8L4-10.500z", GOLD], ...HEADS.K, ...SCEPTRE],
};
const SLEEVES = "M-8-11.500C-13-10-14-5-15 4L-10.500 5.500C-10-1-9-3-7.500-5zM8-11.500C13-10 14-5 15 4L10.500 5.500C10-1 9-3 7.500-5z";
/** @type {Shapes} */
const HANDS = [[disc(-12.900, 6, 2) + disc(12.900, 6, 2), SKIN]];
/** @type {Shapes} */
const STAFF = [["M12.200-24H13.600V41H12.200z", HAIR], ["M12.900-33L10.500-24.500H15.300z", GREY]];
/** @type {Shapes} */
const LEGS = [
  ["M-6.500 13L-5.500 36H-1L-.500 13z", WHITE],
  ["M6.500 13L5.500 36H1L.500 13z", GOLD],
  ["M-5.700 33L-9 41H-.800V33zM5.700 33L9 41H.800V33z", INK],
];
const TUNIC = "M-8-11.500L-7.500 3-11 16Q0 19.500 11 16L7.500 3 8-11.500z";
/** @type {Shapes} */
const BELT = [["M-7.600 2.500H7.600V5H-7.600z", GOLD]];

/** @type {{ [Name in Court]: Shapes }} */
const WHOLES = {
  J: [...STAFF, ...LEGS, [TUNIC, ROBE], ["M0-11.500H8L7.500 3 11 16Q5 18 0 18z", WHITE], [SLEEVES, ROBE], ...BELT, ...COLLAR, ...HANDS, ...HEADS.J],
  Q: [
    ...LEGS, [TUNIC, ROBE], [SLEEVES, ROBE], ...BELT, ...COLLAR, ["M-3 18L-2 5H2L3 18z", GOLD],
    ["M12-2H13.800L13.600 31 12.900 34 12.200 31zM10.500 1H15.300V2.500H10.500z", GREY], ...HANDS, ...HEADS.O,
  ],
  K: [
    ["M-8-11.500L-13 41H13L8-11.500z", ROBE],
    ["M-3-11.500L-4 41H4L3-11.500zM-13 41L-12.600 37H12.600L13 41z", WHITE],
    [SLEEVES, ROBE],
    ["M12.200-14H13.600V26H12.200zM10.100-16A2.800 2.800 0 1 1 15.700-16 2.800 2.800 0 1 1 10.100-16z", GOLD],
    ...HANDS,
    ...HEADS.K,
  ],
};

/** @param {string} rank @returns {rank is Court} */
export const isCourt = (rank) => rank === "J" || rank === "Q" || rank === "K";

/**
 * Draws shapes in the colour of a suit.
 * @param {Shapes} shapes
 * @param {string} colour
 */
const group = (shapes, colour) => draw("g", { stroke: INK, "stroke-width": 0.600, "stroke-linejoin": "round", "stroke-linecap": "round" },
  ...shapes.map((shape) => {
    const [d, fill] = typeof shape === "string" ? [shape, "none"] : shape;
    return draw("path", { d, fill: fill === ROBE ? colour : fill });
  }));

/**
 * Draws a jack, queen or king, or an Unter, Ober or German king, around the point 0, 0.
 * @param {Court} rank
 * @param {boolean} isGerman
 * @param {string} colour colour of the suit
 * @param {(x: number, y: number, size: number) => SVGElement} mark draws the sign of the suit
 */
export function court(rank, isGerman, colour, mark) {
  const frame = draw("rect", { x: -16, y: -37, width: 32, height: 74, rx: 2, fill: "var(--court-ground)", stroke: colour, "stroke-width": 0.800 });
  if (isGerman) {
    const whole = group(WHOLES[rank], colour);
    whole.setAttribute("transform", "translate(.7 -1) scale(.9)");
    const places = rank === "J" ? [[-14.500, 26]] : rank === "Q" ? [[-14.500, -35.500]] : [[-15.200, -35.800], [6.200, -35.800]];
    return draw("g", {}, frame, whole, ...places.map(([x, y]) => mark(x, y, 9)));
  }
  const half = draw("g", {}, group(HALVES[rank], colour), mark(-15.200, -36, 7));
  const other = /** @type {SVGElement} */ (half.cloneNode(true));
  other.setAttribute("transform", "rotate(180)");
  return draw("g", {}, frame, half, other, draw("path", { d: "M-16-1.600H16V1.600H-16z", fill: GOLD, stroke: INK, "stroke-width": 0.600 }),
    draw("path", { d: [-12, -6, 0, 6, 12].map((x) => disc(x, 0, 0.700)).join(""), fill: RED }));
}
