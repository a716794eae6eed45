// Numbers, shares, units, players and hands in text.

/** @import { TableMessage } from "../types/messages" */

const MAX_NAME = 48; // characters of a player's name in a list

/**
 * Identifies the hand of a table. A new match may have the same deal and seats, and a restarted server counts anew.
 * @param {TableMessage} table
 */
export const handKey = ({ hand, deal, seats }) => JSON.stringify([hand, deal, seats]);

/**
 * Writes a value with fewer decimals the larger it is.
 * @param {number | null | undefined} value
 */
export function formatValue(value) {
  if (value === null || value === undefined) return "";
  return value.toFixed(Math.abs(value) >= 9.995 ? 1 : 2).replace("-", "−");
}

/**
 * Adds the standard error of a number, if there is one.
 * @param {string} text
 * @param {number | null} error
 * @param {(error: number) => string} digits
 */
export const withError = (text, error, digits = formatValue) => (error === null ? text : `${text} ± ${digits(error)}`);

/** @param {number | null | undefined} value */
export const formatShare = (value) => (value === null || value === undefined ? "" : value < 0.0005 ? "0" : `${(100 * value).toFixed(1)}%`);

/**
 * The unit of a review without the explanation that follows it.
 * @param {string} unit
 */
export const shortUnit = (unit) => unit.split(",")[0];

/**
 * The name of a player without its options.
 * @param {string} spec
 */
export const nameOf = (spec) => spec.split(":")[0];

/**
 * Names players for a list: by the name alone if no other player has it, else by the spec, shortened.
 * @param {string[]} specs
 */
export function shortNames(specs) {
  const names = specs.map(nameOf);
  return specs.map((spec, i) => {
    if (names.filter((name) => name === names[i]).length === 1) return names[i];
    return spec.length > MAX_NAME ? `${spec.slice(0, MAX_NAME - 1)}…` : spec;
  });
}

/**
 * Writes a number with its sign; a game without negative results needs no plus.
 * @param {(size: number) => string | number} digits
 * @param {number} value
 * @param {number} low
 */
export const signed = (digits, value, low) => `${value < 0 ? "−" : value > 0 && low < 0 ? "+" : ""}${digits(Math.abs(value))}`;
