// The controls, the pointer, the keys and the link.
"use strict";

let drag = null;

function fill() {
  const options = (select, entries) => select.replaceChildren(...entries.map(([value, text]) => element("option", { value }, text)));
  byId("title").textContent = `${page.name}: ${page.title}`;
  byId("subtitle").textContent = `${words(page.model)}, method ${page.method}`;
  byId("origin").textContent = [page.source, `tribosweep ${page.version}`, page.fingerprint && `fingerprint ${page.fingerprint.slice(0, 16)}`].filter(Boolean).join(" · ");
  byId("notes").replaceChildren(...[...page.notes, page.why].filter(Boolean).map((note) => element("li", {}, note)));
  const stored = (output) => (output.stored || !page.planes || !Object.keys(planes).length ? "" : " (computed in the page)");
  options(byId("output"), page.outputs.map((output) => [output.name, `${withUnit(words(output.name), output.unit)}${stored(output)}`]));
  for (const id of ["across", "upwards"]) options(byId(id), drawn.map((axis, d) => [d, axis.label]));
  for (const id of ["across", "upwards"]) byId(id).parentElement.hidden = drawn.length < 2;
  options(byId("colours"), Object.keys(MAPS).map((name) => [name, name]));
  byId("map-room").hidden = !drawn.length;
  byId("trace").hidden = byId("copy-trace").hidden = !page.command;
  byId("sentence").textContent = `Click the map to ${staff ? "compute" : "see the stored values of"} a point.`;
  byId("copy-toml").disabled = !page.toml || page.sample;
  figures(byId("parameters"), page.parameters.filter(({ value, neutral }) => value !== null && !neutral).map(({ name, value, unit, meaning, derived }) =>
    [words(name), value === "nan" && derived ? derived : exact(number(value)), unitText(unit), meaning]), ["parameter", "value", "unit", "meaning"]);
}

// A slider for each axis that is not drawn, and for the values of an output that has several.
function sliders() {
  const output = outputNow();
  const shown = [];
  if (!page.sample) axes.forEach((axis, d) => {
    if (d === state.x || d === state.y || axis.values.length < 2 || (axis.behind && !staff)) return;
    const text = (k) => Object.entries(axis.columns).map(([name, values]) => (name === axis.name ? "" : `${words(name)} `) + brief(values[k])).join(", ") || brief(axis.values[k]);
    shown.push([axis.behind ? `computed at ${axis.label}` : axis.label, axis.values.length, text, state.at[d], (k) => (state.at[d] = k)]);
  });
  const n = output ? innerCount(output) : 1;
  if (n > 1 && (!isLine() || page.sample) && drawn.length)
    shown.push(["value", n, (k) => innerLabel(output, k), state.inner, (k) => (state.inner = k)]);
  const room = byId("sliders");
  const kind = JSON.stringify(shown.map(([label, length]) => [label, length]));
  if (room.dataset.shown !== kind || !room.children.length) {
    room.dataset.shown = kind;
    room.replaceChildren(...shown.map(([label, length], row) => {
      const input = element("input", { type: "range", min: 0, max: length - 1 });
      input.addEventListener("input", () => {
        room.shown[row][4](Number(input.value));
        refresh(120);
      });
      input.addEventListener("change", () => state.point && select(pointAt(selectionPlace() ?? {})));
      return element("label", {}, label, input, element("output"));
    }));
  }
  room.shown = shown;
  shown.forEach(([, , text, k], row) => {
    room.children[row].children[0].value = k;
    room.children[row].children[1].textContent = text(k);
  });
}

function showControls() {
  byId("output").value = state.output;
  byId("across").value = state.x;
  byId("upwards").value = state.y;
  byId("colours").value = state.scale.map;
  byId("reversed").checked = state.scale.reversed;
  byId("log").checked = state.scale.log;
  byId("borders").checked = state.borders;
  for (const id of ["colours", "reversed"]) byId(id).parentElement.hidden = isLine() && !page.sample;
  byId("borders-label").hidden = (!flagNow() && !page.borders.length) || isLine() || page.sample;
  const meant = [[outputNow()?.name, outputNow()?.long_name], ...sides().map(({ name, meaning }) => [name, meaning])];
  byId("meaning").textContent = meant.filter(([, meaning]) => meaning).map(([name, meaning]) => `${words(name)}: ${meaning}`).join("; ");
  for (const id of ["least", "greatest"]) byId(id).value = state.scale[id] === null ? "" : exact(state.scale[id]);
}

function listen() {
  const on = (id, event, action) => byId(id).addEventListener(event, action);
  on("controls", "submit", (event) => event.preventDefault());
  on("output", "change", () => ((state.output = byId("output").value), (state.inner = 0), (state.scale.least = state.scale.greatest = null), showControls(), refresh()));
  const turn = (key, other) => (event) => {
    const chosen = Number(event.target.value);
    if (chosen === state[other]) state[other] = state[key];
    state[key] = chosen;
    state.window = null;
    showControls();
    refresh();
  };
  on("across", "change", turn("x", "y"));
  on("upwards", "change", turn("y", "x"));
  on("colours", "change", () => ((state.scale.map = byId("colours").value), refresh()));
  on("reversed", "change", () => ((state.scale.reversed = byId("reversed").checked), refresh()));
  on("log", "change", () => ((state.scale.log = byId("log").checked), refresh()));
  on("borders", "change", () => ((state.borders = byId("borders").checked), refresh()));
  for (const id of ["least", "greatest"]) on(id, "change", () => {
    const value = Number(byId(id).value);
    state.scale[id] = byId(id).value.trim() === "" || !Number.isFinite(value) ? null : value;
    showControls();
    refresh();
  });
  on("zoom-in", "click", () => zoom(0.5));
  on("zoom-out", "click", () => zoom(2));
  on("whole", "click", whole);
  on("all", "click", () => compute({ all: true }));
  on("cancel", "click", cancel);
  on("copy-trace", "click", () => told(copy(byId("trace").textContent), "command copied"));
  on("copy-toml", "click", () => told(copy(windowFile()), "sweep file copied"));
  on("copy-link", "click", () => told(copy(location.href), "link copied"));
  on("save-png", "click", savePicture);
  on("save-csv", "click", saveTable);
  on("map", "keydown", key);
  on("map", "pointermove", hover);
  on("map", "pointerleave", () => (byId("readout").textContent = "\u00a0"));
  on("map", "pointerdown", (event) => {
    const [x, y] = [event.offsetX, event.offsetY];
    if (event.button || !map.places(x, y).inside) return;
    drag = { x0: x, y0: y, x1: x, y1: y, touch: event.pointerType === "touch" };
    if (!drag.touch) byId("map").setPointerCapture(event.pointerId);
  });
  on("map", "pointerup", released);
  on("map", "pointercancel", () => ((drag = null), map.mark(selectionPlace(), null)));
  on("map", "wheel", (event) => {
    const place = map.view && map.places(event.offsetX, event.offsetY);
    if (!place?.inside || !canZoom()) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, place);
  });
  byId("map").addEventListener("wheel", () => {}, { passive: true });
  window.addEventListener("resize", () => (draw(), motion.redraw()));
  window.addEventListener("hashchange", () => {
    if (location.hash === written) return;
    readFragment();
    refresh();
    if (state.point) select(state.point);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (draw(), motion.redraw()));
}

function key(event) {
  const by = event.shiftKey ? 10 : 1;
  const actions = {
    ArrowLeft: () => step(-by, 0), ArrowRight: () => step(by, 0), ArrowUp: () => step(0, by), ArrowDown: () => step(0, -by),
    "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: whole, Escape: cancel,
  };
  if (!drawn.length || event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
}

function hover(event) {
  if (!map.view) return;
  const [x, y] = [event.offsetX, event.offsetY];
  if (drag && !drag.touch) {
    [drag.x1, drag.y1] = [x, y];
    return map.mark(selectionPlace(), drag);
  }
  const place = map.places(x, y);
  byId("readout").textContent = (place.inside && readout(place)) || "\u00a0";
}

// The values at a place of the map, or of the point of a sample nearest to it.
function readout(place) {
  const output = outputNow();
  for (const grid of gridsNow().reverse()) {
    const i = page.sample ? nearestDot(place) : nearest(axes[state.x], grid.x.values, place.x);
    const j = isLine() || page.sample ? 0 : nearest(axes[state.y], grid.y.values, place.y);
    const status = grid.statusAt(i, j);
    if (status === 255) continue;
    const value = grid.at(output.name, i, j, state.inner);
    const values = page.sample ? axes.map(({ name }) => sample.columns[name][i]) : [grid.x.values[i], grid.y.values[j]];
    const at = (page.sample ? axes : sides()).map((axis, k) => `${words(axis.name)} ${brief(values[k])} ${unitText(axis.unit)}`.trim());
    const [name, sentence] = page.sentences[status] ?? ["", ""];
    const what = status ? `${words(name)}: ${sentence}` : `${words(output.name)} ${shownValue(output, value, grid.exact)} ${unitText(output.unit)}`.trim();
    const flag = flagNow();
    const regime = !status && flag && flag !== output && grid.has(flag.name) ? `, ${shownValue(flag, grid.at(flag.name, i, j))}` : "";
    return `${at.join(", ")}: ${what}${regime}`;
  }
}

function released(event) {
  if (!drag) return;
  const { x0, y0, touch } = drag;
  const [x1, y1] = [event.offsetX, event.offsetY];
  drag = null;
  const [a, b] = [map.places(x0, y0), map.places(x1, y1)];
  if (Math.hypot(x1 - x0, y1 - y0) < 6) return select(pointAt(b));
  if (touch || !canZoom()) return map.mark(selectionPlace(), null);
  zoomTo([Math.min(a.x, b.x), Math.max(a.x, b.x)], [Math.min(a.y, b.y), Math.max(a.y, b.y)]);
}

// ---- zoom ---------------------------------------------------------------------------------------

const canZoom = () => drawn.length > 0;

function zoom(factor, around = null) {
  if (!map.view || !canZoom()) return;
  const middle = around ?? selectionPlace() ?? null;
  const part = ([a, b], at) => {
    const centre = at !== null && at !== undefined && at >= a && at <= b ? at : (a + b) / 2;
    return [centre - (centre - a) * factor, centre + (b - centre) * factor];
  };
  zoomTo(part(map.view.window.x, middle?.x), part(map.view.window.y, middle?.y));
}

// Shows a part, between places on both axes, within the range of the axes.
function zoomTo(x, y) {
  const inside = (d, [a, b]) => {
    const axis = axes[d];
    const [least, greatest] = span(d, null);
    if (a <= least && b >= greatest) return null;
    const ends = [Math.max(a, axis.place(axis.values[0])), Math.min(b, axis.place(axis.values.at(-1)))];
    return ends[0] < ends[1] ? ends.map((place) => Number(axis.value(place).toPrecision(12))) : null;
  };
  const [wx, wy] = [inside(state.x, x), isLine() ? null : inside(state.y, y)];
  const full = (d) => (d < 0 ? null : [axes[d].values[0], axes[d].values.at(-1)]);
  const narrow = (d, w) => w && axes[d].place(w[1]) - axes[d].place(w[0]) < 1e-9 * Math.max(Math.abs(axes[d].place(w[1])), 1e-300);
  if (narrow(state.x, wx) || (wy && narrow(state.y, wy))) return say("Zoomed in as far as numbers can tell points apart.");
  state.window = wx || wy ? { x: wx ?? full(state.x), y: wy ?? full(state.y) } : null;
  refresh(180);
}
function whole() {
  state.window = null;
  refresh();
}
function cancel() {
  if (staff) staff.cancel();
}

// ---- copies -------------------------------------------------------------------------------------

async function told(action, text) {
  await action;
  say(text);
}

// The sweep of the map that is shown: the values of its sides, or all stored ones.
function windowFile() {
  const grid = computed?.key === viewKey() ? computed : { x: side(state.x, 0, state.window?.x, true), y: side(state.y, 0, state.window?.y, true) };
  const constants = Object.fromEntries(page.parameters.filter(({ value, neutral }) => value !== null && !neutral).map(({ name, value }) => [name, number(value)]));
  const recipes = [];
  axes.forEach((axis, d) => {
    const s = d === state.x ? grid.x : d === state.y ? grid.y : null;
    for (const [name, values] of Object.entries(axis.columns)) {
      if (!s) constants[name] = values[state.at[d]];
      else recipes.push([d, axis.name, name, axis.continuous && !s.indices ? axisRecipe(axis, s.values) :
        `{ values = [${Array.from(s.indices ?? s.values.keys(), (i) => exact(values[i])).join(", ")}] }`]);
    }
  });
  const order = [state.x, state.y];
  recipes.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
  return sweepFile(page.toml, constants, recipes.map(([, dimension, name, recipe]) => [dimension === name ? name : `${dimension === "point" ? "sample_point" : dimension}.${name}`, recipe]));
}

function savePicture() {
  const [canvas, legend] = [byId("map"), [...byId("legend").children].map((row) => row.textContent)];
  const ratio = map.ratio;
  const lines = [`${page.name}: ${withUnit(words(state.output), outputNow().unit)}`, ...legend];
  const whole = element("canvas", { width: canvas.width, height: canvas.height + (lines.length * 18 + 44) * ratio });
  const c = whole.getContext("2d");
  c.fillStyle = map.colours.paper;
  c.fillRect(0, 0, whole.width, whole.height);
  c.drawImage(canvas, 0, 24 * ratio);
  c.scale(ratio, ratio);
  c.fillStyle = map.colours.ink;
  c.font = "13px system-ui, sans-serif";
  c.fillText(lines[0], map.frame.left, 17);
  const top = map.height + 30;
  if (!byId("bar").hidden) {
    c.drawImage(byId("scale"), map.frame.left, top, map.frame.right - map.frame.left, 10);
    c.fillText(byId("bar-least").textContent, map.frame.left, top + 24);
    c.textAlign = "right";
    c.fillText(byId("bar-greatest").textContent, map.frame.right, top + 24);
    c.textAlign = "left";
  }
  lines.slice(1).forEach((line, k) => c.fillText(line, map.frame.left, top + 42 + 18 * k));
  whole.toBlob((blob) => save(blob, `${page.name}.png`));
}

function saveTable() {
  const grid = gridsNow().at(-1);
  if (!grid) return say("There is no map to save.");
  const outputs = page.outputs.filter(({ name, inner }) => !inner.length && grid.has(name));
  const text = table(page.sample ? axes : sides(), page.sample ? samplePoints() : gridPoints(grid), outputs, grid, page.sentences);
  save(new Blob([text], { type: "text/csv" }), `${page.name}.csv`);
  say(grid.exact ? "Saved, with all digits." : "Saved; stored outputs are rounded to three digits.");
}
const sides = () => [state.x, state.y].filter((d) => d >= 0).map((d) => axes[d]);
function* gridPoints({ x, y }) {
  for (const [i, along] of x.values.entries())
    for (const [j, upwards] of y.values.entries()) yield [isLine() ? [along] : [along, upwards], i, j];
}
function* samplePoints() {
  for (let i = 0; i < sample.n; i++) yield [axes.map(({ name }) => sample.columns[name][i]), i, 0];
}

// ---- the link -----------------------------------------------------------------------------------

let written = "";
function writeFragment() {
  const parts = new URLSearchParams();
  if (state.output !== page.outputs[0]?.name) parts.set("output", state.output);
  if (!page.sample && drawn.length && (state.x !== 0 || state.y !== (drawn.length > 1 ? 1 : -1)) || page.sample) {
    parts.set("across", axes[state.x]?.name ?? "");
    if (state.y >= 0) parts.set("upwards", axes[state.y].name);
  }
  const { map: colours, reversed, log, least, greatest } = state.scale;
  if (colours !== "viridis") parts.set("colours", colours);
  if (reversed) parts.set("reversed", 1);
  if (log) parts.set("log", 1);
  if (least !== null) parts.set("least", exact(least));
  if (greatest !== null) parts.set("greatest", exact(greatest));
  if (!state.borders) parts.set("borders", 0);
  if (state.inner) parts.set("value", state.inner);
  axes.forEach((axis, d) => !page.sample && d !== state.x && d !== state.y && parts.set(`at.${axis.name}`, state.at[d]));
  for (const side of ["x", "y"]) if (state.window?.[side]) parts.set(`window.${side}`, state.window[side].map(exact).join(","));
  if (state.point) for (const [name, value] of Object.entries(state.point)) parts.set(`point.${name}`, exact(value));
  if (location.hash.includes("plain=1")) parts.set("plain", 1);
  written = parts.size ? `#${parts}` : "";
  if (location.hash === written) return;
  try {
    history.replaceState(null, "", written || location.pathname + location.search);
  } catch {
    location.hash = written;
  }
}

// What a link says; what it says wrongly is ignored.
function readFragment() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const read = (name) => (parts.has(name) && Number.isFinite(Number(parts.get(name))) ? Number(parts.get(name)) : null);
  if (page.outputs.some(({ name }) => name === parts.get("output"))) state.output = parts.get("output");
  const [x, y] = ["across", "upwards"].map((side) => drawn.findIndex(({ name }) => name === parts.get(side)));
  if (x >= 0 && x !== y) [state.x, state.y] = [x, y >= 0 ? y : drawn.length > 1 ? (x === 0 ? 1 : 0) : -1];
  if (parts.get("colours") in MAPS) state.scale.map = parts.get("colours");
  state.scale.reversed = parts.get("reversed") === "1";
  state.scale.log = parts.get("log") === "1";
  [state.scale.least, state.scale.greatest] = [read("least"), read("greatest")];
  state.borders = parts.get("borders") !== "0";
  state.inner = clamp(Math.round(read("value") ?? 0), 0, innerCount(outputNow() ?? { inner: [] }) - 1);
  axes.forEach((axis, d) => {
    const index = read(`at.${axis.name}`);
    if (index !== null) state.at[d] = clamp(Math.round(index), 0, axis.values.length - 1);
  });
  const part = (side, d) => {
    const ends = (parts.get(`window.${side}`) ?? "").split(",").map(Number);
    return d >= 0 && ends.length === 2 && ends[0] < ends[1] && (!axes[d].log || ends[0] > 0) ? ends : null;
  };
  const window = { x: part("x", state.x), y: part("y", state.y) };
  state.window = window.x && (window.y || state.y < 0) ? window : null;
  const named = [...parts].filter(([name]) => name.startsWith("point.")).map(([name, value]) => [name.slice(6), Number(value)]);
  const known = (name) => axes.some((axis) => axis.name === name || name in axis.columns);
  if (named.length && named.every(([name, value]) => known(name) && !Number.isNaN(value))) state.point = Object.fromEntries(named);
  showControls();
}

listen();
begin().catch((error) => say(`This page cannot be shown: ${error.message}`));
