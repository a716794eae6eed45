// The panels about the current decision: their buttons, their frames, and which are open.

/** @import { LookMessage, PanelData, PanelName, TableMessage } from "../types/messages" */

import { belief } from "./belief.js";
import { $, all, make, showProgress } from "./dom.js";
import { actions, pimc, search } from "./evaluation.js";
import { isMyTurn } from "./table.js";
import { tokens } from "./tokens.js";
import { worlds } from "./worlds.js";

/** @type {{ [Name in PanelName]: [title: string, help: string] }} */
export const TITLES = {
  model: ["Model", "the model's policy, and its value of each action"],
  search: ["GO-MCTS", "visits and values of a search over imagined observations, and its most visited lines"],
  pimc: ["PIMC", "values of the actions, in all and in each sampled world"],
  belief: ["Belief", "where hidden cards or mines may lie, as shares of sampled worlds"],
  worlds: ["Worlds", "sampled worlds with all cards open"],
  tokens: ["Tokens", "what a model reads of the hand so far"],
};

/** @type {Set<PanelName>} */
let openPanels;
/** @type {() => void} */
let onChange;

/**
 * @param {Set<PanelName>} open names of the open panels
 * @param {() => void} changed called after a change of the set
 */
export function initPanels(open, changed) {
  openPanels = open;
  onChange = changed;
}

/**
 * Shows a button for each panel that this table has.
 * @param {PanelName[]} panels
 */
export function showButtons(panels) {
  $("looking").hidden = !panels.length;
  if ($("switches").dataset.panels === panels.join()) return;
  $("switches").dataset.panels = panels.join();
  $("switches").replaceChildren(...panels.map((panel) => {
    const button = make("button", { "data-panel": panel, "aria-pressed": String(openPanels.has(panel)), title: TITLES[panel][1] }, TITLES[panel][0]);
    button.addEventListener("click", () => {
      if (!openPanels.delete(panel)) openPanels.add(panel);
      button.setAttribute("aria-pressed", String(openPanels.has(panel)));
      if (!openPanels.has(panel)) panelIn(panel)?.remove();
      onChange();
    });
    return button;
  }));
}

/** @param {PanelName} panel */
const panelIn = (panel) => document.getElementById(`panel-${panel}`);

/** @param {PanelName} panel */
function panelElement(panel) {
  let element = panelIn(panel);
  if (!element) {
    element = make("section", { id: `panel-${panel}`, class: "panel", "aria-label": TITLES[panel][0] }, make("h3", {}, TITLES[panel][0]), make("div", { class: "body" }));
    const order = Object.keys(TITLES);
    const after = [...$("panels").children].find((other) => order.indexOf(other.id.slice(6)) > order.indexOf(panel));
    $("panels").insertBefore(element, after ?? null);
  }
  return element;
}

/**
 * Shows the contents of a panel if it is open.
 * @param {LookMessage} message
 */
export function showPanel(message) {
  if (message.panel === "players" || !openPanels.has(message.panel)) return;
  const element = panelElement(message.panel);
  element.classList.toggle("busy", Boolean(message.busy));
  element.setAttribute("aria-busy", String(Boolean(message.busy)));
  element.dataset.ply = message.busy ? "" : String(message.ply);
  const body = element.lastElementChild;
  let progress = element.querySelector("progress");
  if (message.busy) {
    if (!progress) {
      progress = make("progress", { "aria-label": "Search done" });
      element.insertBefore(progress, body);
    }
    showProgress(progress, message.progress);
    return;
  }
  progress?.remove();
  if (message.data) body?.replaceChildren(...render(message.panel, message.data));
  else body?.replaceChildren(make("p", { class: "keys" }, message.fault));
}

/**
 * Greys out panels about an earlier decision until their new contents arrive.
 * @param {TableMessage} table
 */
export function forgetPanels(table) {
  showButtons(table.panels);
  for (const element of $("panels").children) element.classList.add("old");
  if (!isMyTurn(table)) return;
  for (const element of all(".panel", $("panels"))) element.classList.toggle("old", element.dataset.ply !== String(table.ply));
}

/** @type {{ [Name in PanelName]: (data: PanelData[Name]) => Node[] }} */
const RENDERERS = { model: actions, search, pimc, belief, worlds, tokens };

/**
 * @template {PanelName} Name
 * @param {Name} panel
 * @param {PanelData[Name]} data
 */
const render = (panel, data) => RENDERERS[panel](data);
