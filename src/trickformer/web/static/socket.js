// The connection of a page with its room at the server. A lost connection is made again after a second.

/** @import { PageMessage, PageRequest } from "../types/messages" */

import { $ } from "./dom.js";

/** @type {WebSocket | undefined} */
let socket;

/**
 * Tests whether a server answers that does not know the address: another table, because each start has a new address.
 */
async function isRefused() {
  try {
    return [403, 404].includes((await fetch(location.href, { method: "HEAD", cache: "no-store" })).status);
  } catch {
    return false; // nothing answers
  }
}

/**
 * Connects the page with a room.
 * @template {PageMessage} Message
 * @param {string} room
 * @param {{ opened: () => void, received: (message: Message) => void, closed?: () => void }} page
 */
export function connect(room, page) {
  const address = new URL(room, location.href);
  address.protocol = "ws:";
  socket = new WebSocket(address);
  socket.addEventListener("open", () => {
    $("away").hidden = true;
    page.opened();
  });
  socket.addEventListener("message", (event) => page.received(JSON.parse(event.data)));
  socket.addEventListener("close", async () => {
    $("away").hidden = false;
    page.closed?.();
    if (await isRefused()) $("away").textContent = "This table was closed. Open the new address from the terminal.";
    else setTimeout(() => connect(room, page), 1000);
  });
}

/**
 * Sends a message if the connection is open.
 * @param {PageRequest} message
 */
export function send(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}
