// The point that is selected: its figures, its motion over time and its loop.
"use strict";

const LINES = ["--line-1", "--line-2", "--line-3", "--line-4"]; // names in page.css
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
  if (!finite.length) return ["nan", "nan", "nan"];
  const least = finite.reduce((a, b) => Math.min(a, b));
  const greatest = finite.reduce((a, b) => Math.max(a, b));
  return [least, meanOverTime(times, values, finite), greatest].map((value) => brief(value + 0));
}

// Observables that are drawn together: of one unit and of similar size.
function panelsOf(observed) {
  const size = ({ values }) => values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0);
  const panels = [];
  for (const each of observed.filter(({ flags }) => !flags.length)) {
    const panel = panels.find(([first]) => first.unit === each.unit && each.unit !== "1" &&
      Math.max(size(first), size(each)) <= SIZE_RATIO * Math.min(size(first), size(each)));
    panel ? panel.push(each) : panels.push([each]);
  }
  return panels;
}

// The ends of an axis for one value alone.
const around = (value) => (value ? [value - Math.abs(value) / 2, value + Math.abs(value) / 2] : [-1, 1]);

class MotionView {
  constructor(place, loop, spreads) {
    Object.assign(this, { place, loop, spreads, charts: [], last: null, lastSpreads: [] });
  }
  clear(text) {
    for (const chart of this.charts) chart.destroy();
    this.charts = [];
    this.last = null;
    this.place.replaceChildren(element("p", {}, text));
    this.loop.hidden = true;
  }
  // The same again, in another width or other colours.
  redraw() {
    if (this.last) this.show(...this.last);
    this.spread(this.lastSpreads);
  }
  theme() {
    const style = getComputedStyle(document.documentElement);
    return ["--ink", "--grid", ...LINES].map((name) => style.getPropertyValue(name).trim());
  }
  // A chart below its title, which names each line beside its colour.
  chart(place, lines, unit, data, options) {
    const [ink, grid, ...colours] = this.theme();
    const names = lines.flatMap((name, i) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = colours[i % colours.length];
      return lines.length > 1 ? [swatch, `${name} `] : [name];
    });
    place.append(element("p", { class: "chart-title" }, ...names, unitText(unit) ? ` [${unitText(unit)}]` : ""));
    const { path = null, label = "", isLowest = true, height, ...others } = options;
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid }, font: "12px system-ui", labelFont: "12px system-ui" };
    const along = isLowest ? { size: 30, labelSize: 18, label } : { size: 8, values: () => [] };
    return new uPlot({
      width: Math.max(place.clientWidth, 200),
      height: height + (isLowest ? 22 : 0) + (label ? 18 : 0),
      legend: { show: false },
      scales: { x: { time: false }, y: { range: (_, low, high) => (low < high ? uPlot.rangeNum(low, high, 0.1, true) : around(low ?? 0)) } },
      axes: [{ ...axis, ...along }, { ...axis, size: 56 }],
      series: [{}, ...lines.map((_, i) => ({ stroke: colours[i % colours.length], width: 1.4, ...(path && { paths: path, fill: grid, points: { show: false } }) }))],
      ...others,
    }, data, place);
  }
  show(series, loop) {
    this.clear("");
    this.place.replaceChildren();
    this.last = [series, loop];
    const [ink, grid, colour] = this.theme();
    const panels = panelsOf(series.observed);
    const shade = series.observed.find(({ flags, values }) => flags.length && values.some((flag) => flag > 0));
    panels.forEach((panel, k) => {
      const isLowest = k === panels.length - 1;
      const label = isLowest ? withUnit(series.time.long_name, series.time.unit) : "";
      const cursor = { sync: { key: "motion" }, drag: { x: false, y: false } };
      const hooks = shade ? { drawClear: [(chart) => this.shade(chart, series.time.values, shade.values, grid)] } : {};
      this.charts.push(this.chart(this.place, panel.map(({ name }) => words(name)), panel[0].unit,
        [series.time.values, ...panel.map(({ values }) => values)], { height: 100, label, isLowest, cursor, hooks }));
    });
    if (shade) this.place.append(element("p", { class: "note" }, `Shaded: ${words(shade.flags.slice(1).join(", "))}.`));
    this.drawLoop(series, loop, ink, grid, colour);
  }
  // Outputs of many values, such as histograms.
  spread(spreads) {
    this.lastSpreads = spreads;
    this.spreads.replaceChildren();
    for (const { name, unit, at, values, isHistogram } of spreads)
      this.chart(this.spreads, [name], unit, [at, values], { height: 120, ...(isHistogram && { path: uPlot.paths.stepped({ align: 1 }) }) });
  }
  shade(chart, times, flags, colour) {
    const { ctx, bbox } = chart;
    ctx.fillStyle = colour;
    for (let i = 0; i < times.length; i++) {
      if (!(flags[i] > 0)) continue;
      let end = i;
      while (end + 1 < times.length && flags[end + 1] > 0) end++;
      const [a, b] = [chart.valToPos(times[i], "x", true), chart.valToPos(times[end], "x", true)];
      ctx.fillRect(a, bbox.top, Math.max(b - a, 1), bbox.height);
      i = end;
    }
  }
  drawLoop({ observed }, names, ink, grid, colour) {
    const [along, upwards] = (names ?? []).map((name) => observed.find((each) => each.name === name));
    this.loop.hidden = !(along && upwards);
    if (this.loop.hidden) return;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.loop.clientWidth, this.loop.clientHeight];
    [this.loop.width, this.loop.height] = [width * ratio, height * ratio];
    const c = this.loop.getContext("2d");
    c.scale(ratio, ratio);
    const side = (each) => {
      let [a, b] = [Infinity, -Infinity];
      for (const value of each.values) if (value === value) [a, b] = [Math.min(a, value), Math.max(b, value)];
      if (!(a < b)) [a, b] = around(Number.isFinite(a) ? a : 0);
      return [a - 0.04 * (b - a), b + 0.04 * (b - a)];
    };
    const [[x0, x1], [y0, y1]] = [side(along), side(upwards)];
    const [left, top, right, bottom] = [62, 8, width - 12, height - 42];
    const px = (value) => left + ((value - x0) / (x1 - x0)) * (right - left);
    const py = (value) => bottom - ((value - y0) / (y1 - y0)) * (bottom - top);
    const linear = { place: (v) => v, value: (v) => v };
    c.font = "12px system-ui, sans-serif";
    c.fillStyle = ink;
    c.strokeStyle = grid;
    c.strokeRect(left, top, right - left, bottom - top);
    c.textAlign = "center";
    for (const value of ticks(linear, [x0, x1], 4)) c.fillText(brief(value, 3), px(value), bottom + 16);
    c.fillText(withUnit(words(along.name), along.unit), (left + right) / 2, height - 8);
    c.textAlign = "right";
    for (const value of ticks(linear, [y0, y1], 5)) c.fillText(brief(value, 3), left - 5, py(value) + 4);
    c.save();
    c.translate(12, (top + bottom) / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = "center";
    c.fillText(withUnit(words(upwards.name), upwards.unit), 0, 0);
    c.restore();
    c.strokeStyle = colour;
    c.lineWidth = 1.4;
    c.beginPath();
    along.values.forEach((value, i) => c[i ? "lineTo" : "moveTo"](px(value), py(upwards.values[i])));
    c.stroke();
  }
}
