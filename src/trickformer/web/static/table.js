// The table: draws a scene with its seats, trick, piles, board and choices. Nothing here depends on the game.

/** @import { FinalHand, Seat, TrickCard } from "../types/messages" */
/** @import { Act, ShownTable } from "../types/page" */

import { boardElement } from "./board.js";
import { cardElement, handElement, isHidden, pileElement } from "./cards.js";
import { choiceElements, ladderElement } from "./choices.js";
import { showDeck, textInDeck } from "./deck.js";
import { $, make } from "./dom.js";
import { nameOf } from "./format.js";
import { initGestures } from "./gestures.js";

/**
 * Places of the seats from one's own on, clockwise, by number of seats.
 * @type {{ [players: number]: string[] | undefined }}
 */
const PLACES = { 1: ["own"], 2: ["own", "top"], 3: ["own", "left", "right"], 4: ["own", "left", "top", "right"], 5: ["own", "left", "top", "top", "right"] };

/** @type {ShownTable | null} */
let shownTable = null;
let isLastShown = false; // whether the last trick lies in the place of the current one, until the table changes

/** @param {Pick<ShownTable, "you" | "turn">} table */
export const isMyTurn = (table) => table.turn !== null && table.turn === table.you;

/** @param {Pick<ShownTable, "you" | "seats">} table @param {number} seat */
export function seatName(table, seat) {
  const spec = table.seats[seat];
  return `seat ${seat} · ${seat === table.you ? "you" : spec === "you" ? "a person" : nameOf(spec)}`;
}

/**
 * @param {ShownTable} table
 * @param {Seat} seat
 * @param {Act} act
 */
function seatElement(table, seat, act) {
  const own = seat.seat === table.me;
  const spec = table.seats[seat.seat];
  const turn = table.turn === seat.seat;
  const piles = (table.scene.piles ?? []).filter((pile) => pile.seat === seat.seat);
  const plate = make("div", { class: "plate" },
    make("h3", { title: spec === "you" ? null : spec }, seatName(table, seat.seat), turn ? make("span", { class: "mark" }, " to move") : null),
    seat.features?.length ? make("p", { class: "features" }, ...seat.features.map((feature) => make("span", { class: "badge" }, feature))) : null,
    seat.last_action ? make("p", { class: "speech" }, textInDeck(`“${seat.last_action}”`)) : null,
    ...piles.map((pile) => pileElement(pile, act)));
  return make("section", { class: `seat${turn ? " turn" : ""}`, "data-seat": seat.seat, "aria-label": seatName(table, seat.seat) },
    plate, seat.cards?.length ? handElement(seat.cards, act, !own, seat.seat) : null);
}

/** @param {ShownTable} table @param {number} seat */
function placeOf(table, seat) {
  return PLACES[table.seats.length]?.[(seat - table.me + table.seats.length) % table.seats.length] ?? "top";
}

/**
 * Shows a trick: each card lies before the seat that played it. The place of the seat on turn is lit.
 * @param {ShownTable} table
 * @param {TrickCard[]} played
 */
function trickElements(table, played) {
  const isComplete = isLastShown || !table.scene.trick?.length;
  const cards = played.map(({ seat, card }) => make("figure", { class: `played ${placeOf(table, seat)}` },
    cardElement(card, null), make("figcaption", { class: "unseen" }, seat === table.you ? "you" : `seat ${seat}`)));
  if (!isComplete && table.turn !== null) cards.push(make("span", { class: `landing ${placeOf(table, table.turn)}`, "aria-hidden": "true" }));
  return cards;
}

/**
 * Tests whether a table shows the result of a hand that a complete trick has ended.
 * @param {Pick<ShownTable, "scene">} table
 */
export const wasTrickLast = ({ scene }) => Boolean(scene.hands?.length && scene.last?.length && !scene.trick?.length);

// Tests whether the last trick can be shown: another trick or the result is shown in its place.
/** @param {ShownTable} table */
const canShowLast = (table) => Boolean(table.scene.last?.length && (table.scene.trick?.length || wasTrickLast(table)));

/** @param {ShownTable} table */
function showTrick(table) {
  const { trick = [], last = [], taker, hands } = table.scene;
  const isOver = Boolean(hands?.length);
  const isCurrent = trick.length > 0 && !isLastShown && !isOver;
  const cards = isCurrent ? trick : isOver && !isLastShown ? [] : last;
  const button = canShowLast(table)
    ? [make("button", { id: "last-trick", "aria-pressed": String(isLastShown), "aria-keyshortcuts": "l", click: toggleLastTrick }, "Last trick")] : [];
  const words = isLastShown ? [make("p", { id: "taken" }, taker === table.you ? "You took it" : `Seat ${taker} took it`)] : [];
  $("trick").replaceChildren(...trickElements(table, cards), ...words, ...button);
  $("trick").className = isCurrent ? "" : cards.length ? "gone" : "folded";
  $("trick").setAttribute("aria-label", isCurrent ? "Trick" : "Last trick");
  $("trick").hidden = !cards.length && !button.length;
}

// Shows the last complete trick in the place of the current one, or the current one again.
export function toggleLastTrick() {
  if (!shownTable || !canShowLast(shownTable)) return;
  const hasFocus = document.activeElement?.id === "last-trick";
  isLastShown = !isLastShown;
  showTrick(shownTable);
  if (hasFocus) $("last-trick").focus();
}

/**
 * Shows the cards of a seat at the end of a hand, with its score.
 * @param {ShownTable} table
 * @param {FinalHand} hand
 */
export function finalHandElement(table, { seat, piles }) {
  const score = table.scores && !table.shared ? make("span", { class: "badge" }, `scores ${table.scores[seat]}`) : null;
  return make("section", { class: `final${seat === table.you ? " mine" : ""}`, "aria-label": seatName(table, seat) },
    make("h3", {}, seatName(table, seat), " ", score), ...piles.map((pile) => pileElement(pile, null)));
}

/**
 * @param {ShownTable} table
 * @param {Act} act
 */
export function showTable(table, act) {
  const { scene } = table;
  showDeck(table.game);
  const game = table.game.replaceAll("_", " ");
  document.title = `${scene.title ?? game} – trickformer`;
  const name = `${game[0].toUpperCase()}${game.slice(1)} · ${table.label ?? `deal ${table.deal}`}`;
  $("title").replaceChildren(textInDeck(`${name}${scene.title && scene.title.toLowerCase() !== game ? ` · ${scene.title}` : ""}`));
  $("features").textContent = (scene.features ?? []).join(" · ");
  const seats = scene.seats ?? [];
  const others = Array.from({ length: table.seats.length - 1 }, (_, i) => seats[(table.me + 1 + i) % seats.length]);
  const places = ["left", "top", "right"].map((place) => ({ place, there: others.filter((seat) => placeOf(table, seat.seat) === place) }));
  $("others").hidden = false;
  $("others").replaceChildren(...places.filter(({ there }) => there.length).map(({ place, there }) =>
    make("div", { class: `place ${place}` }, ...there.map((seat) => seatElement(table, seat, act)))));
  const isOpen = others.some((seat) => seat.cards?.some((card) => !isHidden(card)));
  $("felt").className = `n${table.seats.length}${isOpen ? " open" : ""}`;
  isLastShown = false;
  shownTable = table;
  showTrick(table);
  const middle = (scene.piles ?? []).filter((pile) => pile.seat === undefined || pile.seat === null);
  $("piles").replaceChildren(...middle.map((pile) => pileElement(pile, act)));
  $("board").replaceChildren(...(scene.board?.length ? [boardElement(scene.board, act)] : []));
  $("result").replaceChildren(...(scene.result ?? []).map((line) => make("p", {}, textInDeck(line))));
  $("result").hidden = !scene.result?.length;
  const isOver = Boolean(scene.hands?.length);
  $("hands").replaceChildren(...(scene.hands ?? []).map((hand) => finalHandElement(table, hand)));
  $("hands").hidden = !isOver;
  if (isOver) $("felt").classList.add("over");
  $("words").hidden = !scene.text;
  $("words").textContent = scene.text ?? "";
  $("choices").replaceChildren(...initGestures(scene, act),
    ...(scene.ladder?.length ? [ladderElement(scene.ladder, act)] : []), ...choiceElements(scene.choices ?? [], act));
  $("own").replaceChildren(seatElement(table, seats[table.me], act));
  if (isOver) $("others").hidden = true;
  $("own").hidden = isOver;
}
