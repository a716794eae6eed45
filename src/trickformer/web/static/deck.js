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

/** @type {{ [word: string]: string | undefined }} */
const GERMAN_WORDS = { clubs: "acorns", spades: "leaves", diamonds: "bells", jack: "Unter", jacks: "Unters", queen: "Ober", queens: "Obers" };

/**
 * A text in which suits and ranks have the names of the deck.
 * @param {string} text
 */
export const deckWords = (text) => (isGerman() ? text.replace(/[a-z]+/g, (word) => GERMAN_WORDS[word] ?? word) : text);

/**
 * A text that follows the deck; the text itself if it names no suit or rank that has another name in a deck.
 * @param {string} text
 */
export function textInDeck(text) {
  if (!DECK_GAMES.includes(game) || !text.split(/[^a-z]+/).some((word) => GERMAN_WORDS[word])) return text;
  const element = document.createElement("span");
  return followDeck(element, () => { element.textContent = deckWords(text); });
}

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
