// Parts of the pages' tables of text and numbers.

/** @import { Attributes } from "../types/page" */

import { make } from "./dom.js";

/** @param {string} text @param {Attributes} attributes */
export const cell = (text, attributes = {}) => make("td", attributes, text);

/** @param {(string | Node)[]} names */
export const heads = (...names) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));

/**
 * A part of the page that scrolls by itself, and that the keyboard reaches.
 * @param {string} name
 * @param {Node[]} children
 */
export const scrolled = (name, ...children) => make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": name }, ...children);
