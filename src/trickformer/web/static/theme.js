// The colour theme of the pages. The root names it, which selects a block of variables at the beginning of style.css.

import { $, storeChoice } from "./dom.js";

export const THEMES = ["green", "blue", "wine", "slate", "sand"];

function show() {
  const stored = localStorage.getItem("theme") ?? THEMES[0];
  document.documentElement.dataset.theme = stored;
  const choice = $("theme");
  if (choice) choice.value = THEMES.includes(stored) ? stored : THEMES[0];
}

// Shows the theme on the page, sets up its choice if the page has settings, and follows another choice in another window.
export function initTheme() {
  show();
  addEventListener("storage", show);
  if ($("theme")) storeChoice("theme", show);
}
