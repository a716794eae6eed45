// Functions that find and make elements. Text is set as text, never as markup.

/** @import { Attributes, Child, DrawingAttributes, Elements } from "../types/page" */
/** @import { Progress } from "../types/messages" */

/**
 * Returns the element of the page with an id.
 * @template {keyof Elements} Id
 * @param {Id} id
 */
export const $ = (id) => /** @type {Elements[Id]} */ (document.getElementById(id));

/**
 * Stores the choice of a setting in the browser, under the setting's id, whenever it changes.
 * @param {"deck" | "speed" | "theme"} id
 * @param {() => void} [changed] called after that
 */
export const storeChoice = (id, changed) => $(id).addEventListener("change", () => {
  localStorage.setItem(id, $(id).value);
  changed?.();
});

/**
 * Lists the HTML elements that a selector matches.
 * @param {string} selector
 * @param {ParentNode} within
 */
export const all = (selector, within = document) => [...within.querySelectorAll(selector)].filter((element) => element instanceof HTMLElement);

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener("click", value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {DrawingAttributes} attributes
 * @param {(Node | string)[]} children
 */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * Updates a <progress> element.
 * @param {HTMLProgressElement} element
 * @param {Progress | undefined} progress undefined if the amount is not known
 */
export function showProgress(element, progress) {
  if (progress) [element.value, element.max] = [progress[0], progress[1]];
  else element.removeAttribute("value");
}

/**
 * Reports a fault until the reader closes the report or the page shows something new.
 * @param {string} text
 */
export function showFault(text) {
  const close = make("button", { click: () => { $("fault").hidden = true; } }, "Close");
  $("fault").replaceChildren(make("span", {}, text), " ", close);
  $("fault").hidden = false;
}

/**
 * Opens a dialog.
 * @param {HTMLDialogElement} dialog
 * @param {() => void} done called when the dialog is closed by its main button
 */
export function openDialog(dialog, done) {
  dialog.returnValue = "";
  dialog.onclose = () => dialog.returnValue && done();
  dialog.showModal();
}

/**
 * Tests whether a key belongs to the page: it is pressed alone, and outside the elements of a selector.
 * @param {KeyboardEvent} event
 * @param {string} selector
 */
export function isPageKey(event, selector) {
  const isElsewhere = event.target instanceof Element && event.target.closest(selector);
  return !event.ctrlKey && !event.altKey && !event.metaKey && !isElsewhere;
}
