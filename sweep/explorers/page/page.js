// The page: its contents, what is shown, and what the workers compute for it.
"use strict";

const page = JSON.parse(byId("contents").textContent);
const WINDOW = [256, 192]; // points of a part of the map that is computed anew
const MOST_AT_ONCE = 1 << 20; // points that "Compute all points" computes
const MOST_ROWS = 12; // of an output with several values in a table
const state = {
  picture: null, x: 0, y: 1, at: [], output: null, inner: 0, window: null, point: null, fixed: {}, units: {},
  scale: { map: "viridis", reversed: false, log: null, least: null, greatest: null }, borders: true, digits: false,
};
let axes = [], drawn = []; // all axes, and those that the map can have as sides
let preview = null, planes = {}, staff = null, sample = null;
let computed = null; // the Grid of the last computation, with the view it belongs to
let coarse = null; // one of few points, which is shown until all are computed
let task = null; // the view that is being computed
const map = new MapView(byId("map"));
const motion = new MotionView(byId("motion"), byId("loop"), byId("spread"));

async function begin() {
  const values = async (stored) => stored.linspace
    ? new Axis({ values: [0, 1], continuous: false }).spaced(...stored.linspace)
    : doubles(stored.doubles);
  const dimensions = [...page.dimensions, ...page.behind.map((each) => ({ ...each, continuous: false, behind: true }))];
  axes = await Promise.all(dimensions.map(async (dimension) => {
    const columns = {};
    for (const [name, stored] of Object.entries(dimension.columns)) columns[name] = await values(stored);
    const own = columns[dimension.name] ?? Float64Array.from({ length: dimension.kept }, (_, i) => i);
    return new Axis({ ...dimension, columns, values: own, label: withUnit(words(dimension.name), dimension.unit) });
  }));
  drawn = axes.filter(({ behind }) => !behind);
  state.at = axes.map(({ values, behind }) => (behind ? 0 : values.length >> 1));
  if (page.preview) {
    const kept = await Promise.all(page.preview.kept.map(values));
    const row = kept.at(-1)?.length ?? 1;
    for (const output of page.outputs) {
      const stored = page.planes[output.name];
      if (stored) planes[output.name] = await plane(stored.packed, output.kind, row, page.preview.bytes);
    }
    const status = page.preview.status ? await inflated(page.preview.status) : null;
    preview = new Preview({ ...page.preview, kept, status }, planes, axes);
  }
  for (const border of page.borders) border.lines = await Promise.all(border.lines.map(async (line) => borderLine(await inflated(line), border.at)));
  if (page.sample) await beginSample(values);
  if (page.kernel) await hire();
  state.output = firstOutput();
  beginSides();
  fill();
  readFragment();
  refresh();
  if (state.point) select(state.point);
  else if (!drawn.length) select(pointAt({}));
  performance.mark("ready");
  document.documentElement.dataset.ready = "yes";
}

const firstOutput = () => (page.outputs.find(({ kind }) => kind === "real") ?? page.outputs[0])?.name ?? null;

// A line over the two axes that have no index in `at`, as [x, y] in indices.
function borderLine(bytes, at) {
  const shares = new Uint16Array(unshuffled(bytes, 2));
  const sides = axes.filter((_, d) => at[d] === null);
  const point = (k) => sides.map((axis, side) => (shares[2 * k + side] / 65535) * (axis.values.length - 1));
  return Array.from({ length: shares.length / 2 }, (_, k) => point(k));
}

async function hire() {
  const part = async (name) => ({
    plain: await inflated(page.kernel.modules[`${name}_plain`]),
    relaxed: await inflated(page.kernel.modules[`${name}_relaxed`]),
    forcePlain: location.hash.includes("plain=1"),
  });
  const modules = { batch: await part("cpu") };
  if (page.kernel.modules.trace_plain) modules.trace = await part("trace");
  const itemsColumn = page.kernel.columns.findIndex((k) => page.parameters[k].name === page.kernel.items);
  const forcings = await Promise.all(page.kernel.forcings.map(async (forcing) => (
    { ...forcing, amplitudes: await doubles(forcing.amplitudes), factor: await doubles(forcing.factor) })));
  const table = { outputs: page.kernel.outputs, items: page.kernel.items, itemsColumn, forcings };
  staff = new Staff(byId("worker-source").textContent, modules, table);
}

// Of points without a grid: the columns, and the two parameters over which they are drawn.
async function beginSample(values) {
  sample = { columns: {}, n: 0 };
  for (const [name, stored] of Object.entries(page.sample_columns)) sample.columns[name] = await values(stored);
  const names = Object.keys(sample.columns);
  sample.n = sample.columns[names[0]].length;
  axes = names.map((name) => {
    const { unit, meaning } = page.parameters.find((each) => each.name === name) ?? { unit: "1", meaning: "" };
    const sorted = sample.columns[name].filter(Number.isFinite).sort();
    return new Axis({ unit, meaning, name, columns: {}, values: sorted, continuous: sorted[0] > 0 && sorted.at(-1) / sorted[0] > 50,
      label: withUnit(words(name), unit) });
  });
  drawn = axes;
  state.at = axes.map(() => 0);
  const slice = preview?.slice(0, -1, [0]);
  const has = (name) => name in planes;
  sample.grid = { has, exact: false, at: (name, i, j, inner) => has(name) ? slice.at(name, i, 0, inner) : NaN,
    statusAt: (i) => (slice && Object.keys(planes).length ? slice.statusAt(i, 0) : 255) };
}

// The values of every parameter of the kernel over a rectangle of the grid.
function columnsOf(grid) {
  const along = (name) => axes.findIndex((axis) => name in axis.columns);
  const sides = page.parameters.map(({ name, value }) => {
    const d = along(name);
    if (name in page.derived) return {};
    if (d < 0) return { constant: state.fixed[name] ?? number(value) };
    const axis = axes[d];
    const of = (s) => (s.indices ? Float64Array.from(s.indices, (i) => axis.columns[name][i]) : s.values);
    if (d === state.x) return { x: of(grid.x) };
    if (d === state.y) return { y: of(grid.y) };
    return { constant: axis.columns[name][state.at[d]] };
  });
  return (i0, i1, j0, j1) => withDerived(sides.map((s) =>
    s.x ? { values: s.x.slice(i0, i1), repeat: j1 - j0 } :
    s.y ? { values: s.y.slice(j0, j1), repeat: 1 } : { values: [s.constant], repeat: 1 }), (i1 - i0) * (j1 - j0));
}

// The kernel's columns of n points, with those of derived parameters filled in.
function withDerived(columns, n) {
  const derived = Object.entries(page.derived);
  const ofKernel = () => page.kernel.columns.map((k) => columns[k]); // wear has parameters of its own
  if (!derived.length) return ofKernel();
  const places = Object.fromEntries(page.parameters.map(({ name }, k) => [name, k]));
  for (const [name] of derived) columns[places[name]] = { values: new Float64Array(n), repeat: 1 };
  for (let i = 0; i < n; i++) {
    const value = (name) => {
      const { values, repeat } = columns[places[name]];
      return values[Math.floor(i / repeat) % values.length];
    };
    for (const [name, tree] of derived) columns[places[name]].values[i] = derive(tree, value) + 0;
  }
  return ofKernel();
}

// Computes the picture; coarsely, a sixteenth of the points of a map, which the full one replaces.
async function compute({ all = false, isCoarse = false } = {}) {
  if (!staff) return;
  const outputs = page.kernel.outputs;
  const { x, y } = page.sample ? { x: { values: Float64Array.from({ length: sample.n }, (_, i) => i) }, y: { values: Float64Array.of(0) } }
    : sidesNow(all, isCoarse ? 0.25 : 1);
  const grid = Object.assign(new Grid(x, y, outputs), { key: viewKey(), sides: sidesKey(), all, isCoarse });
  const columns = page.sample ? sampleColumns() : columnsOf(grid);
  task = grid;
  byId("progress").hidden = byId("cancel").hidden = isCoarse;
  byId("progress").value = 0;
  const began = performance.now();
  let drawn = began;
  try {
    const done = await staff.grid(grid.x.values.length, grid.y.values.length, columns, (rectangle, answer) => {
      grid.put(rectangle, answer, outputs);
      byId("progress").value = grid.done / grid.n;
      if (performance.now() < drawn || isCoarse) return;
      const start = performance.now();
      computed = grid;
      draw();
      drawn = performance.now() + Math.max(100, 5 * (performance.now() - start)); // mostly for the workers
    });
    if (task !== grid) return;
    if (grid.done && isCoarse) coarse = grid;
    else if (grid.done) computed = grid;
    grid.milliseconds = performance.now() - began;
    grid.complete = done;
  } catch (error) {
    say(`The computation failed: ${error.message}`);
  }
  if (task !== grid) return;
  task = null;
  byId("progress").hidden = byId("cancel").hidden = true;
  const isBehind = isCoarse && grid.key !== viewKey(); // a slider has moved on
  if (isCoarse && grid.complete) later(() => wants() && compute({ isCoarse: isBehind }), isBehind ? 0 : 120);
  draw();
}

function sampleColumns() {
  return (i0, i1) => withDerived(page.parameters.map(({ name, value }) =>
    name in sample.columns ? { values: sample.columns[name].slice(i0, i1), repeat: 1 } : { values: [state.fixed[name] ?? number(value)], repeat: 1 }), i1 - i0);
}

// Several planes of an output are one output of the page.
function reader(grid) {
  if (!grid || !(grid instanceof Grid)) return grid;
  return Object.assign(Object.create(grid), {
    at: (name, i, j, inner = 0) => {
      const output = page.outputs.find((each) => each.name === name);
      const key = output?.inner.length ? planeName(output, inner) : name;
      return key in grid.values ? grid.at(key, i, j) : NaN;
    },
    has: (name) => name in grid.values || `${name} 0` in grid.values,
  });
}

// What is drawn, each grid over the ones before it. Stored points are those of the stored parameters.
function gridsNow() {
  const own = computed?.key === viewKey() ? reader(computed) : null;
  const isCoarse = coarse && (coarse.key === viewKey() || (isChanged() && coarse.sides === sidesKey()));
  const stored = isChanged() || !preview ? null : page.sample ? sample.grid : preview.slice(state.x, state.y, state.at);
  const grids = [stored, isCoarse ? reader(coarse) : null, own].filter((grid) => grid?.has(state.output));
  return isMap() ? grids : grids.slice(-1);
}

// Whether the stored map does not show what is asked for.
function wants() {
  if (!outputNow() || !canCompute(outputNow()) || computed?.key === viewKey()) return false;
  if (isChanged() || !preview || !(state.output in planes)) return true;
  if (page.sample) return false;
  return state.window !== null || !preview.slice(state.x, state.y, state.at).there || (!isMap() && isRough());
}

let timer = 0;
function later(action, delay) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    timer = 0;
    action();
  }, delay);
}

// Draws the picture anew and computes what it lacks; while a slider moves, coarsely at first, and
// a coarse picture that is being computed is finished: it is shown while the next one begins.
function refresh(delay = 0, isMoving = false) {
  arrange();
  writeFragment();
  sliders();
  showFixed();
  showControls();
  clearTimeout(timer);
  timer = 0;
  if (task && task.key !== viewKey() && !(isMoving && task.isCoarse)) {
    staff.cancel();
    task = null;
    byId("progress").hidden = byId("cancel").hidden = true;
  }
  draw();
  if (wants() && !task) later(() => compute({ isCoarse: isMoving && isMap() }), delay);
}

const explorer = { page, state, motion: null, get computed() { return computed; }, get busy() { return task !== null || timer !== 0; } };
window.explorer = explorer;
