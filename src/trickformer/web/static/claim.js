// The dialog of a claim: a score that the person can reach whatever the others do.

/** @import { TableMessage } from "../types/messages" */

import { $, openDialog } from "./dom.js";
import { send } from "./socket.js";

/** @param {TableMessage} table */
export function claim(table) {
  const most = table.best === "most" ? "at least" : "at most";
  $("claim-help").textContent = `You say that this hand brings you ${most} this score, whatever the others do. The table tries every line of play with open cards; where that shows it, the hand is played out so.`;
  openDialog($("claiming"), () => send({ do: "claim", score: Math.trunc(Number($("claim-score").value)) }));
}
