// The link that brings back what is shown.
"use strict";

let written = "";
function writeFragment() {
  const parts = new URLSearchParams();
  if (state.output !== firstOutput()) parts.set("output", state.output);
  if (state.picture) parts.set("picture", state.picture);
  if (drawn.length) parts.set("across", axes[state.x].name);
  if (state.y >= 0) parts.set("upwards", axes[state.y].name);
  const { map: colours, reversed, log, least, greatest } = state.scale;
  if (colours !== "viridis") parts.set("colours", colours);
  if (reversed) parts.set("reversed", 1);
  if (log !== null) parts.set("log", Number(log));
  if (least !== null) parts.set("least", exact(least));
  if (greatest !== null) parts.set("greatest", exact(greatest));
  if (!state.borders) parts.set("borders", 0);
  if (state.inner) parts.set("value", state.inner);
  for (const [name, unit] of Object.entries(state.units)) parts.set(`unit.${name}`, unit);
  for (const [name, value] of Object.entries(state.fixed)) parts.set(`set.${name}`, exact(value));
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
  if (parts.get("picture") in PICTURES) state.picture = parts.get("picture");
  const [x, y] = ["across", "upwards"].map((side) => drawn.findIndex(({ name }) => name === parts.get(side)));
  if (x >= 0 && x !== y) [state.x, state.y] = [x, y];
  if (outputNow()) arrange();
  if (parts.get("colours") in MAPS) state.scale.map = parts.get("colours");
  state.scale.reversed = parts.get("reversed") === "1";
  state.scale.log = { 0: false, 1: true }[parts.get("log")] ?? null;
  [state.scale.least, state.scale.greatest] = [read("least"), read("greatest")];
  state.borders = parts.get("borders") !== "0";
  state.inner = clamp(Math.round(read("value") ?? 0), 0, innerCount(outputNow() ?? { inner: [] }) - 1);
  axes.forEach((axis, d) => {
    const index = read(`at.${axis.name}`);
    if (index !== null) state.at[d] = clamp(Math.round(index), 0, axis.values.length - 1);
  });
  const named = (start) => [...parts].filter(([name]) => name.startsWith(start)).map(([name, value]) => [name.slice(start.length), value]);
  state.units = Object.fromEntries(named("unit."));
  const canChange = (name) => staff && fixedParameters().some((each) => each.name === name);
  state.fixed = Object.fromEntries(named("set.").map(([name, value]) => [name, Number(value)]).filter(([name, value]) => canChange(name) && Number.isFinite(value)));
  const part = (side, d) => {
    const ends = (parts.get(`window.${side}`) ?? "").split(",").map(Number);
    return d >= 0 && ends.length === 2 && ends[0] < ends[1] && (!axes[d].log || ends[0] > 0) ? ends : null;
  };
  const window = { x: part("x", state.x), y: part("y", state.y) };
  state.window = window.x && (window.y || state.y < 0) ? window : null;
  const place = named("point.").map(([name, value]) => [name, Number(value)]);
  const known = (name) => axes.some((axis) => axis.name === name || name in axis.columns);
  if (place.length && place.every(([name, value]) => known(name) && !Number.isNaN(value))) state.point = Object.fromEntries(place);
}
