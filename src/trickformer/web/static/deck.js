// The deck whose signs and pictures the cards show. Its colours are a block of variables in style.css, which the root selects.

import { $, storeChoice } from "./dom.js";

/** @type {Map<string, string>} */
export const DECKS = new Map([["french", "French"], ["four", "French, four colours"], ["german", "German"]]); // by value of the setting: its text
const DECK_GAMES = ["hearts", "skat"]; // the other games have cards of their own, or none
/** @type {{ [rank: string]: string | undefined }} */
const GERMAN_RANKS = { J: "U", Q: "O" };

let game = ""; // game of the cards on the page
/** @type {WeakMap<Element, () => void>} */
const updates = new WeakMap(); // functions that show an element as the deck has it

const chosenDeck = () => {
  const choice = localStorage.getItem("deck") ?? "";
  return DECKS.has(choice) && (choice !== "german" || game === "skat") ? choice : "french";
};

export const isGerman = () => document.documentElement.dataset.deck === "german";

/**
 * The name of a rank in the corner of a card.
 * @param {string} rank
 */
export const rankName = (rank) => (isGerman() && GERMAN_RANKS[rank]) || rank;

/**
 * Shows an element as the deck has it, now and whenever the deck changes.
 * @template {Element} Shown
 * @param {Shown} element
 * @param {() => void} update
 */
export function followDeck(element, update) {
  update();
  updates.set(element, update);
  element.classList.add("decked");
  return element;
}

/**
 * Shows the chosen deck in the settings, if the game has decks.
 * @param {string} deck
 */
function showChoice(deck) {
  const choice = $("deck");
  const row = choice.closest("p");
  if (row) row.hidden = !DECK_GAMES.includes(game);
  const german = choice.options[[...DECKS.keys()].indexOf("german")];
  german.hidden = german.disabled = game !== "skat";
  choice.value = deck;
}

function show() {
  const deck = chosenDeck();
  showChoice(deck);
  if (document.documentElement.dataset.deck === deck) return;
  document.documentElement.dataset.deck = deck;
  for (const element of document.querySelectorAll(".decked")) updates.get(element)?.();
}

/**
 * Shows the deck for a game, and its choice if the game has one: the German deck is for Skat only.
 * @param {string} shown
 */
export function showDeck(shown) {
  game = shown;
  show();
}

// Shows the deck on the page, sets up its choice, and follows another choice in another window.
export function initDeck() {
  show();
  addEventListener("storage", show);
  storeChoice("deck", show);
}
