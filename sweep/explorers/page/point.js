// The selected point: its place, its values, its motion.
"use strict";

// The grid on which a selected point lies: what has been computed, otherwise the stored values.
function snapGrid() {
  if (computed?.key === viewKey() && !page.sample) return computed;
  const { x, y } = sidesNow();
  return isMap() ? { x: wholeSide(state.x), y: wholeSide(state.y) } : { x, y: lineSide(y) };
}
const wholeSide = (d) => ({ values: d < 0 ? Float64Array.of(0) : axes[d].values, indices: null });

// Of the values of an axis those that have a line.
function lineSide({ values, indices }) {
  const some = evenly(values.length, MAX_LINES);
  return { values: Float64Array.from(some, (k) => values[k]), indices: indices && Float64Array.from(some, (k) => indices[k]) };
}

// Where the selected point is in the picture: on a curve at its value.
function selectionPlace() {
  if (!state.point || !drawn.length || !map.view) return null;
  const at = (d) => (d < 0 ? undefined : state.point[axes[d].name]);
  if (isMap()) {
    const [x, y] = [at(state.x), at(state.y)];
    return x === undefined || y === undefined ? null : { x: axes[state.x].place(x), y: axes[state.y].place(y) };
  }
  const { curves, grids } = map.view;
  if (page.sample) {
    const names = Object.keys(sample.columns);
    const k = sample.columns[names[0]].findIndex((_, i) => names.every((name) => sample.columns[name][i] === state.point[name]));
    return k < 0 ? null : { x: curves[0].x[k], y: placeOfValue(curves[0], k) };
  }
  const grid = grids.at(-1);
  const isYears = kindNow() === "years";
  const d = isYears ? state.x : state.y;
  const side = isYears ? grid?.x : grid?.y;
  const isOwn = ({ i, j }) => d < 0 || Math.abs(side.values[(isYears ? i : j)[0]] - at(d)) <= 1e-9 * Math.abs(at(d));
  const own = grid && (d < 0 || at(d) !== undefined) ? curves.find(isOwn) : null;
  if (!own || (!isYears && at(state.x) === undefined)) return null;
  const k = isYears ? own.x.length - 1 : nearest(axes[state.x], grid.x.values, axes[state.x].place(at(state.x)));
  return { x: own.x[k], y: placeOfValue(own, k) };
}

// The values of parameters at a place of the picture, by name.
function pointAt(place) {
  if (page.sample) {
    const best = nearestOnCurves(place).k;
    return Object.fromEntries(Object.entries(sample.columns).map(([name, values]) => [name, values[best]]));
  }
  if (!drawn.length) return pointOf(NO_GRID, -1, -1);
  if (!isMap()) {
    const found = nearestOnCurves(place);
    if (found) return pointOf(map.view.grids.at(-1), found.curve.i[found.k], found.curve.j[found.k]);
  }
  const grid = snapGrid();
  return pointOf(grid, nearest(axes[state.x], grid.x.values, place.x), state.y < 0 ? 0 : nearest(axes[state.y], grid.y.values, place.y));
}

// The values of parameters at a point of a grid; where the sliders are along the other axes.
function pointOf(grid, i, j) {
  const point = {};
  axes.forEach((axis, d) => {
    const s = d === state.x ? grid.x : d === state.y ? grid.y : null;
    const k = d === state.x ? i : d === state.y ? j : state.at[d];
    const index = !s || !s.values.length ? k : axis.continuous ? -1 : s.indices ? s.indices[k] : k;
    if (s && axis.continuous) point[axis.name] = s.values[k];
    else {
      point[axis.name] = axis.values[index];
      for (const [name, values] of Object.entries(axis.columns)) point[name] = values[index];
    }
  });
  return point;
}

// The selected point after a slider has moved: the same along the picture's sides.
function pointAgain() {
  const point = { ...state.point };
  axes.forEach((axis, d) => {
    if (page.sample || d === state.x || d === state.y) return;
    point[axis.name] = axis.values[state.at[d]];
    for (const [name, values] of Object.entries(axis.columns)) point[name] = values[state.at[d]];
  });
  return point;
}

// Steps from the selected point along the picture's sides, on the grid that is shown.
function step(dx, dy) {
  const { window } = map.view;
  if (page.sample) {
    const place = selectionPlace() ?? { x: (window.x[0] + window.x[1]) / 2, y: (window.y[0] + window.y[1]) / 2 };
    return select(pointAt({ x: place.x + dx * 0.01 * (window.x[1] - window.x[0]), y: place.y + dy * 0.01 * (window.y[1] - window.y[0]) }));
  }
  const grid = snapGrid();

  const moved = (d, side, by) => {
    if (d < 0) return 0;
    const at = state.point?.[axes[d].name] ?? side.values[side.values.length >> 1];
    return clamp(nearest(axes[d], side.values, axes[d].place(at)) + by, 0, side.values.length - 1);
  };
  const isYears = kindNow() === "years";
  select(pointOf(grid, moved(state.x, grid.x, isYears ? dy : dx), moved(state.y, grid.y, dy)));
}

const parametersAt = (point) => Float64Array.from(
  withDerived(page.parameters.map(({ name, value }) => ({ values: [number(point[name] ?? state.fixed[name] ?? value)], repeat: 1 })), 1), ({ values }) => values[0]);
const alongAxes = (point) => Object.fromEntries(page.parameters.filter(({ name, value }) => value === null && name in point).map(({ name }) => [name, point[name]]));

async function select(point) {
  state.point = point;
  const asked = staff?.point(parametersAt(point), page.samples);
  writeFragment();
  if (drawn.length) map.mark((map.view.selection = selectionPlace()), null);
  showTip();
  const named = { ...alongAxes(point), ...state.fixed };
  byId("trace").textContent = page.command ? traceLine(page.command, named) : "";
  byId("at").textContent = pythonPoint(named);
  byId("copy-trace").disabled = !page.command;
  byId("copy-at").disabled = false;
  showPlace(named);
  showStored();
  if (!staff) return (byId("sentence").textContent = page.why);
  try {
    const answer = await asked;
    if (state.point !== point) return;
    Object.assign(select, { answer, point });
    showPoint(answer);
    showTip();
  } catch (error) {
    if (state.point === point && error.message !== "cancelled") byId("sentence").textContent = `This point cannot be computed: ${error.message}`;
  }
}

// A row of a table: name, number and unit, to four digits in a readable unit or to all of them.
function row(name, unit, value, label = words(name)) {
  if (state.digits) return [label, exact(value), unitText(unit)];
  return [label, ...(Number.isFinite(value) ? inUnit(name, unit, value) : [brief(value), ""])];
}
function showPlace(named) {
  const unit = (name) => page.parameters.find((each) => each.name === name)?.unit ?? "1";
  figures(byId("point"), Object.entries(named).map(([name, value]) => row(name, unit(name), value)), ["at", "value", "unit"]);
}

// As computed, otherwise as drawn.
function tipText(place) {
  const [output, { answer, point }] = [outputNow(), select];
  const k = answer && point === state.point ? page.kernel.outputs.findIndex(({ name }) => name === output.name) : -1;
  if (k >= 0) return answer.status ? words(page.sentences[answer.status]?.[0] ?? "") : shownValue(output, answer.outputs[k]);
  const found = at(place);
  return !found ? "" : found.status ? words(page.sentences[found.status]?.[0] ?? "") : textAt(found);
}

// The tables again, with other units or digits.
function showAgain() {
  if (!state.point) return;
  showPlace({ ...alongAxes(state.point), ...state.fixed });
  showStored();
  if (staff && select.answer) showPoint(select.answer);
}

// Next to the selected point: the value of the output that is shown.
function showTip() {
  const [tip, place] = [byId("tip"), map.view && drawn.length ? selectionPlace() : null];
  tip.hidden = !place || !Number.isFinite(place.y);
  if (tip.hidden) return;
  const [px, py] = [map.toX(place.x), map.toY(place.y)];
  const { left, right, top, bottom } = map.frame;
  tip.hidden = px < left || px > right || py < top || py > bottom;
  tip.textContent = tipText(place);
  tip.hidden ||= !tip.textContent;
  tip.style.left = `${clamp(px, left, right)}px`;
  tip.style.top = `${py}px`;
  tip.classList.toggle("leftwards", px > (left + right) / 2);
}

// What the store has of the point and the page cannot compute.
function showStored() {
  const place = selectionPlace();
  const grid = preview && !page.sample && preview.slice(state.x, state.y, state.at);
  const outputs = isChanged() ? [] : page.outputs.filter((output) => output.name in planes && !canCompute(output));
  motion.spread([]);
  figures(byId("stored"), []);
  if (!grid || !outputs.length || (drawn.length && !place)) return;
  const index = (d, { values }) => (d < 0 ? 0 : nearest(axes[d], values, axes[d].place(state.point[axes[d].name])));
  const [i, j] = [index(state.x, grid.x), index(state.y, grid.y)];
  const values = (output) => Array.from({ length: innerCount(output) }, (_, k) => grid.at(output.name, i, j, k));
  const rows = outputs.flatMap((output) => values(output).slice(0, MOST_ROWS + 1).map((value, k, all) =>
    [all.length > MOST_ROWS ? null : rowName(output, k), ...shownRow(output, value, false)]));
  figures(byId("stored"), rows.filter(([name]) => name !== null), [isRough() ? "stored, rounded" : "stored", "value", "unit"]);
  motion.spread(outputs.filter((output) => innerCount(output) > MOST_ROWS).flatMap((output) => {
    if (output.inner.some(areYears)) return overYears(output, values(output));
    const [start, width] = ["start", "width"].map((name) => planes[`${output.name}_${name}`] && grid.at(`${output.name}_${name}`, i, j));
    const isHistogram = width > 0;
    const [name, n] = [words(output.name), innerCount(output)];
    const at = Array.from({ length: n + isHistogram }, (_, k) => (isHistogram ? start + k * width : k));
    const all = isHistogram ? [...values(output), values(output).at(-1)] : values(output);
    return { x: { values: at, label: "" }, lines: [{ name, unit: output.unit, values: all }], stepped: isHistogram };
  }));
}

const areYears = ({ unit }) => unit === "years";

// Charts of an output over the years: a line for each of its other values, at most four in a chart.
function overYears(output, values) {
  const { name, unit, inner } = output;
  const d = inner.findIndex(areYears);
  const years = inner[d].values;
  const within = innerCount({ inner: inner.slice(d + 1) });
  const others = { name, inner: inner.filter((each) => !areYears(each)) };
  const lines = Array.from({ length: values.length / years.length }, (_, k) => {
    const first = Math.floor(k / within) * within * years.length + (k % within);
    return { name, unit, label: rowName(others, k), values: years.map((_, i) => values[first + i * within]) };
  });
  const most = lines.length > 4 ? lines.length / others.inner[0].values.length : lines.length;
  return Array.from({ length: lines.length / most }, (_, i) => (
    { x: { values: years, label: "time in service [years]" }, lines: lines.slice(i * most, (i + 1) * most) }));
}

// An output in a table of figures, and which of its values.
const rowName = (output, k) => words(output.name) + (output.inner.length ? ` (${innerLabel(output, k)})` : "");

// Which of the values of an output that has several: "quantile 0.05", "stick slip".
function innerLabel(output, k) {
  const parts = [];
  for (const { name, unit, values } of [...output.inner].reverse()) {
    const value = values[k % values.length];
    k = Math.floor(k / values.length);
    if (unit === "years") parts.unshift(`after ${brief(value)} year${value === 1 ? "" : "s"}`);
    else parts.unshift(typeof value === "number" ? `${words(name)} ${brief(value)} ${unitText(unit)}`.trim() : words(value));
  }
  return parts.join(", ");
}

// A value and its unit: of rounded ones as many digits as are known.
function shownRow(output, value, isExact = true) {
  if (value !== value) return ["–", ""];
  if (output.flags.length) return [words(output.flags[value] ?? String(value)), ""];
  const isRounded = !isExact && isRough() && value !== 0;
  if (state.digits) return [isRounded ? `≈\u00a0${brief(value, 3)}` : brief(value, isExact ? 12 : 7), unitText(output.unit)];
  const { text, factor } = unitOf(output.name, output.unit, [value]);
  return [`${isRounded ? "≈\u00a0" : ""}${pretty(brief(value * factor, isRounded ? 3 : 4))}`, text];
}
const shownValue = (output, value, isExact) => shownRow(output, value, isExact).join(" ").trim();

function showPoint(answer) {
  const [name, sentence] = page.sentences[answer.status] ?? [`status ${answer.status}`, ""];
  byId("sentence").textContent = answer.status ? `${words(name)}: ${sentence}` : `${page.behind.length ? "One point of this cell, computed" : "Computed"} in ${brief(answer.milliseconds, 3)} ms.${page.why ? ` ${page.why}` : ""}`;
  const places = Object.fromEntries(page.kernel.outputs.map((output, k) => [output.name, k]));
  const value = (output, k) => answer.status ? NaN : answer.outputs[places[planeName(output, k)] ?? -1] ?? NaN;
  const row = (output, k, name) => [name, ...shownRow(output, value(output, k))];
  const rows = shownFirst(page.outputs.filter(canCompute)).flatMap((output) => innerCount(output) > MOST_ROWS
    ? [row(output, 0, words(output.name))] : Array.from({ length: innerCount(output) }, (_, k) => row(output, k, rowName(output, k))));
  figures(byId("figures"), rows, ["output", "value", "unit"]);
  byId("observables").replaceChildren();
  if (!answer.trace) return motion.clear("");
  if (answer.trace.refused) return motion.clear(answer.trace.refused);
  const series = seriesOf(answer.trace, page.clock, page.observables);
  explorer.motion = series;
  figures(byId("observables"), series.observed.filter(({ flags }) => !flags.length).map((each) => [words(each.name), ...rangeRow(each, range(series.time.values, each.values))]), ["observable", "least", "mean", "greatest", "unit"]);
  motion.show(series, page.loop);
}

// Least, mean and greatest, and the unit of all three.
function rangeRow({ name, unit }, values) {
  if (state.digits) return [...values.map((value) => brief(value)), unitText(unit)];
  const { text, factor } = unitOf(name, unit, [Math.max(...values.map(Math.abs))]);
  return [...values.map((value) => pretty(brief(value * factor, 4))), text];
}

// The output of the picture before the others.
const shownFirst = (outputs) => [...outputs.filter(({ name }) => name === state.output), ...outputs.filter(({ name }) => name !== state.output)];
