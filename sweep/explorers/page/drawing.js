// The map with its scale, legend and state in words.
"use strict";

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

// Borders over both sides of the map, where the other axes have the indices in `at`.
function theory() {
  const isHere = (i, d) => (i === null ? d === state.x || d === state.y : i === state.at[d]);
  const shown = state.borders ? page.borders.filter(({ at }) => at.every(isHere)) : [];
  const labels = [...new Set(page.borders.map(({ label }) => label))];
  return shown.map((border) => ({ ...border, dash: BORDER_DASHES[labels.indexOf(border.label) % 3],
    lines: state.x < state.y ? border.lines : border.lines.map((line) => line.map(([x, y]) => [y, x])) }));
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
