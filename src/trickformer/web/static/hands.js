// The list of hands: its pages, columns, orders and filters. The server sorts and filters. The hands may be those of a run, a
// tournament that is perhaps still played; its description is its report and its charts (run.js).

/** @import { HandColumn, HandFilters, HandOrder, HandQuery, ListMessage, SortKey } from "../types/messages" */

import { $, all, make } from "./dom.js";
import { nameOf } from "./format.js";
import { send } from "./socket.js";

const FILTERS = /** @type {const} */ (["seating", "player", "loser"]);
/** @type {HandQuery} */
const query = { page: 0, sort: null, descending: false, seating: null, player: null, loser: null };
/** @type {() => boolean} */
let isShown; // returns whether the list is shown
let isPending = false; // whether the answer to a request is awaited
let isOutdated = false; // whether the query has changed since that request
let isRefresh = false; // whether the request updates the list that is shown, so that its progress stays hidden
/** @type {string | null} */
let columns = null; // JSON of the columns that the head of the table shows
/** @type {string | null} */
let shownRows = null; // JSON of the rows that the table shows
let isDescribed = false; // whether the description of the run was requested
let isWaiting = false; // whether the server cannot sort yet, because it reads all records only once the description is requested

export const isRefreshing = () => isRefresh;

/** @param {() => boolean} isListShown returns whether the list is shown */
export function initHands(isListShown) {
  isShown = isListShown;
  $("earlier").addEventListener("click", () => change({ page: query.page - 1 }));
  $("later").addEventListener("click", () => change({ page: query.page + 1 }));
  for (const name of FILTERS)
    $(name).addEventListener("change", () => {
      query[name] = $(name).value === "" ? null : Number($(name).value);
      change({ page: 0 });
    });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
}

// Requests the list, also after the connection was lost and made again.
export function requestHands() {
  [isPending, isDescribed] = [false, false];
  request(false);
}

/**
 * Requests the list after the run was described.
 * @param {boolean} isUpdate whether it has new records
 */
export function refreshHands(isUpdate) {
  if (isShown() && !isPending && (isUpdate || isWaiting)) request(true);
}

/**
 * Requests a description of the run, or looks for new records if the page has a description.
 * @param {number | null} known number of records that the page has a description of
 */
export function requestDescription(known) {
  if (isShown() && !isPending) send({ do: "describe", known });
}

/** Notes that the request failed or was stopped, so that the next one is sent. */
export function endRequest() {
  [isPending, isOutdated] = [false, false];
}

/** @param {Partial<HandQuery>} values */
function change(values) {
  Object.assign(query, values);
  if (isPending) isOutdated = true; // a new request would end the server's worker, which would have to read the records again
  else request(false);
}

/** @param {boolean} refresh whether the request updates the list that is shown, so that its progress stays hidden */
function request(refresh) {
  [isPending, isOutdated, isRefresh] = [true, false, refresh];
  send({ do: "list", ...query });
}

/** @param {ListMessage} message */
export function showHands(message) {
  isPending = false;
  if (isOutdated) {
    request(false);
    return;
  }
  query.page = message.page;
  $("shelf-note").textContent = message.note;
  showFilters(message.filters);
  const all = message.count.toLocaleString("en");
  $("total").textContent = message.total === message.count ? `${all} hands` : `${message.total.toLocaleString("en")} of ${all} hands`;
  $("leaves").hidden = message.pages === 1;
  $("leaf").textContent = `page ${message.page + 1} of ${message.pages}`;
  $("earlier").disabled = message.page === 0;
  $("later").disabled = message.page === message.pages - 1;
  showHead(message.columns, message.order);
  showRows(message);
  isRefresh = false;
  isWaiting = message.waiting;
  if (isWaiting || (message.run && !isDescribed)) {
    isDescribed = true;
    requestDescription(null);
  }
}

/** @param {HandFilters | undefined} filters */
function showFilters(filters) {
  $("filters").hidden = !filters;
  $("columns-note").textContent = filters?.note ?? "";
  if (!filters) return;
  /** @type {[place: number, words: string][]} */
  const players = filters.players.map((name, i) => [i, name]);
  const choices = { seating: filters.seatings, player: players, loser: players };
  for (const name of FILTERS) {
    if ($(name).options.length !== choices[name].length + 1)
      $(name).replaceChildren(make("option", { value: "" }, "all"), ...choices[name].map(([value, words]) => make("option", { value }, words)));
    $(name).value = String(query[name] ?? "");
  }
}

/**
 * Shows the heads of the columns. They are made once, so that a button keeps the focus.
 * @param {HandColumn[]} described
 * @param {HandOrder} order
 */
function showHead(described, order) {
  if (columns !== JSON.stringify(described)) {
    columns = JSON.stringify(described);
    const heads = described.map((column) => make("th", { scope: "col", "data-key": column.key },
      column.sortable ? make("button", { class: "sort", click: () => sortBy(column.key) }, column.title, make("span", { "aria-hidden": "true" })) : column.title));
    $("rows").replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody")));
    shownRows = null;
  }
  for (const head of all("th[data-key]", $("rows"))) {
    const isSorted = head.dataset.key === order.sort;
    if (isSorted) head.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
    const mark = head.querySelector("button span");
    if (mark) mark.textContent = isSorted ? (order.descending ? " ▼" : " ▲") : "";
  }
}

/** @param {SortKey} key */
function sortBy(key) {
  const current = $("rows").querySelector(`th[data-key="${key}"]`)?.getAttribute("aria-sort");
  change({ page: 0, sort: key, descending: current === "ascending" });
}

/** @param {ListMessage} message */
function showRows(message) {
  const json = JSON.stringify(message.rows);
  if (json === shownRows) return;
  shownRows = json;
  const focused = document.activeElement?.closest("#rows a")?.getAttribute("href");
  // `who`: the players' specs in a file of games; `seats`: the letters or numbers of a tournament's players, seat by seat
  $("rows").querySelector("tbody")?.replaceChildren(...message.rows.map((row) => make("tr", {},
    ...message.columns.map(({ key }) => key === "number"
      ? make("th", { scope: "row" }, make("a", { href: `#${row.number}` }, `game ${row.number}`))
      : make("td", { class: ["who", "seats"].includes(key) ? "words" : null }, key === "who" ? row.who?.split(", ").map(nameOf).join(" ") : row[key])))));
  if (focused) all(`a[href="${focused}"]`, $("rows"))[0]?.focus();
}
