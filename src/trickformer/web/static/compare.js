// Decisions of several players side by side, for the position of the person.

import { $, make } from "./dom.js";
import { inlineCard } from "./log.js";
import { formatValue } from "./panels.js";
import { findCard, isMyTurn } from "./table.js";

const LEAST = 2; // players that are compared at least

const chosen = new Set(JSON.parse(sessionStorage.getItem("compared") ?? "[]")); // names of the chosen players
const answers = new Map(); // the last message about each player, by its place on the table's list
let table = null; // the table that is shown
let onChange;

export function initComparison(changed) {
  onChange = changed; // called after another choice of players
  $("comparing").open = chosen.size > 0;
  $("comparing").addEventListener("toggle", () => onChange());
}

// Places of the players to compare on the table's list; none while the comparison is closed or has one player only.
export function comparedPlayers(players) {
  const places = players.map((name, place) => place).filter((place) => players[place] !== "you" && chosen.has(players[place]));
  return $("comparing").open && places.length >= LEAST ? places : [];
}

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
      showComparison(table);
      onChange();
    });
    return make("label", {}, box, ` ${name}`);
  }));
}

export function receiveComparison(message) {
  if (message.panel !== "players") return;
  answers.set(message.player, message);
  if (table) showComparison(table);
}

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
  const current = new Map(places.map((place) => [place, answers.get(place)]).filter(([, answer]) => answer?.ply === table.ply));
  const unit = [...current.values()].find((answer) => answer.data)?.data.unit;
  const rows = places.map((place) => make("tr", {}, make("th", { scope: "row" }, table.players[place]), ...answerCells(current.get(place))));
  $("comparison").replaceChildren(
    make("table", {}, make("thead", {}, make("tr", {}, ...["player", "plays", "value"].map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, ...rows)),
    make("p", { class: "keys" }, unit ? `Values in ${unit}.` : ""));
}

function answerCells(answer) {
  if (answer?.fault) return [make("td", { colspan: 2 }, answer.fault)];
  if (!answer?.data) return [make("td", { colspan: 2 }, "thinking …")];
  const { action, words, value } = answer.data;
  const card = findCard(table.scene, action);
  return [make("td", {}, card ? inlineCard(card) : words), make("td", {}, value === null ? "none" : formatValue(value))];
}
