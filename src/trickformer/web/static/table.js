// Draws a scene: seats, trick, piles, board and choices. Nothing here depends on the game.

import { $, draw, make } from "./dom.js";
import { face, sign } from "./face.js";

const PLACES = { 1: ["own"], 2: ["own", "top"], 3: ["own", "left", "right"], 4: ["own", "left", "top", "right"], 5: ["own", "left", "left", "top", "right"] };

export const nameOf = (spec) => spec.split(":")[0];
const isYou = (table, seat) => seat === table.me && !table.open; // `open` marks a review, in which nobody is you
export const seatName = (table, seat) => `seat ${seat} · ${isYou(table, seat) ? "you" : nameOf(table.seats[seat])}`;

export function cardElement(card, act, small = false) {
  const notes = card.notes ?? [];
  const words = (card.words ?? "a hidden card") + (notes.length ? `, ${notes.join(", ")}` : "") + (card.done ? ", done" : "");
  const kind = `card${small ? " small" : ""}`;
  const inside = [face(card), notes.length ? make("span", { class: "notes" }, notes.join(" · ")) : null];
  if (act && card.action !== undefined && card.action !== null)
    return make("button", { class: `${kind} act`, "aria-label": words, "data-action": card.action, click: () => act(card.action) }, ...inside);
  return make("span", { class: kind, role: "img", "aria-label": words }, ...inside);
}

// Shows cards side by side. More than three hidden cards become one drawing and their number.
function handElement(cards, act, small) {
  const backs = cards.filter((card) => !card.name && !card.notes && !card.sign);
  if (backs.length === cards.length && cards.length > 3)
    return make("div", { class: "hand backs", role: "img", "aria-label": `${cards.length} hidden cards` },
      cardElement({}, null, true), make("span", { class: "count", "aria-hidden": "true" }, `×${cards.length}`));
  return make("div", { class: `hand${cards.length > 8 ? " many" : ""}` }, ...cards.map((card) => cardElement(card, act, small)));
}

function seatElement(table, seat, act) {
  const features = [...(seat.features ?? []), ...(seat.last_action ? [`“${seat.last_action}”`] : [])];
  const turn = table.turn === seat.seat;
  const own = seat.seat === table.me;
  return make("section", { class: `seat${turn ? " turn" : ""}`, "data-seat": seat.seat, "aria-label": seatName(table, seat.seat) },
    make("h3", { title: table.seats[seat.seat] }, seatName(table, seat.seat), turn ? make("span", { class: "mark" }, " to move") : null),
    features.length ? make("p", { class: "features" }, features.join(" · ")) : null,
    seat.cards?.length ? handElement(seat.cards, act, !own) : null);
}

function trickElements(table, played) {
  const order = PLACES[table.seats.length] ?? [];
  return played.map(({ seat, card }) => {
    const place = order[(seat - table.me + table.seats.length) % table.seats.length] ?? "top";
    const element = make("figure", { class: `played ${place}` }, cardElement(card, null),
      make("figcaption", {}, isYou(table, seat) ? "you" : `seat ${seat}`));
    return element;
  });
}

function pileElement(pile, act) {
  return make("section", { class: "pile", "aria-label": pile.title },
    make("h3", {}, pile.title), make("div", { class: "hand" }, ...pile.cards.map((card) => cardElement(card, act, true))));
}

function boardElement(board, act) {
  const grid = make("div", { class: "grid", role: "group", "aria-label": "Board" });
  const columns = board[0].length;
  grid.style.gridTemplateColumns = `repeat(${columns}, minmax(${columns > 16 ? 1.6 : 2.2}rem, 3.4rem))`;
  for (const row of board)
    for (const cell of row) {
      const open = cell.action !== undefined && cell.action !== null;
      grid.append(open
        ? make("button", { class: "cell act", "aria-label": cell.words, "data-action": cell.action, click: () => act(cell.action) }, cell.text)
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
      make("button", { class: "choice act", "data-action": choice.action, click: () => act(choice.action) }, choice.words));
    const folded = buttons.length > MAX_SHOWN
      ? make("details", {}, make("summary", {}, `${buttons.length - MAX_SHOWN} more`), make("div", { class: "row" }, ...buttons.slice(MAX_SHOWN)))
      : null;
    return make("div", { class: "group", role: "group", "aria-label": title || "What you can do" },
      title ? make("h3", {}, title) : null,
      make("div", { class: "row" }, ...(folded ? buttons.slice(0, MAX_SHOWN) : buttons), folded));
  });
}

export function showTable(table, act) {
  const { scene } = table;
  const focus = document.activeElement?.classList.contains("act");
  document.title = `${scene.title ?? table.game} – trickformer`;
  $("title").textContent = `${table.game[0].toUpperCase()}${table.game.slice(1)} · ${table.label ?? `deal ${table.deal}`}${scene.title && scene.title.toLowerCase() !== table.game ? ` · ${scene.title}` : ""}`;
  $("features").textContent = (scene.features ?? []).join(" · ");
  const seats = scene.seats ?? [];
  const others = Array.from({ length: table.seats.length - 1 }, (_, i) => seats[(table.me + 1 + i) % seats.length]);
  $("others").replaceChildren(...others.map((seat) => seatElement(table, seat, act)));
  $("others").hidden = !others.length;
  const trickCards = scene.trick?.length ? scene.trick : scene.last ?? [];
  $("trick").replaceChildren(...trickElements(table, trickCards));
  $("trick").className = `n${table.seats.length}${scene.trick?.length ? "" : " gone"}`;
  $("trick").setAttribute("aria-label", scene.trick?.length ? "Trick" : "Last trick");
  $("trick").hidden = !trickCards.length;
  $("piles").replaceChildren(...(scene.piles ?? []).map((pile) => pileElement(pile, act)));
  $("board").replaceChildren(...(scene.board?.length ? [boardElement(scene.board, act)] : []));
  $("result").replaceChildren(...(scene.result ?? []).map((line) => make("p", {}, line)));
  $("result").hidden = !scene.result?.length;
  $("words").hidden = !scene.text;
  $("words").textContent = scene.text ?? "";
  $("choices").replaceChildren(...choiceElements(scene.choices ?? [], act));
  $("own").replaceChildren(seatElement(table, seats[table.me], act));
  if (focus) document.querySelector("#felt .act")?.focus();
}

function describeGoal(table) {
  const better = table.best === "most" ? "more is better" : "less is better";
  if (table.seats.length === 1) return `Your score; ${better}.`;
  if (table.shared) return `All seats are one team with one score; ${better}.`;
  return `The seat with the ${table.best} points wins${table.plays_to ? `. A match ends at ${table.plays_to}` : ""}.`;
}

export function showScores(table) {
  const names = table.shared ? [table.seats.length === 1 ? "you" : "team"] : table.seats.map((_, seat) => seatName(table, seat));
  const row = (name, scores) => make("tr", {}, make("th", { scope: "row" }, name),
    ...(table.shared ? scores.slice(0, 1) : scores).map((score) => make("td", {}, String(score))));
  const head = make("tr", {}, make("th", { scope: "col" }, "deal"), ...names.map((name) => make("th", { scope: "col" }, name)));
  const body = [...table.hands.map(([deal, scores]) => row(String(deal), scores)), row("all", table.totals)];
  $("scores").lastElementChild.replaceChildren(
    make("p", { class: "keys" }, describeGoal(table)),
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}

// Shows a card in a line of text: its rank and its sign, with its words for screen readers.
export function inlineCard(card) {
  if (!card.rank) return make("span", { class: "inline" }, card.words ?? card.name);
  const picture = draw("svg", { viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" }, sign(card.sign, 0, 0, 20));
  return make("span", { class: `inline ${card.sign}`, title: card.words },
    make("span", { "aria-hidden": "true" }, card.rank), picture, make("span", { class: "unseen" }, card.words));
}

function logLine(table, entry) {
  if (entry.seat === undefined || entry.seat === null) return make("li", { class: "break" }, entry.words);
  const cards = (entry.cards ?? []).flatMap((card) => [" ", inlineCard(card)]);
  return make("li", {}, `${entry.seat === table.me ? "you" : `seat ${entry.seat}`}:${entry.words ? ` ${entry.words}` : ""}`, ...cards);
}

export function showLog(table) {
  $("log").firstElementChild.replaceChildren(...table.log.map((entry) => logLine(table, entry)));
  $("log").scrollTop = $("log").scrollHeight;
  $("told").hidden = !table.told;
  $("told").textContent = table.told;
}
