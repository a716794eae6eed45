// Motion and sound of the table. Neither delays anything: the page is in its final state while they run.

import { $, make } from "./dom.js";
import { isMyTurn } from "./table.js";

const FLIGHT = 300; // milliseconds that a card travels
const REST = 350; // milliseconds that a complete trick lies before it is collected
const EASING = "cubic-bezier(0.2, 0.7, 0.3, 1)";

let audio = null; // made at the first gesture after sound is switched on, as browsers demand
const running = new Set(); // animations that a click ends

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const canMove = () => $("motion").checked && !reduced.matches;

export function initMotion() {
  $("motion").checked = localStorage.getItem("motion") !== "off";
  $("sound").checked = localStorage.getItem("sound") === "on";
  const showReduced = () => { $("reduced").hidden = !reduced.matches; };
  reduced.addEventListener("change", showReduced);
  showReduced();
  $("motion").addEventListener("change", () => localStorage.setItem("motion", $("motion").checked ? "on" : "off"));
  $("sound").addEventListener("change", () => {
    localStorage.setItem("sound", $("sound").checked ? "on" : "off");
    wakeAudio();
    playSounds(["turn"]);
  });
  for (const gesture of ["pointerdown", "keydown"]) document.addEventListener(gesture, wakeAudio);
}

// Ends all motion at once.
export function skipMotion() {
  for (const animation of [...running]) animation.finish();
}

const seatBox = (seat) => (document.querySelector(`#felt .seat[data-seat="${seat}"] .hand`) ?? document.querySelector(`#felt .seat[data-seat="${seat}"]`))?.getBoundingClientRect();

// Compares two tables, before the second is drawn: which cards are new, where they come from, and who takes the trick.
export function planMotion(before, table) {
  if (!before || before.deal !== table.deal || table.ply <= before.ply) return null;
  const isComplete = !table.scene.trick?.length;
  const shown = (isComplete ? table.scene.last : table.scene.trick) ?? [];
  const isSame = (a, b) => a.seat === b.seat && a.card.name === b.card.name;
  const known = [...(before.scene.trick ?? []), ...(isComplete && !before.scene.trick?.length ? before.scene.last ?? [] : [])];
  const flights = shown.map((played, place) => ({ played, place })).filter(({ played }) => !known.some((other) => isSame(other, played)));
  for (const flight of flights) {
    const { seat, card } = flight.played;
    const held = document.querySelector(`#own .seat[data-seat="${seat}"] .card[data-name="${CSS.escape(card.name)}"] svg`);
    flight.from = held?.getBoundingClientRect() ?? seatBox(seat);
  }
  return { flights, taker: isComplete && flights.length ? table.scene.taker : undefined, isTurn: isMyTurn(table) && !isMyTurn(before) };
}

// Moves the cards of a plan, after the table is drawn.
export function playMotion(plan) {
  if (!plan) return;
  const isTaken = plan.taker !== undefined && plan.taker !== null;
  playSounds(["card", ...(isTaken ? ["trick"] : []), ...(plan.isTurn ? ["turn"] : [])]);
  if (!canMove()) return;
  const figures = [...$("trick").querySelectorAll(".played")];
  for (const { place, from } of plan.flights) {
    const to = figures[place]?.getBoundingClientRect();
    if (from?.width && to?.width) run(figures[place], [{ transform: shift(to, from) }, { transform: "none" }], { duration: FLIGHT });
  }
  const target = isTaken ? seatBox(plan.taker) : null;
  if (target?.width) collect(figures, target);
}

// The transform that lays a box onto another one, at a smaller size.
function shift(box, onto) {
  const [x, y] = [onto.left + onto.width / 2 - box.left - box.width / 2, onto.top + onto.height / 2 - box.top - box.height / 2];
  return `translate(${x}px, ${y}px)`;
}

function run(element, frames, options) {
  const animation = element.animate(frames, { easing: EASING, ...options });
  running.add(animation);
  animation.onfinish = animation.oncancel = () => running.delete(animation);
  return animation;
}

// Sends copies of the trick's cards to the seat that took it. The trick itself stays, pale, until the next card.
function collect(figures, target) {
  const copies = make("div", { class: "flying", "aria-hidden": "true" });
  document.body.append(copies);
  const animations = figures.map((figure) => {
    const box = figure.getBoundingClientRect();
    const copy = figure.cloneNode(true);
    Object.assign(copy.style, { position: "fixed", left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px` });
    copies.append(copy);
    return run(copy, [{ transform: "none", opacity: 0.9 }, { transform: `${shift(box, target)} scale(0.45)`, opacity: 0.2 }],
      { duration: FLIGHT, delay: FLIGHT + REST, fill: "backwards" });
  });
  for (const copy of copies.children) copy.style.visibility = "hidden"; // until the last card has landed
  const reveal = setTimeout(() => { for (const copy of copies.children) copy.style.visibility = ""; }, FLIGHT + REST);
  Promise.allSettled(animations.map((animation) => animation.finished)).then(() => {
    clearTimeout(reveal);
    copies.remove();
  });
}

function wakeAudio() {
  if (!$("sound").checked) return;
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
}

// Notes of each sound: [start in seconds, length, frequency in hertz, loudness].
const SOUNDS = {
  card: [[0, 0.05, 190, 0.25], [0.01, 0.03, 950, 0.05]],
  trick: [[0.3, 0.07, 150, 0.25], [0.36, 0.09, 120, 0.2]],
  turn: [[0.05, 0.12, 660, 0.08], [0.15, 0.18, 880, 0.08]],
};

function playSounds(names) {
  if (!audio || !$("sound").checked) return;
  for (const [start, length, frequency, loudness] of names.flatMap((name) => SOUNDS[name])) {
    const [tone, volume] = [audio.createOscillator(), audio.createGain()];
    const at = audio.currentTime + start;
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(loudness, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + length);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + length);
  }
}
