// Messages between the server and the pages. The server makes them in web/room.py, reading.py, desk.py, inside.py,
// training.py and puzzles.py, and reads the messages of a page in web/messages.py. tests/web/test_types.py compares both with these
// shapes.
// A field of a scene is missing if it has the default of web/scenes/_scene.py.

// Parts of a scene

export type Sign = "clubs" | "diamonds" | "hearts" | "spades" | "rocket" | "pink" | "blue" | "green" | "yellow" | "red" | "white";

export interface Option {
  words: string;
  actions: number[];
  lights?: number[];
}

export interface Card {
  name?: string;
  words?: string;
  rank?: string;
  sign?: Sign | "";
  action?: number | null;
  options?: Option[];
  notes?: string[];
  about?: string;
  done?: boolean;
  order?: number | null;
  annotation?: string;
}

export interface Seat {
  seat: number;
  cards?: Card[];
  features?: string[];
  last_action?: string;
}

export interface TrickCard {
  seat: number;
  card: Card;
}

export interface Pile {
  title: string;
  cards: Card[];
  seat?: number | null;
  is_small?: boolean;
  use?: string;
}

export interface Cell {
  text: string;
  words: string;
  action?: number | null;
  kind?: "closed" | "open" | "mine" | "hit";
}

export interface Choice {
  action: number;
  words: string;
  group?: string;
}

export interface Rung {
  words: string;
  action?: number | null;
  is_called?: boolean;
}

export interface FinalHand {
  seat: number;
  piles: Pile[];
}

export interface LogEntry {
  seat?: number | null;
  taker?: number | null;
  words?: string;
  cards?: Card[];
}

export interface Effect {
  seat: number;
  places: number[];
  pile?: number | null;
  at?: number;
  source?: number | null;
}

export interface Scene {
  title?: string;
  ask?: string;
  pick?: number;
  confirm?: string;
  seats?: Seat[];
  trick?: TrickCard[];
  last?: TrickCard[];
  taker?: number | null;
  piles?: Pile[];
  effect?: Effect | null;
  board?: Cell[][];
  mines?: number;
  choices?: Choice[];
  ladder?: Rung[];
  features?: string[];
  outcome?: string;
  result?: string[];
  hands?: FinalHand[];
  text?: string;
}

// The table

export type Progress = [done: number, total: number];

export interface TableMessage {
  type: "table";
  game: string;
  deal: number;
  hand: number; // number of the hand at this table, from 1; a new match counts on
  ply: number;
  me: number; // seat at the bottom of the page
  you: number | null; // the same seat if the reader plays it; null if a player has it, and for a spectator
  turn: number | null;
  seats: string[];
  order: number[]; // seats in the order of the players at the table, which stays the same when players change seats
  people: number[];
  rights: "host" | "guest" | "watch";
  open: boolean;
  links: [seat: number | null, path: string][];
  scene: Scene;
  log: LogEntry[];
  told: string;
  scores: number[] | null;
  hands: [deal: number, scores: number[]][];
  totals: number[];
  shared: boolean;
  best: "most" | "fewest";
  plays_to: number | null;
  undo: boolean;
  players: string[];
  panels: PanelName[];
  record: number | null;
  warning: { is_on: boolean; limit: number; unit: string };
}

export interface ThinkingMessage {
  type: "thinking";
  seat: number | null;
  stopped: boolean;
  progress?: Progress;
}

export interface AbsentMessage {
  type: "absent";
  seats: number[];
}

export interface ErrorMessage {
  type: "error";
  text: string;
}

export interface EvaluatedAction {
  action: number;
  words: string;
  policy: number | null;
  value: number | null;
  visits: number | null;
  loss: number | null;
  loss_error: number | null;
}

export interface Hint {
  best: number;
  candidates: number[];
  basis: "error" | "visits" | "policy" | "value" | null;
  rival: number | null;
  lead: number | null;
  error: number | null;
}

export interface SearchLine {
  token: string;
  runs: number;
  value: number;
  after: SearchLine[];
}

export interface SampledWorld {
  cards: string[];
  values: (number | null)[];
}

export interface Evaluation {
  spec: string;
  seconds: number;
  best: number;
  unit: string;
  value: number | null;
  scale: [low: number, high: number] | null;
  cards: Card[]; // cards of the game that its actions and lines may name
  rows: EvaluatedAction[];
  hint?: Hint;
  note?: string;
  lines?: SearchLine[];
  worlds?: SampledWorld[];
}

export interface ComparedDecision {
  action: number;
  words: string;
  value: number | null;
  unit: string;
  seconds: number;
}

export interface Belief {
  places: string[];
  cards: string[];
  kinds: { [kind: string]: number[][] };
  worlds: number;
  grid: {
    rows: { sign?: Sign | ""; words: string }[];
    columns: string[];
    cells: [row: number, column: number][];
  };
}

export interface Worlds {
  scenes: Scene[];
}

export interface Tokens {
  events: { what: string; tokens: string[] }[];
  length: number;
  most: number;
}

export type EvaluationName = "model" | "search" | "pimc";

export interface PanelData {
  model: Evaluation;
  search: Evaluation;
  pimc: Evaluation;
  belief: Belief;
  worlds: Worlds;
  tokens: Tokens;
}

export type PanelName = keyof PanelData;

// The message has one of these: `busy`, maybe with `progress`, while the panel is computed; `data`; or `fault`.
interface LookContents<Data> {
  type: "look";
  ply: number;
  busy?: true;
  progress?: Progress;
  data?: Data;
  fault?: string;
}

export type PanelMessageOf<Name extends PanelName> = LookContents<PanelData[Name]> & { panel: Name; player: null };
export type EvaluationMessage = { [Name in EvaluationName]: PanelMessageOf<Name> }[EvaluationName];
export type PanelMessage = { [Name in PanelName]: PanelMessageOf<Name> }[PanelName];
export type ComparisonMessage = LookContents<ComparedDecision> & { panel: "players"; player: number };
export type LookMessage = PanelMessage | ComparisonMessage;

export type TablePageMessage = TableMessage | ThinkingMessage | AbsentMessage | LookMessage | ErrorMessage;

// The list of hands, and the description of a run

export type SortKey = "number" | "deal" | "seats" | "scores" | "lead" | "difference" | "loser";

// A file that is no tournament has the columns `who` and `result`.
export type ColumnKey = SortKey | "who" | "result";

export type HandRow = { number: number } & { [Key in Exclude<ColumnKey, "number">]?: string };

export type HandColumn =
  | { key: SortKey; title: string; sortable: boolean }
  | { key: Exclude<ColumnKey, SortKey>; title: string; sortable: false };

export interface HandFilters {
  players: string[];
  seatings: [place: number, words: string][];
  note: string;
}

export interface HandOrder {
  sort: SortKey;
  descending: boolean;
}

export interface ListMessage {
  type: "list";
  name: string;
  page: number;
  run: boolean;
  waiting: boolean;
  columns: HandColumn[];
  rows: HandRow[];
  note: string;
  count: number;
  total: number;
  pages: number;
  order: HandOrder;
  filters?: HandFilters;
}

export interface ReportSection {
  title: string;
  head: string[];
  rows: string[][];
  key: string;
  folded: boolean;
}

export interface Report {
  heading: string;
  conclusion: string;
  names: [name: string, spec: string][];
  notes: string[];
  sections: ReportSection[];
}

export interface IntervalChart {
  kind: "intervals";
  title: string;
  axis: string[];
  rows: { label: string; value: number; ci95: [low: number, high: number] | null }[];
}

export interface Histogram {
  kind: "histogram";
  title: string;
  axis: string[];
  edges: number[];
  counts: number[];
  mean: number;
}

export type CurvePoint = [x: number, value: number | null, low: number | null, high: number | null];

export interface CurveChart {
  kind: "curves";
  title: string;
  axis: string[];
  curves: { label: string; points: CurvePoint[] }[];
  marks: number[];
  zero: boolean;
}

export type Chart = IntervalChart | Histogram | CurveChart;

export type RunDescription = Report & {
  changed: true;
  charts: Chart[];
  played: number;
  scheduled: number;
  over: boolean;
  written: number;
};

export type RunMessage = { type: "run" } & (RunDescription | { changed: false });

// A training

export interface TrainingMatch {
  model: string;
  opponent: string;
  difference: string;
  interval: string;
  deals: string;
  hands: string | null;
}

export type TrainingDescription = Report & {
  changed: true;
  name: string;
  known: number;
  over: boolean;
  charts: CurveChart[];
  matches: TrainingMatch[];
};

export type TrainingMessage = { type: "training" } & (TrainingDescription | { changed: false });

export type TrainingPageMessage = TrainingMessage | ErrorMessage;

// The review of a hand

export interface Position {
  scene: Scene;
  number: number;
  seat: number;
  trick: number | null;
  action: number;
  words: string;
}

export interface HandMessage {
  type: "hand";
  number: number;
  table: boolean;
  game: string;
  deal: number | null;
  names: string[];
  positions: Position[];
  end: { scene: Scene };
  over: boolean;
  scores: number[] | null;
  shared: boolean;
  told: string;
  notes: string[];
  analysts: string[];
  players: string[];
  sat: number[];
}

export interface DecisionRating {
  number: number;
  loss: number | null;
  error: number | null;
  grade: "inaccuracy" | "mistake" | "blunder" | null;
  actions: [words: string, value: number | null, isTaken: boolean][];
}

export interface ReviewCurve {
  who: string;
  points: [number: number, value: number][];
  result: number | null;
}

export interface ReviewMessage {
  type: "review";
  number: number;
  analyst: string;
  unit: string;
  notes: string[];
  ratings: DecisionRating[];
  curves: ReviewCurve[];
  mistakes: { number: number; words: string }[];
  answers: { lines: string[]; losing_step: number | null }[];
}

export interface WhatIfMessage {
  type: "what-if";
  hand: number;
  rules: string;
  number: number;
  action: string | null;
  players: string[];
  games: number;
  means: number[];
  ci95: ([low: number, high: number] | null)[];
  came: number[] | null;
  unit: string;
}

// Progress of the page's job. A message with `what` alone reports its start, and `what: null` its end.
export interface WorkingMessage {
  type: "working";
  what: string | null;
  unit?: string;
  done?: number;
  total?: number;
}

export type ReviewPageMessage =
  ListMessage | RunMessage | HandMessage | ReviewMessage | WhatIfMessage | WorkingMessage | ErrorMessage;

// Puzzles

export interface PuzzleMessage {
  type: "puzzle";
  number: number;
  most: number;
  game: string;
  me: number;
  turn: number;
  seats: string[];
  scene: Scene;
  log: LogEntry[];
  shared: boolean;
  unit: string;
  judge: string;
  score: string;
}

export interface SolutionMessage {
  type: "solution";
  number: number;
  chosen: number;
  rows: {
    action: number;
    words: string;
    value: number | null;
    error: number | null;
    loss: number | null;
    loss_error: number | null;
    verdict: string;
  }[];
  solutions: number[];
  played: number;
  record: number;
  decision: number;
  score: string;
}

export interface PuzzleEndMessage {
  type: "end";
  none: string;
  score: string;
}

export type PuzzlePageMessage = PuzzleMessage | SolutionMessage | PuzzleEndMessage | WorkingMessage | ErrorMessage;

// Messages of the pages

export interface HandQuery {
  page: number;
  sort: SortKey | null;
  descending: boolean;
  seating: number | null;
  player: number | null;
  loser: number | null;
}

export type DescribeRequest = { do: "describe"; known: number | null };

export type TableRequest =
  | { do: "act"; seat: number; action: number; ply: number }
  | { do: "undo" | "again" | "cancel" }
  | { do: "next"; hand: number }
  | { do: "claim"; score: number }
  | { do: "match"; seats: number[]; deal: number }
  | { do: "annotate"; deal: number; seat: number; card: number; text: string }
  | { do: "look"; panels: PanelName[]; players: number[] };

export type ReviewRequest =
  | DescribeRequest
  | ({ do: "list" } & HandQuery)
  | { do: "open"; number: number }
  | { do: "rate"; number: number; analyst: number }
  | { do: "try"; number: number; at: number; seats: number[]; action: number | null; n: number }
  | { do: "cancel" };

export type PuzzleRequest =
  | { do: "solve"; puzzle: number; action: number }
  | { do: "proceed"; puzzle: number }
  | { do: "cancel" };

export type PageMessage = TablePageMessage | ReviewPageMessage | TrainingPageMessage | PuzzlePageMessage;
export type PageRequest = TableRequest | ReviewRequest | PuzzleRequest;
