// The page: what is shown, what is asked for, and the link that brings it back.
"use strict";

const page = JSON.parse(byId("contents").textContent);
const WINDOW = [256, 192]; // points of a part of the map that is computed anew
const MOST_AT_ONCE = 1 << 20; // points that "Compute all points" computes
const MOST_ROWS = 12; // of an output with several values in a table
const state = {
  x: 0, y: 1, at: [], output: null, inner: 0, window: null, point: null,
  scale: { map: "viridis", reversed: false, log: false, least: null, greatest: null }, borders: true,
};
let axes = [], drawn = []; // all axes, and those that the map can have as sides
let preview = null, planes = {}, staff = null, sample = null;
let computed = null; // the Grid of the last computation, with the view it belongs to
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
      if (stored) planes[output.name] = await plane(stored.packed, output.kind, row);
    }
    const status = page.preview.status ? await inflated(page.preview.status) : null;
    preview = new Preview({ ...page.preview, kept, status }, planes, axes);
  }
  for (const border of page.borders) border.lines = borderLines(await inflated(border.lines));
  if (page.sample) await beginSample(values);
  if (page.kernel) await hire();
  if (!drawn.length) state.x = state.y = -1;
  else if (drawn.length === 1) state.y = -1;
  state.output = page.outputs[0]?.name ?? null;
  fill();
  readFragment();
  refresh();
  if (state.point) select(state.point);
  else if (!drawn.length) select(pointAt({}));
  document.documentElement.dataset.ready = "yes";
}

// Long lines over the first two axes, as [x, y] in indices, from short ones in any order.
function borderLines(bytes) {
  const ends = new Uint16Array(unshuffled(bytes, 2));
  const place = (k) => [0, 1].map((d) => (ends[k + d] / 65535) * (axes[d].values.length - 1));
  const meeting = new Map(); // the ends at each place
  const name = (k) => ends[k] * 65536 + ends[k + 1];
  for (let k = 0; k + 1 < ends.length; k += 2) meeting.set(name(k), [...(meeting.get(name(k)) ?? []), k]);
  const used = new Set();
  const follow = (k) => {
    const line = [];
    while (k !== undefined && !used.has(k >> 2)) {
      used.add(k >> 2);
      line.push(place(k ^ 2));
      k = meeting.get(name(k ^ 2)).find((other) => !used.has(other >> 2));
    }
    return line;
  };
  const lines = [];
  for (let k = 0; k + 3 < ends.length; k += 4) {
    if (used.has(k >> 2)) continue;
    const onwards = follow(k);
    const before = meeting.get(name(k)).find((other) => !used.has(other >> 2));
    lines.push([...(before === undefined ? [] : follow(before).reverse()), place(k), ...onwards]);
  }
  return lines;
}

async function hire() {
  const part = async (name) => ({
    plain: await inflated(page.kernel.modules[`${name}_plain`]),
    relaxed: await inflated(page.kernel.modules[`${name}_relaxed`]),
    forcePlain: location.hash.includes("plain=1"),
  });
  const modules = { batch: await part("cpu") };
  if (page.kernel.modules.trace_plain) modules.trace = await part("trace");
  const itemsColumn = page.parameters.findIndex(({ name }) => name === page.kernel.items);
  const table = { outputs: page.kernel.outputs, items: page.kernel.items, itemsColumn };
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

// ---- the view -----------------------------------------------------------------------------------

const outputNow = () => page.outputs.find(({ name }) => name === state.output);
const flagNow = () => (outputNow()?.kind === "flag" ? outputNow() : page.outputs.find(({ kind }) => kind === "flag"));
const innerCount = (output) => output.inner.reduce((n, { values }) => n * values.length, 1);
const isLine = () => state.y < 0;
const canCompute = (output) => Boolean(staff) && page.kernel.outputs.some(({ name }) => name === planeName(output, 0));

// The name of the kernel's array: of one value of an output that has several.
const planeName = (output, inner) => (output.inner.length && !output.stored ? `${output.name} ${inner}` :
  output.inner.length ? `${output.name} ${inner}` : output.name);

// Two places on an axis: the window, or all values and half a cell on each side.
function span(d, window) {
  const axis = axes[d];
  if (window) return window.map((value) => axis.place(value));
  const v = axis.values;
  const n = v.length;
  const [a, b] = [axis.place(v[0]), axis.place(v[n - 1])];
  if (n < 2 || a === b) return [a - 0.5, b + 0.5];
  return page.sample ? [a - 0.02 * (b - a), b + 0.02 * (b - a)]
    : [a - (axis.place(v[1]) - a) / 2, b + (b - axis.place(v[n - 2])) / 2];
}

// The values of the map's side on dimension d: stored ones, or as many new ones as fit a window.
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
  if (!all && indices.length > most) {
    const n = indices.length;
    indices = Float64Array.from({ length: most }, (_, k) => indices[Math.round((k * (n - 1)) / (most - 1))]);
  }
  return { values: Float64Array.from(indices, (i) => axis.values[i]), indices };
}

const viewKey = () => JSON.stringify([state.x, state.y, state.window, state.at.map((i, d) => (d === state.x || d === state.y ? 0 : i))]);

// The values of every parameter of the kernel over a rectangle of the grid.
function columnsOf(grid) {
  const along = (name) => axes.findIndex((axis) => name in axis.columns);
  const sides = page.parameters.map(({ name, value }) => {
    const d = along(name);
    if (name in page.derived) return {};
    if (d < 0) return { constant: number(value) };
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

// The columns of n points with those of derived parameters filled in.
function withDerived(columns, n) {
  const derived = Object.entries(page.derived);
  if (!derived.length) return columns;
  const places = Object.fromEntries(page.parameters.map(({ name }, k) => [name, k]));
  for (const [name] of derived) columns[places[name]] = { values: new Float64Array(n), repeat: 1 };
  for (let i = 0; i < n; i++) {
    const value = (name) => {
      const { values, repeat } = columns[places[name]];
      return values[Math.floor(i / repeat) % values.length];
    };
    for (const [name, tree] of derived) columns[places[name]].values[i] = derive(tree, value) + 0;
  }
  return columns;
}

async function compute({ all = false } = {}) {
  if (!staff) return;
  const key = viewKey();
  const outputs = page.kernel.outputs;
  const grid = page.sample
    ? new Grid({ values: Float64Array.from({ length: sample.n }, (_, i) => i) }, { values: Float64Array.of(0) }, outputs)
    : new Grid(side(state.x, isLine() ? 1024 : WINDOW[0], state.window?.x, all),
               side(state.y, WINDOW[1], state.window?.y, all), outputs);
  Object.assign(grid, { key, all });
  const columns = page.sample ? sampleColumns() : columnsOf(grid);
  task = grid;
  byId("progress").hidden = byId("cancel").hidden = false;
  byId("progress").value = 0;
  const began = performance.now();
  let drawn = began;
  try {
    const done = await staff.grid(grid.x.values.length, grid.y.values.length, columns, (rectangle, answer) => {
      grid.put(rectangle, answer, outputs);
      byId("progress").value = grid.done / grid.n;
      if (performance.now() < drawn) return;
      const start = performance.now();
      computed = grid;
      draw();
      drawn = performance.now() + Math.max(100, 5 * (performance.now() - start)); // mostly for the workers
    });
    if (task !== grid) return;
    if (grid.done) computed = grid;
    grid.milliseconds = performance.now() - began;
    grid.complete = done;
  } catch (error) {
    say(`The computation failed: ${error.message}`);
  }
  if (task !== grid) return;
  task = null;
  byId("progress").hidden = byId("cancel").hidden = true;
  draw();
}

function sampleColumns() {
  return (i0, i1) => withDerived(page.parameters.map(({ name, value }) =>
    name in sample.columns ? { values: sample.columns[name].slice(i0, i1), repeat: 1 } : { values: [number(value)], repeat: 1 }), i1 - i0);
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

function gridsNow() {
  const grids = [];
  if (page.sample) {
    const own = computed ? reader(computed) : sample.grid;
    return [own];
  }
  if (preview) {
    const slice = preview.slice(state.x, state.y, state.at);
    if (slice.has(state.output)) grids.push(slice);
  }
  const own = computed?.key === viewKey() ? reader(computed) : null;
  if (own?.has(state.output)) grids.push(own);
  return grids;
}

// Whether the stored map does not show what is asked for.
function wants() {
  if (!outputNow() || !canCompute(outputNow())) return false;
  if (computed?.key === viewKey()) return false;
  if (page.sample) return !(state.output in planes) && !computed;
  if (!preview || !(state.output in planes)) return true;
  return state.window !== null || !preview.slice(state.x, state.y, state.at).there;
}

let timer = 0;
function refresh(delay = 0) {
  writeFragment();
  sliders();
  draw();
  clearTimeout(timer);
  if (task && task.key !== viewKey()) {
    staff.cancel();
    task = null;
    byId("progress").hidden = byId("cancel").hidden = true;
  }
  if (wants() && !task) timer = setTimeout(compute, delay);
}

// ---- drawing ------------------------------------------------------------------------------------

function limits(output, grids) {
  let [least, greatest, positive] = [Infinity, -Infinity, Infinity];
  const note = (value) => {
    if (!Number.isFinite(value)) return;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    if (value > 0 && value < positive) positive = value;
  };
  const inners = innerCount(output);
  for (const grid of grids) {
    const n = page.sample ? sample.n : grid.x.values.length;
    const m = page.sample ? 1 : grid.y.values.length;
    for (let i = 0; i < n; i++) for (let j = 0; j < m; j++)
      if (isLine() && !page.sample) for (let k = 0; k < inners; k++) note(grid.at(output.name, i, j, k));
      else note(grid.at(output.name, i, j, state.inner));
  }
  if (least > greatest) [least, greatest, positive] = [0, 1, 1e-3];
  return { least, greatest, positive };
}

function draw() {
  const output = outputNow();
  if (!output || !drawn.length) return sayState([]);
  map.resize();
  const grids = gridsNow();
  const found = limits(output, grids.length > 1 && computed?.complete && state.window ? grids.slice(-1) : grids);
  const log = state.scale.log && found.greatest > 0;
  const scale = { ...state.scale, log,
    least: state.scale.least ?? (log ? Math.max(found.least, found.positive, found.greatest * 1e-12) : found.least),
    greatest: state.scale.greatest ?? found.greatest };
  if (log && scale.least <= 0) scale.least = found.positive;
  const paint = painter(scale, output);
  const view = { x: axes[state.x], output, inner: state.inner, grids, paint, theory: [], flag: state.borders ? flagNow()?.name : null,
    window: { x: span(state.x, state.window?.x) }, selection: selectionPlace(), inners: innerCount(output) };
  if (isLine()) {
    const place = (value) => (log ? Math.log(value) : value);
    let [a, b] = [place(scale.least), place(scale.greatest)];
    if (!(a < b)) [a, b] = [a - 1, b + 1];
    view.y = { isValue: true, log, place, value: log ? Math.exp : (v) => v, label: withUnit(words(output.name), output.unit) };
    view.window.y = [a - 0.04 * (b - a), b + 0.04 * (b - a)];
  } else {
    view.y = axes[state.y];
    view.window.y = span(state.y, state.window?.y);
    view.theory = theory();
  }
  if (page.sample) view.dots = dots(grids[0], output);
  map.show(view);
  drawBar(scale, output);
  drawLegend(output, grids, view);
  sayState(grids);
}

function dots(grid, output) {
  const [x, y] = [sample.columns[axes[state.x].name], isLine() ? null : sample.columns[axes[state.y].name]];
  return Array.from({ length: sample.n }, (_, i) => {
    const value = grid.at(output.name, i, 0, state.inner);
    return { value, status: value === value ? grid.statusAt(i, 0) : grid.statusAt(i, 0) || 1,
      x: axes[state.x].place(x[i]), y: y ? axes[state.y].place(y[i]) : map.view?.y?.place(value) ?? value };
  });
}

function theory() {
  const shown = state.borders && state.x + state.y === 1 ? page.borders.filter(({ at }) => at.every((i, k) => i === state.at[k + 2])) : [];
  const labels = [...new Set(page.borders.map(({ label }) => label))];
  return shown.map((border) => ({ ...border, dash: BORDER_DASHES[labels.indexOf(border.label) % 3],
    lines: state.x === 0 ? border.lines : border.lines.map((line) => line.map(([x, y]) => [y, x])) }));
}

function drawBar(scale, output) {
  byId("bar").hidden = output.kind === "flag" || (isLine() && !page.sample);
  if (byId("bar").hidden) return;
  const canvas = byId("scale");
  canvas.width = 256;
  const c = canvas.getContext("2d");
  const place = scale.log ? [Math.log(scale.least), Math.log(scale.greatest)] : [scale.least, scale.greatest];
  const paint = painter(scale, output);
  for (let i = 0; i < 256; i++) {
    const at = place[0] + (i / 255) * (place[1] - place[0]);
    c.fillStyle = css(paint(scale.log ? Math.exp(at) : at));
    c.fillRect(i, 0, 1, 12);
  }
  byId("bar-least").textContent = brief(scale.least, 4);
  byId("bar-greatest").textContent = `${brief(scale.greatest, 4)} ${unitText(output.unit)}`;
}

function drawLegend(output, grids, view) {
  const swatch = (draw, text) => {
    const canvas = element("canvas", { width: 18, height: 12, "aria-hidden": "true" });
    draw(canvas.getContext("2d"));
    return element("li", {}, canvas, text);
  };
  const filled = (colour) => (c) => ((c.fillStyle = colour), c.fillRect(0, 0, 18, 12));
  const rows = output.kind === "flag" ? output.flags.map((name, code) => swatch(filled(css(classPixel(code))), words(name))) : [];
  const flag = flagNow();
  if (state.borders && flag && grids.some((grid) => grid.has(flag.name)) && !isLine() && !page.sample) rows.push(swatch((c) => (filled("#202020")(c), (c.fillStyle = "#fff"), c.fillRect(0, 5, 18, 2)), `borders of ${words(flag.name)}, computed`));
  for (const { label, dash } of view.theory) rows.push(swatch((c) => ((c.strokeStyle = "#e00000"), c.setLineDash(dash), c.moveTo(0, 6), c.lineTo(18, 6), c.stroke()), `theory: ${label}`));
  const seen = new Set();
  for (const grid of grids) {
    const [n, m] = page.sample ? [sample.n, 1] : [grid.x.values.length, grid.y.values.length];
    for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) seen.add(grid.statusAt(i, j));
  }
  for (const code of seen) if (code && code !== 255) {
    const [name, sentence] = page.sentences[code] ?? [`status ${code}`, ""];
    rows.push(swatch((c) => { filled("#e6e6e6")(c); c.fillStyle = "#606060"; for (let k = 0; k < 18; k += 6) c.fillRect(k, 0, 2, 12); }, `${words(name)}: ${sentence}`));
  }
  byId("legend").replaceChildren(...rows);
}

const say = (text) => (byId("state").textContent = text);
function sayState(grids) {
  const total = page.dimensions.map(({ size }) => size.toLocaleString("en")).join(" × ");
  const size = (grid) => page.sample ? `${sample.n.toLocaleString("en")} of ${total} points`
    : `${grid.x.values.length.toLocaleString("en")}${isLine() ? "" : ` × ${grid.y.values.length.toLocaleString("en")}`} points`;
  const shown = grids.at(-1);
  byId("all").hidden = !canCompute(outputNow()) || !drawn.length || page.sample || computed?.all && computed.key === viewKey() || sidesProduct() > MOST_AT_ONCE;
  if (task) return say(`Computing ${size(task)} …`);
  if (!shown) return say(staff ? "" : page.why);
  if (computed?.key === viewKey() && shown.exact) {
    const how = computed.all || !state.window ? "computed in the page" : "recomputed";
    const stopped = computed.complete === false ? ", cancelled" : "";
    return say(`${how}, ${size(computed)}, same bits as sweep run${stopped} (${(computed.milliseconds / 1000).toFixed(2)} s)`);
  }
  if (page.sample) return say(size());
  const there = preview.slice(state.x, state.y, state.at).there ? "" : ", at the stored values nearest to the sliders";
  say(preview.whole ? `the stored map, ${total} points, rounded to 0.4 %` :
    `a preview of the stored map: ${page.preview.points.toLocaleString("en")} of ${total} points, rounded to 0.4 %${there}`);
}
const sidesProduct = () => side(state.x, 0, state.window?.x, true).values.length * side(state.y, 0, state.window?.y, true).values.length;

// ---- points -------------------------------------------------------------------------------------

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
    let [best, least] = [0, Infinity];
    map.view.dots.forEach((dot, i) => {
      const distance = Math.hypot(map.toX(dot.x) - map.toX(place.x), map.toY(dot.y) - map.toY(place.y));
      if (distance < least) [best, least] = [i, distance];
    });
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
  figures(byId("observables"), series.observed.filter(({ flags }) => !flags.length).map((each) => [words(each.name), ...range(each.values), unitText(each.unit)]), ["observable", "least", "mean", "greatest", "unit"]);
  motion.show(series, page.loop);
}

const explorer = { page, state, motion: null, get computed() { return computed; }, get busy() { return task !== null; } };
window.explorer = explorer;
