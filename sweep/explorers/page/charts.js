// Charts of values over a common axis, one below the other, whose cursors move together.
"use strict";

const LINES = ["--line-1", "--line-2", "--line-3", "--line-4"]; // names in page.css
const plain = { place: (v) => v, value: (v) => v, log: false };

// One chart: lines { name, label, unit, values } over x { name, values, label }, drawn into `place`.
class Chart {
  constructor(place, { x, lines, height, isLowest = true, shade = null, stepped = false }) {
    Object.assign(this, { x, lines, isLowest, shade, stepped });
    const style = getComputedStyle(document.documentElement);
    this.colours = LINES.map((name) => style.getPropertyValue(name).trim());
    this.title = element("p", { class: "chart-title" });
    this.canvas = element("canvas", { class: "chart" });
    this.canvas.style.height = `${height + (isLowest ? 40 : 0)}px`;
    place.append(this.title, this.canvas);
    const all = lines.flatMap(({ values }) => Array.from(values));
    this.unit = unitOf(lines[0].name, lines[0].unit, [all.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0)]);
    this.names(null);
  }
  // The name of each line beside its colour; with its value at a moment.
  names(k) {
    const { text, factor } = this.unit;
    const parts = this.lines.flatMap(({ name, label, values }, i) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = this.colours[i % this.colours.length];
      const value = k === null ? "" : ` ${pretty(brief(values[k] * factor, 4))}`;
      return [...(this.lines.length > 1 ? [swatch] : []), `${label ?? words(name)}${value} `];
    });
    this.title.replaceChildren(...parts, text && (k === null ? `[${text}]` : text));
  }
  draw(k, size) {
    const { c, width, height } = fitted(this.canvas, size);
    const { ink, grid } = theme();
    const values = this.x.values;
    const spans = { x: ends([values]), y: padded(ends(this.lines.map((line) => line.values))) };
    this.frame = { left: 62, top: 4, right: width - 12, bottom: height - (this.isLowest ? 44 : 4) };
    const { left, right, top, bottom } = this.frame;
    const toX = (value) => left + ((value - spans.x[0]) / (spans.x[1] - spans.x[0])) * (right - left);
    const toY = (value) => bottom - ((value - spans.y[0]) / (spans.y[1] - spans.y[0])) * (bottom - top);
    this.toX = toX;
    c.fillStyle = c.strokeStyle = grid;
    if (this.shade) for (const [a, b] of stretches(this.shade)) c.fillRect(toX(values[a]), top, Math.max(toX(values[b]) - toX(values[a]), 1), bottom - top);
    this.lines.forEach((line, i) => {
      c.beginPath();
      let isDown = false;
      line.values.forEach((value, n) => {
        const at = [toX(values[n]), toY(value)];
        if (this.stepped && isDown && n) c.lineTo(at[0], toY(line.values[n - 1]));
        if (Number.isFinite(at[1])) isDown ? c.lineTo(...at) : c.moveTo(...at);
        isDown = Number.isFinite(at[1]);
      });
      c.strokeStyle = this.colours[i % this.colours.length];
      c.lineWidth = 1.4;
      c.stroke();
    });
    c.strokeStyle = grid;
    c.fillStyle = ink;
    drawFrame(c, this.frame, { ...plain, label: this.isLowest ? this.x.label : null, factor: this.x.factor },
      { ...plain, factor: this.unit.factor, ticks: ticks({ ...plain, factor: this.unit.factor }, spans.y, 3.5) }, spans);
    if (k !== null) c.fillRect(toX(values[k]), top, 1, bottom - top);
  }
  // The index of the value below a place of the canvas.
  indexAt(px) {
    let best = 0;
    this.x.values.forEach((value, k) => Math.abs(this.toX(value) - px) < Math.abs(this.toX(this.x.values[best]) - px) && (best = k));
    return best;
  }
}

const ends = (rows) => {
  let [a, b] = [Infinity, -Infinity];
  for (const row of rows) for (const value of row) if (Number.isFinite(value)) [a, b] = [Math.min(a, value), Math.max(b, value)];
  if (a < b) return [a, b];
  return Number.isFinite(a) && a ? [a - Math.abs(a) / 2, a + Math.abs(a) / 2] : [-1, 1];
};
const padded = ([a, b]) => [a - 0.06 * (b - a), b + 0.06 * (b - a)];

// Where flags are set: the first and last index of each stretch.
function stretches(flags) {
  const found = [];
  flags.forEach((flag, k) => {
    if (!(flag > 0)) return;
    if (k && flags[k - 1] > 0) found.at(-1)[1] = k;
    else found.push([k, k]);
  });
  return found;
}

// Draws charts, once all of them have their places, and moves their cursors together.
function together(charts) {
  const sizes = charts.map(({ canvas }) => canvas.getBoundingClientRect());
  for (const [k, chart] of charts.entries()) {
    chart.draw(null, sizes[k]);
    const move = (k) => charts.forEach((each) => (each.draw(k), each.names(k)));
    chart.canvas.addEventListener("pointermove", (event) => move(chart.indexAt(event.offsetX)));
    chart.canvas.addEventListener("pointerleave", () => move(null));
  }
}
