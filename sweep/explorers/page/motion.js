// The point that is selected: its figures, its motion over time and its loop.
"use strict";

const SIZE_RATIO = 30; // of observables that share a panel

// The rows of a table of figures.
function figures(table, rows, heads = []) {
  table.replaceChildren();
  if (heads.length) table.append(element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head))));
  for (const [name, ...cells] of rows)
    table.append(element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell))));
}

// Columns of a trace by name, time first; a state that covers several times is kept once.
function seriesOf(trace, clock, observables) {
  const { rows, width } = trace;
  const kept = [];
  for (let i = 0, before = -Infinity; i < rows.length / width; i++) {
    if (!(rows[i * width] > before)) continue;
    before = rows[i * width];
    kept.push(i);
  }
  const column = (k) => Float64Array.from(kept, (i) => rows[i * width + k]);
  return { time: { ...clock, values: column(0) }, observed: observables.map((each, k) => ({ ...each, values: column(k + 1) })) };
}

// The sum of n values, added in the order of NumPy: a mean has the digits of `sweep trace`.
function pairwise(values, first, n) {
  if (n > 128) {
    const half = (n >> 1) - ((n >> 1) % 8);
    return pairwise(values, first, half) + pairwise(values, first + half, n - half);
  }
  if (n < 8) return values.subarray(first, first + n).reduce((sum, value) => sum + value, 0);
  const r = Array.from(values.subarray(first, first + 8));
  const whole = n - (n % 8);
  for (let i = 8; i < whole; i++) r[i % 8] += values[first + i];
  let sum = r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
  for (let i = whole; i < n; i++) sum += values[first + i];
  return sum;
}

// The mean over time, by the trapezoidal rule over the intervals with a value at both ends;
// without one, all values weigh the same.
function meanOverTime(times, values, finite) {
  const areas = values.subarray(1).map((value, i) => ((value + values[i]) / 2) * (times[i + 1] - times[i]));
  const steps = times.subarray(1).map((time, i) => time - times[i]).filter((_, i) => Number.isFinite(areas[i]));
  const [total, weights] = steps.length ? [areas.filter(Number.isFinite), steps] : [finite, finite.map(() => 1)];
  return pairwise(total, 0, total.length) / pairwise(weights, 0, weights.length);
}

// Least, mean and greatest of an observable, as `sweep trace` prints them.
function range(times, values) {
  const finite = values.filter(Number.isFinite);
  if (!finite.length) return [NaN, NaN, NaN];
  const least = finite.reduce((a, b) => Math.min(a, b));
  const greatest = finite.reduce((a, b) => Math.max(a, b));
  return [least, meanOverTime(times, values, finite), greatest].map((value) => value + 0);
}

// Observables that are drawn together: elements of one, or others of one unit and of similar size.
function panelsOf(observed) {
  const size = ({ values }) => values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0);
  const panels = [];
  for (const each of observed.filter(({ flags }) => !flags.length)) {
    const panel = panels.find(([first]) => (first.of || each.of ? first.of === each.of : first.unit === each.unit && each.unit !== "1" &&
      Math.max(size(first), size(each)) <= SIZE_RATIO * Math.min(size(first), size(each))));
    panel ? panel.push(each) : panels.push([each]);
  }
  return panels;
}

class MotionView {
  constructor(place, loop, spreads) {
    Object.assign(this, { place, loop, spreads, last: null, lastSpreads: [] });
  }
  clear(text) {
    this.last = null;
    this.place.replaceChildren(element("p", {}, text));
    this.loop.hidden = true;
  }
  // The same again, in another width or other colours.
  redraw() {
    if (this.last) this.show(...this.last);
    this.spread(this.lastSpreads);
  }
  show(series, loop) {
    this.clear("");
    this.place.replaceChildren();
    this.last = [series, loop];
    const panels = panelsOf(series.observed);
    const flag = series.observed.find(({ flags, values }) => flags.length && values.some((each) => each > 0));
    const { text, factor } = unitOf(series.time.name, series.time.unit, series.time.values);
    const x = { values: series.time.values, factor, label: inBrackets(series.time.long_name, text) };
    together(panels.map((lines, k) =>
      new Chart(this.place, { x, lines, height: 104, isLowest: k === panels.length - 1, shade: flag?.values })));
    if (flag) this.place.append(element("p", { class: "note" }, `Shaded: ${flag.of ? `${words(flag.name)} ` : ""}${words(flag.flags.slice(1).join(", "))}.`));
    this.drawLoop(series, loop);
  }
  // Outputs of many values, such as histograms.
  spread(spreads) {
    this.lastSpreads = spreads;
    this.spreads.replaceChildren();
    for (const each of spreads) together([new Chart(this.spreads, { ...each, height: 130 })]);
  }
  // One observable over another, as the model names them.
  drawLoop({ observed }, names) {
    const [along, upwards] = (names ?? []).map((name) => observed.find((each) => each.name === name));
    this.loop.hidden = !(along && upwards);
    if (this.loop.hidden) return;
    const { c, width, height } = fitted(this.loop);
    const sides = [along, upwards].map(({ name, unit, values }) => {
      const shown = unitOf(name, unit, [values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0)]);
      return { ...plain, factor: shown.factor, label: inBrackets(words(name), shown.text), span: padded(ends([values])), values };
    });
    const [x, y] = sides;
    const frame = { left: 66, top: 8, right: width - 12, bottom: height - 44 };
    const to = ({ span: [a, b] }, first, last) => (value) => first + ((value - a) / (b - a)) * (last - first);
    const [toX, toY] = [to(x, frame.left, frame.right), to(y, frame.bottom, frame.top)];
    c.beginPath();
    x.values.forEach((value, k) => c[k ? "lineTo" : "moveTo"](toX(value), toY(y.values[k])));
    c.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue(LINES[0]);
    c.lineWidth = 1.4;
    c.stroke();
    const { ink, grid } = theme();
    c.strokeStyle = grid;
    c.fillStyle = ink;
    drawFrame(c, frame, x, y, { x: x.span, y: y.span });
  }
}
