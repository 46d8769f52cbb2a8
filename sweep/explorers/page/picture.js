// Which picture is shown, of what, and over which axes.
"use strict";

const PICTURES = { map: "map", lines: "lines", values: "all values", years: "over the years", dots: "dots" };

const outputNow = () => page.outputs.find(({ name }) => name === state.output);
const flagNow = () => (outputNow()?.kind === "flag" ? outputNow() : page.outputs.find(({ kind }) => kind === "flag"));
const innerCount = (output) => output.inner.reduce((n, { values }) => n * values.length, 1);
const isOverYears = (output) => output.inner.length === 1 && output.inner[0].unit === "years" && output.kind === "real";
const isNumbered = (output) => output.inner.some(({ name }) => name === `${output.name}_index`);
const canCompute = (output) => Boolean(staff) && page.kernel.outputs.some(({ name }) => name === planeName(output, 0));

// The name of an array: of one value of an output that has several.
const planeName = (output, inner) => (output.inner.length ? `${output.name} ${inner}` : output.name);

// The pictures that an output can have, the one by default first.
function kinds(output) {
  if (page.sample) return ["dots"];
  const plain = drawn.length < 2 ? ["lines"] : isShort() ? ["lines", "map"] : ["map", "lines"];
  if (isOverYears(output)) return ["years", ...plain];
  return isNumbered(output) && drawn.length ? ["values", ...(drawn.length > 1 ? ["map"] : [])] : plain;
}
const kindNow = () => (kinds(outputNow()).includes(state.picture) ? state.picture : kinds(outputNow())[0]);
const isMap = () => kindNow() === "map";

// Whether one of two axes has so few values that each has a line.
const isShort = () => Math.min(...pairNow().map((d) => axes[d].values.length)) <= MAX_LINES;
const pairNow = () => (state.y >= 0 && state.x >= 0 ? [state.x, state.y] : longest());

// The two axes with the most values, in their order.
function longest() {
  const order = drawn.map((_, d) => d).sort((a, b) => drawn[b].values.length - drawn[a].values.length || a - b);
  return order.slice(0, 2).sort((a, b) => a - b);
}

// The sides of the picture to begin with: lines are drawn over the longer axis.
function beginSides() {
  const pair = longest();
  const isReversed = pair.length > 1 && isShort() && axes[pair[1]].values.length > axes[pair[0]].values.length;
  [state.x, state.y] = page.sample ? [0, 1] : isReversed ? pair.reverse() : pair;
  state.x ??= -1;
  if (drawn.length < 2) state.y = -1;
}

// Two sides for a map, one for a picture of all values of an output.
function arrange() {
  if (page.sample || !drawn.length) return;
  if (["values", "years"].includes(kindNow()) || drawn.length < 2) state.y = -1;
  else if (state.y < 0) state.y = longest().find((d) => d !== state.x);
}

// Two places on an axis: the window, or all values and half a cell on each side.
function span(d, window) {
  const axis = axes[d];
  if (window) return window.map((value) => axis.place(value));
  const v = axis.values;
  const n = v.length;
  const [a, b] = [axis.place(v[0]), axis.place(v[n - 1])];
  if (n < 2 || a === b) return [a - 0.5, b + 0.5];
  return isMap() ? [a - (axis.place(v[1]) - a) / 2, b + (b - axis.place(v[n - 2])) / 2] : [a - 0.02 * (b - a), b + 0.02 * (b - a)];
}

// The values of the picture's side on dimension d: stored ones, or as many new ones as fit a window.
function side(d, most, window, all) {
  if (d < 0) return { values: Float64Array.of(0) };
  const axis = axes[d];
  if (window && axis.continuous && !all) return { values: axis.spaced(...window, most) };
  let indices = axis.values.map((_, i) => i);
  if (window) {
    const [a, b] = window;
    indices = indices.filter((i) => axis.values[i] >= a && axis.values[i] <= b);
    if (!indices.length) indices = Float64Array.of(nearest(axis, axis.values, axis.place(a)));
  }
  if (!all) indices = Float64Array.from(evenly(indices.length, most), (k) => indices[k]);
  return { values: Float64Array.from(indices, (i) => axis.values[i]), indices };
}
const sidesNow = (all = true, share = 1) => ({
  x: side(state.x, Math.ceil((isMap() ? WINDOW[0] : 1024) * share), state.window?.x, all),
  y: side(state.y, isMap() ? Math.ceil(WINDOW[1] * share) : MAX_LINES, state.window?.y, all),
});

const sidesKey = () => JSON.stringify(page.sample ? 0 : [kindNow(), state.x, state.y, state.window]);
const viewKey = () => JSON.stringify([sidesKey(), state.fixed, page.sample ? 0 : state.at.map((i, d) => (d === state.x || d === state.y ? 0 : i))]);
