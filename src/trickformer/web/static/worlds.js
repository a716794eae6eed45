// The panel of worlds: sampled worlds with all cards open.

/** @import { Worlds } from "../types/messages" */

import { cardElement } from "./cards.js";
import { make } from "./dom.js";

/** @param {Worlds} data */
export function worlds(data) {
  return data.scenes.map((scene, i) => make("details", { open: i === 0 }, make("summary", {}, `world ${i + 1}`),
    ...(scene.seats ?? []).map(({ seat, cards = [] }) => ({ seat, cards })).filter(({ cards }) => cards.length).map(({ seat, cards }) =>
      make("div", {}, make("h4", {}, `seat ${seat}`), make("div", { class: "hand" }, ...cards.map((card) => cardElement({ ...card, notes: [] }, null, true))))),
    ...(scene.piles ?? []).filter((pile) => pile.title === "Skat").map((pile) =>
      make("div", {}, make("h4", {}, pile.title), make("div", { class: "hand" }, ...pile.cards.map((card) => cardElement(card, null, true))))),
    ...(scene.board ?? []).map((row) => make("p", { class: "mono" }, row.map((field) => field.text || ".").join(" ")))));
}
