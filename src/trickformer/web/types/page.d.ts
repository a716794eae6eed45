// Shapes that the modules of the pages share. tests/web/test_types.py compares `Elements` with the HTML files.

import type { TableMessage } from "./messages";

// Takes the actions of one decision.
export type Act = (actions: number[]) => void;

// A table as it is drawn. In a review nobody is "you"; `label` names the hand.
export type ShownTable = Pick<TableMessage, "game" | "me" | "you" | "turn" | "seats" | "scene" | "scores" | "shared"> & {
  deal: number | null;
  label?: string;
};

// An attribute that is true stands without a value. One that is false or missing is left out. Only `click` is a function.
export interface Attributes {
  [name: string]: string | number | boolean | null | undefined | (() => unknown);
}

export interface DrawingAttributes {
  [name: string]: string | number;
}

export type Child = Node | string | null | undefined;

// Elements of the pages by their ids. A page has some of them; an id has the same type on every page.
export interface Elements {
  after: HTMLButtonElement;
  again: HTMLButtonElement;
  all: HTMLButtonElement;
  analyst: HTMLSelectElement;
  annotation: HTMLDialogElement;
  "annotation-card": HTMLParagraphElement;
  "annotation-text": HTMLInputElement;
  answer: HTMLElement;
  appearance: HTMLDivElement;
  at: HTMLInputElement;
  away: HTMLParagraphElement;
  back: HTMLAnchorElement;
  before: HTMLButtonElement;
  board: HTMLDivElement;
  cancel: HTMLButtonElement;
  centre: HTMLDivElement;
  charts: HTMLDivElement;
  choices: HTMLDivElement;
  claim: HTMLButtonElement;
  "claim-help": HTMLParagraphElement;
  "claim-score": HTMLInputElement;
  claiming: HTMLDialogElement;
  "columns-note": HTMLParagraphElement;
  compared: HTMLDivElement;
  comparing: HTMLDetailsElement;
  comparison: HTMLDivElement;
  conclusion: HTMLParagraphElement;
  confirm: HTMLButtonElement;
  curves: HTMLDivElement;
  deal: HTMLInputElement;
  dealt: HTMLDivElement;
  decision: HTMLInputElement;
  decisions: HTMLDivElement;
  deck: HTMLSelectElement;
  earlier: HTMLButtonElement;
  evaluated: HTMLDivElement;
  expected: HTMLParagraphElement;
  fault: HTMLParagraphElement;
  features: HTMLParagraphElement;
  felt: HTMLElement;
  filters: HTMLFormElement;
  first: HTMLButtonElement;
  "first-done": HTMLSpanElement;
  game: HTMLInputElement;
  games: HTMLInputElement;
  gauge: HTMLDivElement;
  give: HTMLButtonElement;
  "giving-up": HTMLDialogElement;
  hand: HTMLElement;
  hands: HTMLDivElement;
  hint: HTMLButtonElement;
  inviting: HTMLElement;
  judged: HTMLParagraphElement;
  jump: HTMLFormElement;
  last: HTMLButtonElement;
  "last-trick": HTMLButtonElement;
  later: HTMLButtonElement;
  leaf: HTMLSpanElement;
  leaves: HTMLParagraphElement;
  links: HTMLUListElement;
  log: HTMLDivElement;
  looking: HTMLElement;
  loser: HTMLSelectElement;
  match: HTMLButtonElement;
  "matches-note": HTMLParagraphElement;
  measure: HTMLSelectElement;
  motion: HTMLInputElement;
  "new-match": HTMLDialogElement;
  next: HTMLButtonElement;
  notes: HTMLUListElement;
  offer: HTMLDivElement;
  others: HTMLDivElement;
  own: HTMLDivElement;
  panels: HTMLDivElement;
  piles: HTMLDivElement;
  played: HTMLParagraphElement;
  player: HTMLSelectElement;
  rate: HTMLButtonElement;
  rated: HTMLDivElement;
  reduced: HTMLParagraphElement;
  remarks: HTMLUListElement;
  result: HTMLDivElement;
  review: HTMLDivElement;
  "review-hand": HTMLAnchorElement;
  rows: HTMLDivElement;
  run: HTMLElement;
  "run-title": HTMLHeadingElement;
  sat: HTMLDivElement;
  score: HTMLSpanElement;
  scores: HTMLElement;
  searched: HTMLProgressElement;
  seating: HTMLSelectElement;
  seats: HTMLDivElement;
  shelf: HTMLElement;
  "shelf-note": HTMLParagraphElement;
  signs: HTMLParagraphElement;
  since: HTMLSpanElement;
  sound: HTMLInputElement;
  source: HTMLSelectElement;
  specs: HTMLDListElement;
  speed: HTMLSelectElement;
  status: HTMLParagraphElement;
  switches: HTMLDivElement;
  tables: HTMLDivElement;
  telling: HTMLDetailsElement;
  theme: HTMLSelectElement;
  title: HTMLHeadingElement;
  told: HTMLPreElement;
  total: HTMLParagraphElement;
  training: HTMLAnchorElement;
  trick: HTMLDivElement;
  tried: HTMLDivElement;
  try: HTMLButtonElement;
  undo: HTMLButtonElement;
  warning: HTMLDialogElement;
  "warning-words": HTMLParagraphElement;
  warns: HTMLInputElement;
  "warns-at": HTMLInputElement;
  "warns-unit": HTMLSpanElement;
  words: HTMLPreElement;
  working: HTMLParagraphElement;
  [seat: `who${number}`]: HTMLSelectElement;
}
