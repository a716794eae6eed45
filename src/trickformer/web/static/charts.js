// Charts as SVG: values with intervals, a histogram, and curves. They are drawn as wide as their place on the page.

/** @import { Chart, CurveChart, CurvePoint, Histogram, IntervalChart } from "../types/messages" */
/** @import { DrawingAttributes } from "../types/page" */
/** @typedef {[x: number, value: number, low: number | null, high: number | null]} KnownPoint */

import { draw, make } from "./dom.js";

const [TEXT, SOFT, GRID] = ["var(--ink)", "var(--soft)", "var(--grid)"];
const INKS = [1, 2, 3, 4, 5].map((number) => `var(--curve-${number})`);
const DASHES = ["none", "7 3", "2 3", "9 3 2 3", "4 4"]; // curves can be told apart without their colours
const [SIZE, LETTER] = [13, 7]; // height and mean width of a letter
const [ROW, EDGE] = [40, 10]; // height of a row of intervals; empty edge at the left and the right
/** @type {Map<Element, { charts: Chart[], width: number }>} */
const observed = new Map(); // elements with charts

const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => redraw(target)));

/**
 * Draws charts into an element, and again when its width changes.
 * @param {Element} element
 * @param {Chart[]} charts
 */
export function drawCharts(element, charts) {
  if (!observed.has(element)) resized.observe(element);
  observed.set(element, { charts, width: 0 });
  redraw(element);
}

/** @param {Element} element */
function redraw(element) {
  const state = observed.get(element);
  if (!state) return;
  const width = chartWidth(element, state.charts.length);
  if (!width || width === state.width) return;
  state.width = width;
  element.replaceChildren(...state.charts.map((chart) => make("figure", {}, make("figcaption", {}, chart.title),
    drawChart(chart, width), ...(chart.kind === "curves" && chart.curves.length > 1 ? [legend(chart.curves.map((curve) => curve.label))] : []))));
}

/**
 * Charts lie side by side if there is room for two of 420 px.
 * @param {Element} element
 * @param {number} count
 */
function chartWidth(element, count) {
  const all = element.clientWidth;
  return Math.floor(all >= 860 && count > 1 ? (all - 20) / 2 : Math.min(all, 720));
}

/** @param {number} x */
const signed = (x) => `${x > 0 ? "+" : x < 0 ? "−" : ""}${Math.abs(x).toFixed(2)}`;
/** @param {number} x @param {number} y @param {string} text @param {DrawingAttributes} attributes */
const label = (x, y, text, attributes = {}) => draw("text", { x, y, "font-size": SIZE, fill: SOFT, ...attributes }, text);
/** @param {string} text @param {number} width */
const fit = (text, width) => (text.length * LETTER <= width ? text : `${text.slice(0, Math.max(1, Math.floor(width / LETTER) - 1))}…`);

/** @param {number} width @param {number} height @param {string} words */
function picture(width, height, words) {
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words });
}

/**
 * Returns round numbers that divide a range into about `count` parts.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @param {number} least smallest distance of two numbers
 */
function ticks(low, high, count, least = 0) {
  const raw = Math.max(least, (high - low) / count) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5].map((n) => n * power).find((n) => n >= raw) ?? 10 * power;
  const marks = [];
  for (let x = Math.ceil(low / step); x <= high / step + 1e-9; x++) marks.push(x * step);
  return { marks, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/** @param {number} low @param {number} high @param {number} from @param {number} to */
function scale(low, high, from, to) {
  /** @param {number} value */
  return (value) => from + ((to - from) * (value - low)) / (high - low || 1);
}

/**
 * Draws an axis with its marks and its name below a chart.
 * @param {SVGElement} svg
 * @param {{ low: number, high: number, x: (value: number) => number, y: number, width: number, names: string[], start?: number, least?: number }} axis
 */
function drawAxis(svg, { low, high, x, y, width, names, start = EDGE, least }) {
  const { marks, digits } = ticks(low, high, Math.max(2, Math.floor(width / 90)), least);
  for (const mark of marks) {
    const text = mark.toFixed(digits);
    const isAtEdge = x(mark) + (LETTER * text.length) / 2 > width;
    svg.append(draw("line", { x1: x(mark), x2: x(mark), y1: y, y2: y + 4, stroke: SOFT }),
      label(isAtEdge ? width : x(mark), y + 18, text, { "text-anchor": isAtEdge ? "end" : "middle" }));
  }
  svg.append(draw("line", { class: "axis", x1: start, x2: width - EDGE, y1: y, y2: y, stroke: SOFT }));
  names.forEach((name, i) => svg.append(label(width / 2, y + 36 + 17 * i, fit(name, width), { "text-anchor": "middle" })));
}

/** @param {IntervalChart} chart @param {number} width */
function drawIntervals(chart, width) {
  const values = [0, ...chart.rows.flatMap(({ value, ci95 }) => [value, ...(ci95 ?? [])])];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const [low, high] = [least - 0.04 * (most - least || 1), most + 0.04 * (most - least || 1)];
  const x = scale(low, high, EDGE, width - EDGE);
  const bottom = ROW * chart.rows.length + 6;
  const words = chart.rows.map(({ label: name, value, ci95 }) => `${name} ${signed(value)}${ci95 ? `, 95% interval ${ci95.map(signed).join(" to ")}` : ""}`);
  const svg = picture(width, bottom + 60, `${chart.title}, ${chart.axis.join(", ")}: ${words.join("; ")}`);
  svg.append(draw("line", { x1: x(0), x2: x(0), y1: 0, y2: bottom, stroke: SOFT, "stroke-dasharray": "4 3" }));
  chart.rows.forEach(({ label: name, value, ci95 }, i) => {
    const y = ROW * i + 28;
    const number = signed(value);
    const paper = { stroke: "var(--box)", "stroke-width": 4, "paint-order": "stroke" }; // keeps the line at 0 off the letters
    svg.append(label(EDGE, y - 12, fit(name, width - 4 * EDGE - LETTER * number.length), { fill: TEXT, ...paper }),
      label(width - EDGE, y - 12, number, { "text-anchor": "end", fill: TEXT, ...paper }));
    if (ci95) svg.append(draw("line", { x1: x(ci95[0]), x2: x(ci95[1]), y1: y, y2: y, stroke: INKS[0], "stroke-width": 3 }));
    svg.append(draw("circle", { cx: x(value), cy: y, r: 5, fill: INKS[0] }, draw("title", {}, words[i])));
  });
  drawAxis(svg, { low, high, x, y: bottom, width, names: chart.axis });
  return svg;
}

/** @param {Histogram} chart @param {number} width */
function drawHistogram(chart, width) {
  const { edges, counts } = chart;
  const margin = edges.length === 2 ? 2.75 : 0; // room beside a single bin, in units of the axis
  const last = edges[edges.length - 1];
  const [low, high] = [edges[0] - margin, last + margin];
  const most = Math.max(...counts);
  const [left, bottom] = [EDGE + LETTER * most.toLocaleString("en").length, 200];
  const [x, y] = [scale(low, high, left, width - EDGE), scale(0, most, bottom, 16)];
  const svg = picture(width, bottom + 60, `${chart.title}. Differences from ${signed(edges[0])} to ${signed(last)}, at most ${most} deals in a bin`);
  svg.append(label(0, y(most) + 4, most.toLocaleString("en")), draw("line", { x1: left, x2: width - EDGE, y1: y(most), y2: y(most), stroke: GRID }));
  counts.forEach((count, i) => svg.append(draw("rect", {
    x: x(edges[i]) + 0.5, width: Math.max(1, x(edges[i + 1]) - x(edges[i]) - 1), y: y(count), height: bottom - y(count), fill: "var(--bars)",
  }, draw("title", {}, `${signed(edges[i])} to ${signed(edges[i + 1])}: ${count.toLocaleString("en")} deals`))));
  if (low <= 0 && high >= 0) svg.append(draw("line", { x1: x(0), x2: x(0), y1: 8, y2: bottom, stroke: SOFT, "stroke-dasharray": "4 3" }));
  svg.append(draw("line", { x1: x(chart.mean), x2: x(chart.mean), y1: 0, y2: bottom, stroke: "var(--red)", "stroke-width": 2 }));
  drawAxis(svg, { low, high, x, y: bottom, width, names: chart.axis });
  return svg;
}

/**
 * The line of a curve, by its number.
 * @param {number} i
 */
export const strokeOf = (i) => ({ stroke: INKS[i % INKS.length], "stroke-dasharray": DASHES[i % DASHES.length], "stroke-width": 2, fill: "none" });

/** @param {CurvePoint} point @returns {point is KnownPoint} */
const hasValue = (point) => point[1] !== null;

/**
 * Draws curves; a point without a value is a gap. Lines at `marks` divide the x axis.
 * @param {CurveChart} chart
 * @param {number} width
 */
function drawCurves(chart, width) {
  const points = chart.curves.flatMap((curve) => curve.points).filter(hasValue);
  const across = points.map(([at]) => at);
  const up = [...points.flatMap(([, ...values]) => values), ...(chart.zero ? [0] : [])].filter((value) => value !== null);
  const [left, right] = [Math.min(...across), Math.max(...across)];
  const margin = Math.min(...up) === Math.max(...up) ? 0.5 : 0; // gives a flat curve a range
  const [bottom, top] = [Math.min(...up) - margin, Math.max(...up) + margin];
  const { marks, digits } = ticks(bottom, top, 4);
  const start = EDGE + LETTER * Math.max(...marks.map((mark) => mark.toFixed(digits).length), 1);
  const [x, y] = [scale(left, right, start, width - EDGE), scale(bottom, top, 200, 12)];
  const words = chart.curves.map((curve) => {
    const own = curve.points.filter(hasValue);
    return own.length ? `${curve.label} from ${own[0][1].toFixed(3)} to ${own[own.length - 1][1].toFixed(3)}` : curve.label;
  });
  const svg = picture(width, 260, `${chart.title}, ${chart.axis.join(", ")}: ${words.join("; ")}`);
  for (const mark of marks)
    svg.append(draw("line", { x1: start, x2: width - EDGE, y1: y(mark), y2: y(mark), stroke: mark === 0 ? SOFT : GRID }),
      label(0, y(mark) + 4, mark.toFixed(digits)));
  for (const at of chart.marks) svg.append(draw("line", { x1: x(at), x2: x(at), y1: 8, y2: 200, stroke: GRID, "stroke-dasharray": "3 3" }));
  chart.curves.forEach((curve, i) => {
    for (const [at, , low, high] of curve.points)
      if (low !== null && high !== null) svg.append(draw("line", { x1: x(at), x2: x(at), y1: y(low), y2: y(high), stroke: INKS[i % INKS.length], "stroke-width": 5, opacity: 0.3 }));
    for (const part of parts(curve.points)) svg.append(draw("polyline", { points: part.map(([at, value]) => `${x(at)},${y(value)}`).join(" "), ...strokeOf(i) }));
    if (curve.points.length <= 60)
      for (const [at, value, low, high] of curve.points.filter(hasValue))
        svg.append(draw("circle", { cx: x(at), cy: y(value), r: 4, fill: INKS[i % INKS.length] },
          draw("title", {}, `${curve.label}, ${at}: ${value.toFixed(3)}${low === null || high === null ? "" : `, 95% interval ${low.toFixed(3)} to ${high.toFixed(3)}`}`)));
  });
  drawAxis(svg, { low: left, high: right, x, y: 204, width, names: chart.axis, start, least: 1 });
  return svg;
}

/**
 * Splits the points of a curve at its gaps.
 * @param {CurvePoint[]} points
 */
function parts(points) {
  /** @type {KnownPoint[][]} */
  const split = [];
  let isGap = true;
  for (const point of points) {
    if (hasValue(point)) {
      if (isGap) split.push([]);
      split[split.length - 1].push(point);
    }
    isGap = !hasValue(point);
  }
  return split;
}

/**
 * Names the curves of a chart.
 * @param {string[]} names
 * @param {number} width width of the lines
 */
export function legend(names, width = 2) {
  return make("ul", { class: "legend" }, ...names.map((name, i) => make("li", {},
    draw("svg", { viewBox: "0 0 32 8", "aria-hidden": "true" }, draw("line", { x1: 0, x2: 32, y1: 4, y2: 4, ...strokeOf(i), "stroke-width": width })), ` ${name}`)));
}

/** @param {Chart} chart @param {number} width */
function drawChart(chart, width) {
  if (chart.kind === "intervals") return drawIntervals(chart, width);
  if (chart.kind === "histogram") return drawHistogram(chart, width);
  return drawCurves(chart, width);
}
