// The dialog of a claim: a score that the person can reach whatever the others do.

/** @import { TableMessage } from "../types/messages" */

import { $, openDialog } from "./dom.js";
import { send } from "./socket.js";

/**
 * @param {TableMessage} table
 * @param {() => void} claimed called after the claim is sent
 */
export function claim(table, claimed) {
  const most = table.best === "most" ? "at least" : "at most";
  $("claim-help").textContent = `You claim ${most} this score in this hand, whatever the others do. The table searches all lines of play with open cards, and plays the hand out if the claim is certain.`;
  openDialog($("claiming"), () => {
    send({ do: "claim", score: Math.trunc(Number($("claim-score").value)) });
    claimed();
  });
}
