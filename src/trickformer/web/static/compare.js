// Decisions of several players side by side, for the position of the person.

/** @import { ComparisonMessage, LookMessage, TableMessage } from "../types/messages" */

import { inlineCard } from "./cards.js";
import { $, make } from "./dom.js";
import { formatValue, nameOf } from "./format.js";
import { findCard } from "./scene.js";
import { isMyTurn } from "./table.js";
import { heads } from "./tables.js";

const LEAST = 2; // players that are compared at least

/** @type {Set<string>} */
const chosen = new Set(JSON.parse(sessionStorage.getItem("compared") ?? "[]")); // names of the chosen players
/** @type {Map<number, ComparisonMessage>} */
const answers = new Map(); // the last message about each player, by its place on the table's list
/** @type {TableMessage | null} */
let table = null; // the table that is shown
/** @type {() => void} */
let onChange;

/** @param {() => void} changed called after another choice of players */
export function initComparison(changed) {
  onChange = changed;
  $("comparing").open = chosen.size > 0;
  $("comparing").addEventListener("toggle", () => onChange());
}

/**
 * Places of the players to compare on the table's list; none while the comparison is closed or has one player only.
 * @param {string[]} players
 */
export function comparedPlayers(players) {
  const places = players.map((_, place) => place).filter((place) => players[place] !== "you" && chosen.has(players[place]));
  return $("comparing").open && places.length >= LEAST ? places : [];
}

/**
 * The name of a player without its options, unless several players of the list have that name.
 * @param {string[]} players
 * @param {string} spec
 */
const shortName = (players, spec) => (players.filter((other) => nameOf(other) === nameOf(spec)).length > 1 ? spec : nameOf(spec));

/** @param {string[]} players */
function showChoice(players) {
  if ($("compared").dataset.players === players.join("\n")) return;
  $("compared").dataset.players = players.join("\n");
  const names = players.filter((name) => name !== "you");
  $("comparing").hidden = names.length < LEAST;
  $("compared").replaceChildren(...names.map((name) => {
    const box = make("input", { type: "checkbox", checked: chosen.has(name) });
    box.addEventListener("change", () => {
      if (!chosen.delete(name)) chosen.add(name);
      sessionStorage.setItem("compared", JSON.stringify([...chosen]));
      if (table) showComparison(table);
      onChange();
    });
    return make("label", { title: name }, box, ` ${shortName(players, name)}`);
  }));
}

/** @param {LookMessage} message */
export function receiveComparison(message) {
  if (message.panel !== "players") return;
  answers.set(message.player, message);
  if (table) showComparison(table);
}

/** @param {TableMessage} newTable */
export function showComparison(newTable) {
  table = newTable;
  showChoice(table.players);
  const places = comparedPlayers(table.players);
  if (!places.length) {
    $("comparison").replaceChildren(make("p", { class: "keys" }, "Choose two players or more."));
    return;
  }
  if (!isMyTurn(table)) {
    $("comparison").replaceChildren(make("p", { class: "keys" }, "They answer at your next decision."));
    return;
  }
  const current = places.map((place) => answers.get(place)).map((answer) => (answer?.ply === newTable.ply ? answer : undefined));
  const unit = current.find((answer) => answer?.data)?.data?.unit;
  const rows = places.map((place, i) => make("tr", {}, make("th", { scope: "row", title: newTable.players[place] }, shortName(newTable.players, newTable.players[place])), ...answerCells(newTable, current[i])));
  $("comparison").replaceChildren(
    make("table", {}, heads("player", "plays", "value"), make("tbody", {}, ...rows)),
    make("p", { class: "keys" }, unit ? `Values in ${unit}.` : ""));
}

/** @param {TableMessage} shown @param {ComparisonMessage | undefined} answer */
function answerCells(shown, answer) {
  if (answer?.fault) return [make("td", { colspan: 2 }, answer.fault)];
  if (!answer?.data) return [make("td", { colspan: 2 }, "thinking …")];
  const { action, words, value } = answer.data;
  const card = findCard(shown.scene, action);
  return [make("td", {}, card ? inlineCard(card) : words), make("td", {}, value === null ? "none" : formatValue(value))];
}
