// Panels about the current decision. Values are in the points of the game.

import { $, draw, make, showProgress } from "./dom.js";
import { sign } from "./face.js";
import { cardElement, isMyTurn, nameOf } from "./table.js";

export const TITLES = {
  model: ["Model", "the model's policy, and what it says that each action is worth"],
  search: ["GO-MCTS", "visits and values of a search over imagined observations, and its lines"],
  pimc: ["PIMC", "values of the actions, in all and in each sampled world"],
  belief: ["Hidden cards", "where hidden cards lie, as shares of sampled worlds"],
  worlds: ["Worlds", "sampled worlds with all cards open"],
  tokens: ["Tokens", "what a model reads of the hand so far"],
};

// Writes a value with fewer decimals the larger it is.
export function formatValue(value) {
  if (value === null || value === undefined) return "";
  return value.toFixed(Math.abs(value) >= 9.995 ? 1 : 2).replace("-", "−");
}
export const formatShare = (value) => (value === null || value === undefined ? "" : value < 0.0005 ? "0" : `${(100 * value).toFixed(1)}%`);
const cell = (text, attributes = {}) => make("td", attributes, text);
const heads = (...names) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));
const scrolled = (name, ...children) => make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": name }, ...children);

let openPanels;
let onChange;

export function initPanels(open, changed) {
  openPanels = open; // set of the names of the open panels
  onChange = changed; // called after a change of the set
}

// Shows a button for each panel that this table has.
export function showButtons(panels) {
  $("looking").hidden = !panels.length;
  if ($("switches").dataset.panels === panels.join()) return;
  $("switches").dataset.panels = panels.join();
  $("switches").replaceChildren(...panels.map((panel) => {
    const button = make("button", { "data-panel": panel, "aria-pressed": String(openPanels.has(panel)), title: TITLES[panel][1] }, TITLES[panel][0]);
    button.addEventListener("click", () => {
      if (!openPanels.delete(panel)) openPanels.add(panel);
      button.setAttribute("aria-pressed", String(openPanels.has(panel)));
      if (!openPanels.has(panel)) $(`panel-${panel}`)?.remove();
      onChange();
    });
    return button;
  }));
}

function panelElement(panel) {
  let element = $(`panel-${panel}`);
  if (!element) {
    element = make("section", { id: `panel-${panel}`, class: "panel", "aria-label": TITLES[panel][0] }, make("h3", {}, TITLES[panel][0]), make("div", { class: "body" }));
    const order = Object.keys(TITLES);
    const after = [...$("panels").children].find((other) => order.indexOf(other.id.slice(6)) > order.indexOf(panel));
    $("panels").insertBefore(element, after ?? null);
  }
  return element;
}

export function showPanel(message) {
  if (!openPanels.has(message.panel)) return;
  const element = panelElement(message.panel);
  element.classList.toggle("busy", Boolean(message.busy));
  element.setAttribute("aria-busy", String(Boolean(message.busy)));
  element.dataset.ply = message.busy ? "" : message.ply;
  const body = element.lastElementChild;
  if (message.busy) {
    if (!element.querySelector("progress")) element.insertBefore(make("progress", { "aria-label": "Search done" }), body);
    showProgress(element.querySelector("progress"), message.progress);
    return;
  }
  element.querySelector("progress")?.remove();
  if (message.fault) {
    body.replaceChildren(make("p", { class: "keys" }, message.fault));
  } else {
    body.replaceChildren(...RENDERERS[message.panel](message.data));
  }
}

// Greys out panels about an earlier decision until their new contents arrive.
export function forgetPanels(table) {
  showButtons(table.panels);
  for (const element of $("panels").children) element.classList.add("old");
  if (!isMyTurn(table)) return;
  for (const element of $("panels").children) element.classList.toggle("old", element.dataset.ply !== String(table.ply));
}

function bar(value, most) {
  const element = make("span", { class: "bar", "aria-hidden": "true" });
  element.style.width = `${Math.round(60 * Math.max(0, value ?? 0) / (most || 1))}px`;
  return element;
}

export function actions(data) {
  const note = [nameOf(data.spec), data.seconds === undefined ? "" : `${data.seconds.toFixed(2)} s`, data.note ?? "", data.unit ? `values in ${data.unit}` : ""].filter(Boolean).join(" · ");
  if (!data.rows.length) return [make("p", { class: "keys", title: data.spec }, note)];
  const has = (key) => data.rows.some((row) => row[key] !== null);
  const columns = [["policy", formatShare], ["value", formatValue], ["visits", (n) => (n === null ? "" : String(n))]].filter(([key]) => has(key));
  const most = Math.max(...data.rows.map((row) => row.visits ?? row.policy ?? 0));
  const rows = data.rows.map((row) => make("tr", { class: row.action === data.best ? "best" : null },
    make("th", { scope: "row" }, row.words, row.action === data.best ? " ✓" : ""),
    ...columns.map(([key, text]) => cell(text(row[key]))), cell(bar(row.visits ?? row.policy, most))));
  return [make("p", { class: "keys", title: data.spec }, note), make("table", {}, heads("action", ...columns.map(([key]) => key), ""), make("tbody", {}, ...rows))];
}

function lines(nodes, all) {
  return make("ul", { class: "lines" }, ...nodes.map((node) => {
    const words = [make("b", {}, node.token), ` ${node.runs} of ${all} · ${formatValue(node.value)}`];
    if (!node.after.length) return make("li", {}, ...words);
    return make("li", {}, make("details", {}, make("summary", {}, ...words), lines(node.after, all)));
  }));
}

function search(data) {
  const elements = actions(data);
  if (data.lines) elements.push(make("h4", {}, "Most visited lines"), lines(data.lines, data.lines.reduce((sum, line) => sum + line.runs, 0)));
  return elements;
}

const tint = (value, low, high) => Math.round((100 * (value - low)) / (high - low || 1));

function pimc(data) {
  const elements = actions(data);
  if (!data.worlds) return elements;
  const allValues = data.worlds.flatMap((world) => world.values).filter((value) => value !== null);
  const [low, high] = [Math.min(...allValues), Math.max(...allValues)];
  const hands = (world) => world.cards.join("\n");
  const rows = data.worlds.map((world, i) => make("tr", {},
    make("th", { scope: "row", title: hands(world) }, String(i + 1)),
    ...world.values.map((value) => {
      const element = cell(formatValue(value), { class: "heat" });
      if (value !== null) element.style.setProperty("--heat", `${tint(value, low, high)}%`);
      return element;
    })));
  const table = make("table", { class: "matrix" }, heads("world", ...data.rows.map((row) => row.words)), make("tbody", {}, ...rows));
  elements.push(make("h4", {}, "Value by world"), scrolled("Value by world", table));
  if (data.worlds[0].cards.length)
    elements.push(make("details", {}, make("summary", {}, "the worlds"),
      make("ol", { class: "hands" }, ...data.worlds.map((world) => make("li", {}, hands(world))))));
  return elements;
}

// Shows the shares of one place as a grid of suits by ranks; a darker cell is more likely. Cards that are seen are blank.
function shareGrid(data, shares, place) {
  const { rows, columns, cells } = data.grid;
  const at = new Map(cells.map(([row, column], i) => [`${row},${column}`, i]));
  const body = rows.map((row, r) => make("tr", {},
    make("th", { scope: "row" }, row.sign
      ? draw("svg", { viewBox: "0 0 20 20", role: "img", "aria-label": row.words }, sign(row.sign, 0, 0, 20)) : row.words),
    ...columns.map((_, c) => {
      const i = at.get(`${r},${c}`);
      if (i === undefined) return cell("", { class: "heat seen" });
      const share = shares[i][place];
      const element = cell(share ? `${Math.round(100 * share)}` : "·", { class: "heat", title: `${data.cards[i]}: ${formatShare(share)}` });
      element.style.setProperty("--heat", `${Math.round(100 * share)}%`);
      return element;
    })));
  return make("div", {}, make("h5", {}, data.places[place]), scrolled(`${data.places[place]}, percent`,
    make("table", { class: "matrix shares" }, heads("", ...columns), make("tbody", {}, ...body))));
}

function belief(data) {
  const kinds = Object.entries(data.kinds).map(([kind, shares]) => make("div", {}, make("h4", {}, kind),
    make("div", { class: "kinds" }, ...data.places.map((_, place) => shareGrid(data, shares, place)))));
  return [make("p", { class: "keys" }, `share of ${data.worlds} sampled worlds, in percent`), ...kinds];
}

function worlds(data) {
  return data.scenes.map((scene, i) => make("details", { open: i === 0 }, make("summary", {}, `world ${i + 1}`),
    ...(scene.seats ?? []).filter((seat) => seat.cards?.length).map((seat) =>
      make("div", {}, make("h4", {}, `seat ${seat.seat}`), make("div", { class: "hand" }, ...seat.cards.map((card) => cardElement({ ...card, notes: [] }, null, true))))),
    ...(scene.piles ?? []).filter((pile) => pile.title === "Skat").map((pile) =>
      make("div", {}, make("h4", {}, pile.title), make("div", { class: "hand" }, ...pile.cards.map((card) => cardElement(card, null, true))))),
    ...(scene.board ?? []).map((row) => make("p", { class: "mono" }, row.map((field) => field.text || ".").join(" ")))));
}

function tokens(data) {
  const rows = data.events.map((event) => make("tr", {}, make("td", {}, event.what),
    make("td", {}, ...event.tokens.map((token) => make("code", {}, token)))));
  return [make("p", { class: "keys" }, `${data.length} tokens of at most ${data.most}`),
    scrolled("Tokens", make("table", { class: "tokens" }, heads("what happened", "tokens"), make("tbody", {}, ...rows)))];
}

const RENDERERS = { model: actions, search, pimc, belief, worlds, tokens };
