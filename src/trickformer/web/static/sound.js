// The sounds of the table.

/** @typedef {"card" | "trick" | "turn"} Sound */

import { $ } from "./dom.js";

/** @type {AudioContext | null} */
let audio = null; // made at the first gesture after sound is switched on, as browsers demand

export function initSound() {
  $("sound").checked = localStorage.getItem("sound") === "on";
  $("sound").addEventListener("change", () => {
    localStorage.setItem("sound", $("sound").checked ? "on" : "off");
    wakeAudio();
    playSounds(["turn"]);
  });
  for (const gesture of ["pointerdown", "keydown"]) document.addEventListener(gesture, wakeAudio);
}

function wakeAudio() {
  if (!$("sound").checked) return;
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
}

/**
 * Notes of each sound.
 * @type {{ [Name in Sound]: [start: number, seconds: number, hertz: number, loudness: number][] }}
 */
const SOUNDS = {
  card: [[0, 0.05, 190, 0.25], [0.01, 0.03, 950, 0.05]],
  trick: [[0.3, 0.07, 150, 0.25], [0.36, 0.09, 120, 0.2]],
  turn: [[0.05, 0.12, 660, 0.08], [0.15, 0.18, 880, 0.08]],
};

/** @param {Sound[]} names */
export function playSounds(names) {
  if (!audio || !$("sound").checked) return;
  for (const [start, length, frequency, loudness] of names.flatMap((name) => SOUNDS[name])) {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    const at = audio.currentTime + start;
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(loudness, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + length);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + length);
  }
}
