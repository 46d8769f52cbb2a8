// The controls of the picture: what they offer, what they show, what they do.
"use strict";

const NARROW = 820; // pixels, as in page.css

function fill() {
  const options = (select, entries) => select.replaceChildren(...entries.map(([value, text]) => element("option", { value }, text)));
  byId("title").textContent = `${page.name}: ${page.title}`;
  byId("subtitle").textContent = `${words(page.model)}, method ${page.method}`;
  byId("origin").textContent = [page.source, `tribosweep ${page.version}`, page.fingerprint && `fingerprint ${page.fingerprint.slice(0, 16)}`].filter(Boolean).join(" · ");
  byId("notes").replaceChildren(...[...page.notes, page.why].filter(Boolean).map((note) => element("li", {}, note)));
  const stored = (output) => (output.stored || !page.planes || !Object.keys(planes).length ? "" : " (computed in the page)");
  options(byId("output"), page.outputs.map((output) => [output.name, `${words(output.name)}${stored(output)}`]));
  for (const id of ["across", "upwards"]) options(byId(id), drawn.map((axis, d) => [d, words(axis.name)]));
  byId("settings").open = innerWidth > NARROW;
  options(byId("colours"), Object.keys(MAPS).map((name) => [name, name]));
  for (const id of ["map-room", "settings", "tools"]) byId(id).hidden = !drawn.length;
  fillFixed();
  byId("trace").hidden = byId("copy-trace").hidden = !page.command;
  byId("sentence").textContent = `Click the map to ${staff ? "compute" : "see the stored values of"} a point.`;
  byId("copy-toml").disabled = !page.toml || page.sample;
  figures(byId("parameters"), page.parameters.filter(({ value, neutral }) => value !== null && !neutral).map(({ name, value, unit, meaning, derived }) =>
    [words(name), ...(value === "nan" && derived ? [derived, unitText(unit)] : row(name, unit, number(value)).slice(1)), meaning]), ["parameter", "value", "unit", "meaning"]);
}

// Whether one of several values of an output is shown at a time.
const hasValueSlider = () => innerCount(outputNow()) > 1 && drawn.length > 0 && (page.sample || isMap() || (kindNow() === "lines" && state.y >= 0));

// A slider for each axis that is not drawn, and for the values of an output that has several.
function sliders() {
  const output = outputNow();
  const shown = [];
  if (!page.sample) axes.forEach((axis, d) => {
    if (d === state.x || d === state.y || axis.values.length < 2 || (axis.behind && !staff)) return;
    const text = (k) => Object.entries(axis.columns).map(([name, values]) => (name === axis.name ? "" : `${words(name)} `) + quantity(name, page.parameters.find((each) => each.name === name)?.unit ?? axis.unit, values[k])).join(", ") || quantity(axis.name, axis.unit, axis.values[k]);
    shown.push([axis.behind ? `computed at ${words(axis.name)}` : words(axis.name), axis.values.length, text, state.at[d], (k) => (state.at[d] = k)]);
  });
  const n = output ? innerCount(output) : 1;
  if (hasValueSlider())
    shown.push([output.inner.length > 1 || isNumbered(output) ? "value" : words(output.inner[0].name), n, (k) => innerLabel(output, k), state.inner, (k) => (state.inner = k)]);
  const room = byId("sliders");
  const kind = JSON.stringify(shown.map(([label, length]) => [label, length]));
  if (room.dataset.shown !== kind || !room.children.length) {
    room.dataset.shown = kind;
    room.replaceChildren(...shown.map(([label, length], row) => {
      const input = element("input", { type: "range", min: 0, max: length - 1 });
      input.addEventListener("input", () => {
        room.shown[row][4](Number(input.value));
        refresh(20, true);
      });
      input.addEventListener("change", () => state.point && select(pointAgain()));
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
  const output = outputNow();
  if (!output) return;
  const kind = kindNow();
  const options = (select, entries) => select.replaceChildren(...entries.map(([value, text]) => element("option", { value }, text)));
  options(byId("picture"), kinds(output).map((each) => [each, PICTURES[each]]));
  for (const [id, value] of Object.entries({ output: state.output, picture: kind, across: state.x, upwards: state.y, colours: state.scale.map })) byId(id).value = value;
  byId("picture").parentElement.hidden = kinds(output).length < 2;
  byId("across").parentElement.hidden = drawn.length < 2;
  byId("upwards").parentElement.hidden = state.y < 0 || drawn.length < 2;
  byId("across-word").textContent = kind === "years" ? "Lines" : "Across";
  byId("upwards-word").textContent = kind === "lines" ? "Lines" : "Upwards";
  for (const [id, d] of [["across-unit", state.x], ["upwards-unit", state.y]])
    if (d >= 0) fillUnits(byId(id), axes[d].name, axes[d].unit, axes[d].values);
  byId("reversed").checked = state.scale.reversed;
  byId("borders").checked = state.borders;
  byId("digits").checked = state.digits;
  for (const id of ["colours", "reversed"]) byId(id).parentElement.hidden = kind !== "map" && !page.sample;
  byId("borders-label").hidden = (!flagNow() && !page.borders.length) || kind !== "map";
  const meant = [[output.name, output.long_name], ...sides().map(({ name, meaning }) => [name, meaning])];
  byId("meaning").textContent = meant.filter(([, meaning]) => meaning).map(([name, meaning]) => `${words(name)}: ${meaning}`).join("; ");
  // While the picture is moved, scrolling is not: one finger moves a part, two zoom.
  byId("map").style.touchAction = state.window ? "none" : "pan-y";
}

// The scale that is drawn, in its unit.
function showScale({ log, factor, least, greatest }) {
  const { name, unit, kind } = outputNow();
  fillUnits(byId("output-unit"), name, kind === "real" ? unit : "", log ? [] : [least, greatest]);
  byId("log").checked = log;
  for (const id of ["least", "greatest"]) {
    const field = byId(id);
    field.dataset.factor = factor;
    if (field !== document.activeElement) field.value = state.scale[id] === null ? "" : brief(state.scale[id] * factor, 12);
  }
}

function listen() {
  const on = (id, event, action) => byId(id).addEventListener(event, action);
  const chosen = (id, action) => on(id, "change", () => (action(byId(id)), refresh()));
  on("controls", "submit", (event) => event.preventDefault());
  chosen("output", ({ value }) => ((state.output = value), (state.inner = 0), (state.scale.least = state.scale.greatest = state.scale.log = null)));
  chosen("picture", ({ value }) => ((state.picture = value), (state.window = null)));
  const turn = (id, key, other) => chosen(id, ({ value }) => {
    if (Number(value) === state[other]) state[other] = state[key];
    state[key] = Number(value);
    state.window = null;
  });
  turn("across", "x", "y");
  turn("upwards", "y", "x");
  const unit = (id, name) => chosen(id, ({ value }) => {
    if (value) state.units[name()] = value;
    else delete state.units[name()];
    showAgain();
  });
  unit("output-unit", () => state.output);
  unit("across-unit", () => axes[state.x].name);
  unit("upwards-unit", () => axes[state.y].name);
  chosen("colours", ({ value }) => (state.scale.map = value));
  chosen("reversed", ({ checked }) => (state.scale.reversed = checked));
  chosen("log", ({ checked }) => (state.scale.log = checked));
  chosen("borders", ({ checked }) => (state.borders = checked));
  for (const id of ["least", "greatest"]) chosen(id, ({ value, dataset }) => {
    const limit = Number(value) / Number(dataset.factor);
    state.scale[id] = value.trim() === "" || !Number.isFinite(limit) ? null : Number(limit.toPrecision(12));
    byId(id).blur();
  });
  on("digits", "change", () => ((state.digits = byId("digits").checked), showAgain()));
  on("zoom-in", "click", () => zoom(0.5));
  on("zoom-out", "click", () => zoom(2));
  on("whole", "click", whole);
  on("all", "click", () => compute({ all: true }));
  on("cancel", "click", cancel);
  on("copy-trace", "click", () => told(copy(byId("trace").textContent), "command copied"));
  on("copy-at", "click", () => told(copy(byId("at").textContent), "point copied"));
  on("copy-set", "click", () => told(copy(setLine()), "values copied"));
  on("unchanged", "click", unchanged);
  on("copy-toml", "click", () => told(copy(windowFile()), "sweep file copied"));
  on("copy-link", "click", () => told(copy(location.href), "link copied"));
  on("save-png", "click", savePicture);
  on("save-csv", "click", saveTable);
  listenToPicture();
  const again = () => (draw(), motion.redraw());
  window.addEventListener("resize", again);
  window.addEventListener("hashchange", () => {
    if (location.hash === written) return;
    readFragment();
    refresh();
    if (state.point) select(state.point);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
}

listen();
begin().catch((error) => say(`This page cannot be shown: ${error.message}`));
