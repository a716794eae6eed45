// The panel of tokens: what a model reads of the hand so far.

/** @import { Tokens } from "../types/messages" */

import { make } from "./dom.js";
import { heads, scrolled } from "./tables.js";

/** @param {Tokens} data */
export function tokens(data) {
  const rows = data.events.map((event) => make("tr", {}, make("td", {}, event.what),
    make("td", {}, ...event.tokens.map((token) => make("code", {}, token)))));
  return [make("p", { class: "keys" }, `${data.length} tokens of at most ${data.most}`),
    scrolled("Tokens", make("table", { class: "tokens" }, heads("what happened", "tokens"), make("tbody", {}, ...rows)))];
}
