// The bar beside the table: the expected result between the lowest and the highest result of the game.

/** @import { Evaluation } from "../types/messages" */

import { $, all } from "./dom.js";
import { formatValue, nameOf, signed } from "./format.js";

/**
 * @param {Evaluation | null} data
 * @param {boolean} isCurrent whether the evaluation is about the decision on the table
 */
export function showGauge(data, isCurrent) {
  const [scale, value] = [data?.scale ?? null, data?.value ?? null];
  const hasValue = scale !== null && value !== null;
  $("gauge").hidden = $("expected").hidden = !hasValue;
  if (!data || !hasValue) {
    if (data) {
      $("expected").textContent = `${nameOf(data.spec)} gives no value here.`;
      $("expected").hidden = false;
    }
    return;
  }
  const [low, high] = scale;
  /** @param {number} x */
  const share = (x) => `${(100 * Math.min(1, Math.max(0, (x - low) / (high - low || 1)))).toFixed(1)}%`;
  const when = isCurrent ? "" : " at your last decision";
  const now = signed(formatValue, value, low);
  const ends = [low, high].map((end) => signed(Math.round, end, low));
  const words = `${now} ${data.unit}, expected by ${nameOf(data.spec)}${when}. The bar goes from ${ends[0]} to ${ends[1]}.`;
  const [track] = all(".track", $("gauge"));
  [now, ends[1], "", ends[0]].forEach((text, i) => text && ($("gauge").children[i].textContent = text));
  track.style.setProperty("--share", share(value));
  track.style.setProperty("--zero", share(0));
  track.classList.toggle("signed", low < 0 && high > 0);
  for (const [name, content] of Object.entries({ valuemin: low, valuemax: high, valuenow: value, valuetext: words })) $("gauge").setAttribute(`aria-${name}`, String(content));
  $("gauge").title = words;
  $("expected").textContent = words;
}
