// The selected point: its place, its values, its motion.
"use strict";

// The grid on which a selected point lies: what has been computed, otherwise the stored values.
const snapGrid = () => (computed?.key === viewKey() && !page.sample ? computed : { x: wholeSide(state.x), y: wholeSide(state.y) });
const wholeSide = (d) => ({ values: d < 0 ? Float64Array.of(0) : axes[d].values, indices: null });

function selectionPlace() {
  if (!state.point || !drawn.length) return null;
  const [x, y] = [state.point[axes[state.x].name], isLine() ? 0 : state.point[axes[state.y].name]];
  if (x === undefined || y === undefined) return null;
  return { x: axes[state.x].place(x), y: isLine() ? null : axes[state.y].place(y) };
}

// The values of parameters at a place of the map, by name.
function pointAt(place) {
  if (page.sample) {
    const best = nearestDot(place);
    return Object.fromEntries(Object.entries(sample.columns).map(([name, values]) => [name, values[best]]));
  }
  const grid = snapGrid();
  const point = {};
  axes.forEach((axis, d) => {
    const s = d === state.x ? grid.x : d === state.y ? grid.y : null;
    const k = s ? nearest(axis, s.values, d === state.x ? place.x : place.y) : state.at[d];
    const index = !s || !s.values.length ? k : axis.continuous ? -1 : s.indices ? s.indices[k] : k;
    if (s && axis.continuous) point[axis.name] = s.values[k];
    else {
      point[axis.name] = axis.values[index];
      for (const [name, values] of Object.entries(axis.columns)) point[name] = values[index];
    }
  });
  return point;
}

function nearestDot(place) {
  let [best, least] = [0, Infinity];
  map.view.dots.forEach((dot, i) => {
    const distance = Math.hypot(map.toX(dot.x) - map.toX(place.x), map.toY(dot.y) - map.toY(place.y));
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}

// Steps from the selected point along the map's sides, on the grid that is shown.
function step(dx, dy) {
  const place = selectionPlace() ?? { x: (map.view.window.x[0] + map.view.window.x[1]) / 2, y: (map.view.window.y[0] + map.view.window.y[1]) / 2 };
  if (page.sample) return select(pointAt({ x: place.x + dx * 0.01 * (map.view.window.x[1] - map.view.window.x[0]), y: (place.y ?? 0) + dy * 0.01 * (map.view.window.y[1] - map.view.window.y[0]) }));
  const grid = snapGrid();
  const moved = (d, values, at, by) => d < 0 ? 0 : axes[d].place(values[clamp(nearest(axes[d], values, at) + by, 0, values.length - 1)]);
  select(pointAt({ x: moved(state.x, grid.x.values, place.x, dx), y: moved(state.y, grid.y.values, place.y ?? 0, dy) }));
}

const parametersAt = (point) => Float64Array.from(
  withDerived(page.parameters.map(({ name, value }) => ({ values: [number(point[name] ?? value)], repeat: 1 })), 1), ({ values }) => values[0]);
const alongAxes = (point) => Object.fromEntries(page.parameters.filter(({ name, value }) => value === null && name in point).map(({ name }) => [name, point[name]]));

async function select(point) {
  state.point = point;
  const asked = staff?.point(parametersAt(point), page.samples);
  writeFragment();
  map.mark(selectionPlace(), null);
  const named = alongAxes(point);
  byId("trace").textContent = page.command && traceLine(page.command, named);
  byId("copy-trace").disabled = !page.command;
  const unit = (name) => page.parameters.find((each) => each.name === name)?.unit ?? "1";
  figures(byId("point"), Object.entries(named).map(([name, value]) => [words(name), exact(value), unitText(unit(name))]), ["at", "value", "unit"]);
  showStored();
  if (!staff) return (byId("sentence").textContent = page.why);
  try {
    const answer = await asked;
    if (state.point === point) showPoint(answer);
  } catch (error) {
    if (state.point === point && error.message !== "cancelled") byId("sentence").textContent = `This point cannot be computed: ${error.message}`;
  }
}

// What the store has of the point and the page cannot compute.
function showStored() {
  const place = selectionPlace();
  const grid = preview && !page.sample && preview.slice(state.x, state.y, state.at);
  const outputs = page.outputs.filter((output) => output.name in planes && !canCompute(output));
  motion.spread([]);
  figures(byId("stored"), []);
  if (!grid || !outputs.length || (drawn.length && !place)) return;
  const i = drawn.length ? nearest(axes[state.x], grid.x.values, place.x) : 0;
  const j = isLine() ? 0 : nearest(axes[state.y], grid.y.values, place.y);
  const values = (output) => Array.from({ length: innerCount(output) }, (_, k) => grid.at(output.name, i, j, k));
  const rows = outputs.flatMap((output) => values(output).slice(0, MOST_ROWS + 1).map((value, k, all) =>
    [all.length > MOST_ROWS ? null : words(output.name) + (output.inner.length ? ` (${innerLabel(output, k)})` : ""), shownValue(output, value, false), unitText(output.unit)]));
  figures(byId("stored"), rows.filter(([name]) => name !== null), ["stored, rounded", "value", "unit"]);
  motion.spread(outputs.filter((output) => innerCount(output) > MOST_ROWS).map((output) => {
    const [start, width] = ["start", "width"].map((name) => planes[`${output.name}_${name}`] && grid.at(`${output.name}_${name}`, i, j));
    const isHistogram = width > 0;
    const [name, n] = [words(output.name), innerCount(output)];
    const at = Array.from({ length: n + isHistogram }, (_, k) => (isHistogram ? start + k * width : k));
    return { name, unit: output.unit, isHistogram, at, values: isHistogram ? [...values(output), values(output).at(-1)] : values(output) };
  }));
}

// Which of the values of an output that has several: "quantile 0.05", "stick slip".
function innerLabel(output, k) {
  const parts = [];
  for (const { name, unit, values } of [...output.inner].reverse()) {
    const value = values[k % values.length];
    k = Math.floor(k / values.length);
    parts.unshift(typeof value === "number" ? `${words(name)} ${brief(value)} ${unitText(unit)}`.trim() : words(value));
  }
  return parts.join(", ");
}

function shownValue(output, value, isExact = true) {
  if (value !== value) return "–";
  if (output.flags.length) return words(output.flags[value] ?? String(value));
  return `${isExact || value === 0 ? "" : "≈\u00a0"}${brief(value, isExact ? 12 : 3)}`;
}

function showPoint(answer) {
  const [name, sentence] = page.sentences[answer.status] ?? [`status ${answer.status}`, ""];
  byId("sentence").textContent = answer.status ? `${words(name)}: ${sentence}` : `${page.behind.length ? "One point of this cell, computed" : "Computed"} in ${brief(answer.milliseconds, 3)} ms.${page.why ? ` ${page.why}` : ""}`;
  const places = Object.fromEntries(page.kernel.outputs.map((output, k) => [output.name, k]));
  const value = (output) => answer.status ? NaN : answer.outputs[places[planeName(output, 0)] ?? -1] ?? NaN;
  figures(byId("figures"), page.outputs.filter(canCompute).map((output) => [words(output.name), shownValue(output, value(output)), unitText(output.unit)]), ["output", "value", "unit"]);
  byId("observables").replaceChildren();
  if (!answer.trace) return motion.clear("");
  if (answer.trace.refused) return motion.clear(answer.trace.refused);
  const series = seriesOf(answer.trace, page.clock, page.observables);
  explorer.motion = series;
  figures(byId("observables"), series.observed.filter(({ flags }) => !flags.length).map((each) => [words(each.name), ...range(series.time.values, each.values), unitText(each.unit)]), ["observable", "least", "mean", "greatest", "unit"]);
  motion.show(series, page.loop);
}
