// Draws a scene: seats, trick, piles, board and choices. Nothing here depends on the game.

import { $, make } from "./dom.js";
import { face } from "./face.js";
import { clickCard, initGestures, isActive } from "./gestures.js";

// Places of the seats from one's own on, clockwise, by number of seats.
const PLACES = { 1: ["own"], 2: ["own", "top"], 3: ["own", "left", "right"], 4: ["own", "left", "top", "right"], 5: ["own", "left", "top", "top", "right"] };

export const nameOf = (spec) => spec.split(":")[0];
const isYou = (table, seat) => seat === table.me && !table.open; // `open` marks a review, in which nobody is you
const isPerson = (table, seat) => Boolean(table.people?.includes(seat)); // somebody else, at another page
export const isMyTurn = (table) => table.turn === table.me && !table.open && !isPerson(table, table.me);
export const seatName = (table, seat) =>
  `seat ${seat} · ${isPerson(table, seat) ? "a person" : isYou(table, seat) ? "you" : nameOf(table.seats[seat])}`;

// Draws a card. It can be clicked if `act` is given and the scene has a use for it; `seat` is its holder.
export function cardElement(card, act, small = false, seat = undefined) {
  const notes = card.notes ?? [];
  const words = (card.words ?? "a hidden card") + (notes.length ? `, ${notes.join(", ")}` : "") + (card.done ? ", done" : "");
  const kind = `card${small ? " small" : ""}`;
  const name = card.name || null;
  const inside = [face(card), notes.length ? make("span", { class: "notes" }, notes.join(" · ")) : null];
  if (!act || !isActive(card)) return make("span", { class: kind, role: "img", "aria-label": words, "data-name": name }, ...inside);
  const button = make("button", { class: `${kind} act`, "aria-label": words, "data-name": name, "data-action": card.action, "data-actions": actionsOf(card).join(" ") }, ...inside);
  button.addEventListener("click", () => clickCard(button, card, seat));
  return button;
}

// The actions that a click on a card can begin.
const actionsOf = (card) => [card.action, ...(card.options ?? []).map((option) => option.actions[0])].filter((action) => action !== undefined && action !== null);

const isHidden = (card) => !card.name && !card.notes && !card.sign;

// Shows cards in one row that never wraps: cards overlap if the row is too narrow.
function handElement(cards, act, small, seat) {
  if (cards.length && cards.every(isHidden))
    return make("div", { class: "hand backs", role: "img", "aria-label": `${cards.length} hidden cards` },
      ...cards.map(() => cardElement({}, null, true)), make("span", { class: "count", "aria-hidden": "true" }, String(cards.length)));
  const hasNotes = cards.some((card) => card.notes?.length);
  const hand = make("div", { class: `hand${hasNotes ? " noted" : ""}` }, ...cards.map((card) => cardElement(card, act, small, seat)));
  [...hand.children].forEach((card, i) => card.style.setProperty("--turn", cards.length > 1 ? (2 * i) / (cards.length - 1) - 1 : 0));
  return hand;
}

function seatElement(table, seat, act) {
  const own = seat.seat === table.me;
  const turn = table.turn === seat.seat;
  const piles = (table.scene.piles ?? []).filter((pile) => pile.seat === seat.seat);
  const plate = make("div", { class: "plate" },
    make("h3", { title: table.seats[seat.seat] }, seatName(table, seat.seat), turn ? make("span", { class: "mark" }, " to move") : null),
    seat.features?.length ? make("p", { class: "features" }, ...seat.features.map((feature) => make("span", { class: "badge" }, feature))) : null,
    seat.last_action ? make("p", { class: "speech" }, `“${seat.last_action}”`) : null,
    ...piles.map((pile) => pileElement(pile, act)));
  return make("section", { class: `seat${turn ? " turn" : ""}`, "data-seat": seat.seat, "aria-label": seatName(table, seat.seat) },
    plate, seat.cards?.length ? handElement(seat.cards, act, !own, seat.seat) : null);
}

function placeOf(table, seat) {
  return PLACES[table.seats.length]?.[(seat - table.me + table.seats.length) % table.seats.length] ?? "top";
}

// Shows a trick: each card lies before the seat that played it. The place of the seat on turn is lit.
function trickElements(table, played) {
  const isComplete = !table.scene.trick?.length;
  const cards = played.map(({ seat, card }) => make("figure", { class: `played ${placeOf(table, seat)}` },
    cardElement(card, null), make("figcaption", { class: "unseen" }, isYou(table, seat) ? "you" : `seat ${seat}`)));
  if (!isComplete && table.turn !== null) cards.push(make("span", { class: `landing ${placeOf(table, table.turn)}`, "aria-hidden": "true" }));
  return cards;
}

function pileElement(pile, act) {
  return make("section", { class: `pile${pile.is_small ? " many" : ""}`, "aria-label": pile.title },
    make("h3", {}, pile.title), make("div", { class: "hand" }, ...pile.cards.map((card) => cardElement(card, act, true))));
}

// Shows the cards of a seat at the end of a hand, with its score.
function finalHandElement(table, { seat, piles }) {
  const score = table.scores && !table.shared ? make("span", { class: "badge" }, `scores ${table.scores[seat]}`) : null;
  return make("section", { class: `final${isYou(table, seat) ? " mine" : ""}`, "aria-label": seatName(table, seat) },
    make("h3", {}, seatName(table, seat), " ", score), ...piles.map((pile) => pileElement(pile, null)));
}

function boardElement(board, act) {
  const grid = make("div", { class: "grid", role: "group", "aria-label": "Board" });
  const columns = board[0].length;
  grid.style.gridTemplateColumns = `repeat(${columns}, minmax(${columns > 16 ? 1.6 : 2.2}rem, 3.4rem))`;
  for (const row of board)
    for (const cell of row) {
      const open = cell.action !== undefined && cell.action !== null;
      grid.append(open
        ? make("button", { class: "cell act", "aria-label": cell.words, "data-action": cell.action, click: () => act([cell.action]) }, cell.text)
        : make("span", { class: `cell ${cell.kind ?? "closed"}`, role: "img", "aria-label": cell.words }, cell.text));
    }
  return grid;
}

const MAX_SHOWN = 8; // choices of a group that are shown; the rest is folded away

function choiceElements(choices, act) {
  const groups = new Map();
  for (const choice of choices) groups.set(choice.group ?? "", [...(groups.get(choice.group ?? "") ?? []), choice]);
  return [...groups].map(([title, members]) => {
    const buttons = members.map((choice) =>
      make("button", { class: "choice act", "data-action": choice.action, click: () => act([choice.action]) }, choice.words));
    const folded = buttons.length > MAX_SHOWN
      ? make("details", {}, make("summary", {}, `${buttons.length - MAX_SHOWN} more`), make("div", { class: "row" }, ...buttons.slice(MAX_SHOWN)))
      : null;
    return make("div", { class: "group", role: "group", "aria-label": title || "What you can do" },
      title ? make("h3", {}, title) : null,
      make("div", { class: "row" }, ...(folded ? buttons.slice(0, MAX_SHOWN) : buttons), folded));
  });
}

// Shows the bids around the highest one so far: the next bid first, then higher ones, which are folded if they are many.
function ladderElement(ladder, act) {
  const called = ladder.filter((rung) => rung.is_called);
  const ahead = ladder.filter((rung) => !rung.is_called);
  const past = called.slice(-4).map((rung, i, last) => make("li", { class: `rung called${i === last.length - 1 ? " now" : ""}` }, rung.words));
  const bid = (rung, main) => make("button", { class: `choice act${main ? " main" : ""}`, "data-action": rung.action, click: () => act([rung.action]) }, main ? `Bid ${rung.words}` : rung.words);
  const legal = ahead.filter((rung) => rung.action !== undefined && rung.action !== null);
  const next = legal.length ? legal.slice(0, MAX_SHOWN).map((rung, i) => make("li", {}, bid(rung, i === 0)))
    : ahead.slice(0, 4).map((rung) => make("li", { class: "rung" }, rung.words));
  const folded = legal.length > MAX_SHOWN
    ? make("details", {}, make("summary", {}, "higher bids"), make("div", { class: "row" }, ...legal.slice(MAX_SHOWN).map((rung) => bid(rung, false)))) : null;
  return make("div", { class: "ladder", role: "group", "aria-label": "Bids" }, make("ol", {}, ...past, ...next), folded);
}

// Maps each action that a scene offers to its words.
export function actionWords(scene) {
  const words = new Map();
  const cards = [...(scene.seats ?? []), ...(scene.piles ?? [])].flatMap((part) => part.cards ?? []);
  for (const item of [...cards, ...(scene.board ?? []).flat(), ...(scene.choices ?? []), ...(scene.ladder ?? [])]) {
    if (item.action !== undefined && item.action !== null) words.set(item.action, item.words);
    for (const option of item.options ?? []) words.set(option.actions[0], `${option.words}${option.lights ? "" : ` ${item.words}`}`);
  }
  return words;
}

// Finds the card whose click takes an action; undefined if there is none.
export const findCard = (scene, action) => [...(scene.seats ?? []), ...(scene.piles ?? [])].flatMap((part) => part.cards ?? []).find((card) => card.action === action);

export function showTable(table, act) {
  const { scene } = table;
  const focus = document.activeElement?.classList.contains("act");
  document.title = `${scene.title ?? table.game} – trickformer`;
  $("title").textContent = `${table.game[0].toUpperCase()}${table.game.slice(1)} · ${table.label ?? `deal ${table.deal}`}${scene.title && scene.title.toLowerCase() !== table.game ? ` · ${scene.title}` : ""}`;
  $("features").textContent = (scene.features ?? []).join(" · ");
  const seats = scene.seats ?? [];
  const others = Array.from({ length: table.seats.length - 1 }, (_, i) => seats[(table.me + 1 + i) % seats.length]);
  const places = ["left", "top", "right"].map((place) => [place, others.filter((seat) => placeOf(table, seat.seat) === place)]);
  $("others").hidden = false;
  $("others").replaceChildren(...places.filter(([, there]) => there.length).map(([place, there]) =>
    make("div", { class: `place ${place}` }, ...there.map((seat) => seatElement(table, seat, act)))));
  const isOpen = others.some((seat) => seat.cards?.some((card) => !isHidden(card)));
  $("felt").className = `n${table.seats.length}${isOpen ? " open" : ""}`;
  const trickCards = scene.trick?.length ? scene.trick : scene.last ?? [];
  $("trick").replaceChildren(...trickElements(table, trickCards));
  $("trick").className = scene.trick?.length ? "" : "gone";
  $("trick").setAttribute("aria-label", scene.trick?.length ? "Trick" : "Last trick");
  $("trick").hidden = !trickCards.length;
  const middle = (scene.piles ?? []).filter((pile) => pile.seat === undefined || pile.seat === null);
  $("piles").replaceChildren(...middle.map((pile) => pileElement(pile, act)));
  $("board").replaceChildren(...(scene.board?.length ? [boardElement(scene.board, act)] : []));
  $("result").replaceChildren(...(scene.result ?? []).map((line) => make("p", {}, line)));
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
  for (const id of isOver ? ["others", "own", "trick"] : ["own"]) $(id).hidden = isOver;
  if (focus) document.querySelector("#felt .act")?.focus();
}
