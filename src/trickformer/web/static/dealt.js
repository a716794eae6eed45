// The cards of a reviewed hand, below its decisions: what each seat had, what lies on the table at the end, or the board.

/** @import { FinalHand, HandMessage, Scene } from "../types/messages" */
/** @import { ShownTable } from "../types/page" */

import { boardElement } from "./board.js";
import { isHidden, pileElement } from "./cards.js";
import { make } from "./dom.js";
import { finalHandElement } from "./table.js";

/**
 * Lists the cards of each seat at the first decision and at the end, for a game whose last scene does not list them.
 * @param {Scene} first
 * @param {Scene} last
 * @returns {FinalHand[]}
 */
function heldCards(first, last) {
  return (last.seats ?? []).map(({ seat, cards = [] }) => {
    const dealt = first.seats?.[seat]?.cards ?? [];
    const piles = [{ title: "dealt", cards: dealt }, { title: "at the end", cards }];
    return { seat, piles: piles.filter((pile) => pile.cards.length) };
  }).filter(({ piles }) => piles.length);
}

/**
 * Draws the cards or the board of a hand. Returns no elements if the hand is described in words only.
 * @param {HandMessage} hand
 */
export function dealtElements({ game, deal, names, positions, end: { scene }, scores, shared }) {
  /** @type {ShownTable} */
  const table = { scene, game, deal, me: 0, you: null, seats: names, turn: null, scores, shared };
  if (scene.hands?.length) return scene.hands.map((each) => finalHandElement(table, each));
  const hands = heldCards(positions[0]?.scene ?? scene, scene);
  const piles = (scene.piles ?? []).filter(({ cards }) => cards.length && !cards.every(isHidden));
  const cells = scene.board?.map((row) => row.map((cell) => ({ ...cell, action: null }))); // nothing can be clicked
  return [
    ...hands.map((each) => finalHandElement(table, each)),
    ...piles.map((pile) => make("div", { class: "final" }, pileElement(pile, null))),
    ...(cells?.length ? [make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The board at the end" }, boardElement(cells, () => {}))] : []),
  ];
}
