// The colour theme of the pages. The root names it, which selects a block of variables at the beginning of style.css.

import { $, storeChoice } from "./dom.js";

const show = () => { document.documentElement.dataset.theme = localStorage.getItem("theme") ?? "green"; };

// Shows the theme on the page, and follows another choice at the table.
export function initTheme() {
  show();
  addEventListener("storage", show);
}

// Sets up the choice of the theme in the settings.
export function initThemeChoice() {
  const options = [...$("theme").options].map(({ value }) => value);
  $("theme").value = options.find((value) => value === localStorage.getItem("theme")) ?? "green";
  storeChoice("theme", show);
}
