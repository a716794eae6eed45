// The settings of a page's appearance, colours and deck, which all pages with a felt share.

import { DECKS, initDeck } from "./deck.js";
import { $, make } from "./dom.js";
import { initTheme, THEMES } from "./theme.js";

/** @param {string} title @param {HTMLSelectElement} choice */
const row = (title, choice) => make("p", {}, make("label", { for: choice.id }, title), " ", choice);

// Adds the settings to the page, and shows what is chosen.
export function initAppearance() {
  $("appearance").append(
    row("Colours", make("select", { id: "theme" }, ...THEMES.map((name) => make("option", {}, name)))),
    row("Deck", make("select", { id: "deck" }, ...[...DECKS].map(([name, words]) => make("option", { value: name }, words)))));
  initTheme();
  initDeck();
}
