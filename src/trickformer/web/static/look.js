// How a page with a felt looks: its settings of colours and deck, which all such pages share.

import { DECKS, initDeck } from "./deck.js";
import { $, make } from "./dom.js";
import { initTheme, THEMES } from "./theme.js";

/** @param {string} title @param {HTMLSelectElement} choice */
const row = (title, choice) => make("p", {}, make("label", { for: choice.id }, title), " ", choice);

// Adds the settings to the page, and shows what is chosen.
export function initLook() {
  $("look").append(
    row("Colours", make("select", { id: "theme" }, ...THEMES.map((name) => make("option", {}, name)))),
    row("Deck", make("select", { id: "deck" }, ...[...DECKS].map(([name, words]) => make("option", { value: name }, words)))));
  initTheme();
  initDeck();
}
