// The dialog of a new match: a player for each seat, and the first deal.

/** @import { TableMessage } from "../types/messages" */

import { $, make, openDialog } from "./dom.js";
import { shortNames } from "./format.js";
import { send } from "./socket.js";

/** @param {TableMessage} table */
export function chooseMatch(table) {
  /** @param {number} seat */
  const isInvited = (seat) => table.links.some(([invited]) => invited === seat);
  $("seats").replaceChildren(...table.seats.map((who, seat) =>
    make("p", {}, make("label", { for: `who${seat}` }, `Seat ${seat}`), " ",
      make("select", { id: `who${seat}` }, ...shortNames(table.players).map((name, i) =>
        make("option", { value: i, selected: table.players[i] === who, title: table.players[i] }, name === "you" && isInvited(seat) ? "the invited person" : name))))));
  $("deal").value = String(table.deal + 1);
  openDialog($("new-match"), () => send({
    do: "match", deal: Math.trunc(Number($("deal").value)), seats: table.seats.map((_, seat) => Number($(`who${seat}`).value)),
  }));
}
