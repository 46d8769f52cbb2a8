// The picture with its scale, legend and state in words.
"use strict";

function draw() {
  const output = outputNow();
  if (!output || !drawn.length) return sayState([]);
  map.resize();
  const grids = gridsNow();
  const kind = kindNow();
  const curves = kind === "map" ? null : curvesOf(kind, grids.at(-1) ?? NO_GRID, output);
  const scale = scaleOf(curves ? curves.flatMap(({ values, y }) => Array.from(values ?? y)) : mapValues(output, grids), state.scale);
  const unit = scale.log && !state.units[output.name] ? unitChoices(output.unit)[0] : unitOf(output.name, output.unit, [scale.least, scale.greatest]);
  Object.assign(scale, { unit, factor: unit.factor, label: inBrackets(words(output.name), unit.text) });
  curves?.forEach((curve, k) => (curve.colour = kind === "values" ? lineColour(0) : lineColour(k, curves.length)));
  const isOver = (d) => (d < 0 ? null : shownSide(axes[d]));
  const view = { kind, output, grids, curves, scale, inner: state.inner, paint: painter(scale, output), theory: [],
    x: isOver(state.x), y: isOver(state.y), flag: kind === "map" && state.borders ? flagNow()?.name : null,
    window: { x: state.x < 0 ? [0, 1] : span(state.x, state.window?.x), y: state.y < 0 ? null : span(state.y, state.window?.y) } };
  if (kind === "years") Object.assign(view, yearSide(output));
  if (kind === "map") view.theory = theory();
  else if (!curves[0]?.coloured) {
    const [a, b] = [scale.place(scale.least), scale.place(scale.greatest)];
    view.y = { ...scale, ticks: output.flags.length ? output.flags.map((name, value) => ({ value, text: words(name) })) : undefined };
    view.window.y = [a - 0.04 * (b - a), b + 0.04 * (b - a)];
  }
  map.view = view;
  view.selection = selectionPlace();
  map.show(view);
  showTip();
  byId("caption").textContent = scale.label + (innerCount(output) > 1 && ["map", "lines"].includes(kind) && hasValueSlider() ? `, ${innerLabel(output, state.inner)}` : "");
  drawBar(scale, output, kind === "map" || Boolean(curves[0]?.coloured));
  drawLegend(output, grids, view);
  showScale(scale);
  sayState(grids);
}
const NO_GRID = { x: { values: [] }, y: { values: [] }, at: () => NaN, statusAt: () => 255, has: () => false, exact: false };

// An axis in a unit in which its values are easy to read.
function shownSide(axis) {
  const { text, factor } = unitOf(axis.name, axis.unit, axis.values);
  return Object.assign(Object.create(axis), { factor, label: inBrackets(words(axis.name), text) });
}
function yearSide(output) {
  const [first, last] = ends([output.inner[0].values]);
  return { x: { ...plain, label: "time in service [years]" }, window: { x: [Math.min(0, first), last + 0.02 * (last - first)] } };
}

// The values that colour a map: of its last grid where that covers it.
function mapValues(output, grids) {
  const own = grids.length > 1 && grids.at(-1).complete && state.window ? grids.slice(-1) : grids;
  const size = ({ x, y }) => x.values.length * y.values.length;
  const values = new Float64Array(own.reduce((n, grid) => n + size(grid), 0));
  let k = 0;
  for (const grid of own)
    for (let i = 0; i < grid.x.values.length; i++)
      for (let j = 0; j < grid.y.values.length; j++) values[k++] = grid.at(output.name, i, j, state.inner);
  return values;
}

// Borders over both sides of the map, where the other axes have the indices in `at`. They are those of the stored parameters.
function theory() {
  const isHere = (i, d) => (i === null ? d === state.x || d === state.y : i === state.at[d]);
  const shown = state.borders && !isChanged() ? page.borders.filter(({ at }) => at.every(isHere)) : [];
  const labels = [...new Set(page.borders.map(({ label }) => label))];
  return shown.map((border) => ({ ...border, dash: BORDER_DASHES[labels.indexOf(border.label) % 3],
    lines: state.x < state.y ? border.lines : border.lines.map((line) => line.map(([x, y]) => [y, x])) }));
}

function drawBar(scale, output, isColoured) {
  byId("bar").hidden = output.kind === "flag" || !isColoured;
  if (byId("bar").hidden) return;
  const canvas = byId("scale");
  canvas.width = 256;
  const c = canvas.getContext("2d");
  const place = [scale.place(scale.least), scale.place(scale.greatest)];
  const paint = painter(scale, output);
  for (let i = 0; i < 256; i++) {
    c.fillStyle = css(paint(scale.value(place[0] + (i / 255) * (place[1] - place[0]))));
    c.fillRect(i, 0, 1, 12);
  }
  byId("bar-least").textContent = pretty(brief(scale.least * scale.factor, 4));
  byId("bar-greatest").textContent = `${pretty(brief(scale.greatest * scale.factor, 4))} ${scale.unit.text}`;
}

function drawLegend(output, grids, view) {
  const swatch = (draw, text) => {
    const canvas = element("canvas", { width: 18, height: 12, "aria-hidden": "true" });
    draw(canvas.getContext("2d"));
    return element("li", {}, canvas, text);
  };
  const filled = (colour) => (c) => ((c.fillStyle = colour), c.fillRect(0, 0, 18, 12));
  const stroke = (colour, dash) => (c) => ((c.strokeStyle = colour), (c.lineWidth = 2), c.setLineDash(dash), c.moveTo(0, 6), c.lineTo(18, 6), c.stroke());
  const rows = [];
  if (output.kind === "flag" && view.kind === "map") rows.push(...output.flags.map((name, code) => swatch(filled(css(classPixel(code, output.flags.length))), words(name))));
  if (view.curves?.length > 1 && view.kind !== "values")
    rows.push(element("li", {}, `${legendTitle(view.kind, output)}:`), ...view.curves.map(({ label, colour }) => swatch(stroke(colour, []), label)));
  const all = view.kind === "years" && state.x >= 0 ? axes[state.x].values.length : view.kind === "lines" && state.y >= 0 ? axes[state.y].values.length : innerCount(output);
  if (view.curves && ["lines", "years"].includes(view.kind) && view.curves.length < all) rows.push(element("li", {}, `${view.curves.length} of ${all.toLocaleString("en")} values drawn`));
  const flag = flagNow();
  if (view.flag && grids.some((grid) => grid.has(flag.name))) rows.push(swatch((c) => (filled("#202020")(c), (c.fillStyle = "#fff"), c.fillRect(0, 5, 18, 2)), `borders of ${words(flag.name)}, computed`));
  for (const { label, dash } of view.theory) rows.push(swatch(stroke(page.colours.theory, dash), `theory: ${label}`));
  const seen = new Set();
  for (const grid of grids) {
    const [n, m] = page.sample ? [sample.n, 1] : [grid.x.values.length, grid.y.values.length];
    for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) seen.add(grid.statusAt(i, j));
  }
  for (const code of seen) if (code && code !== 255) {
    const [name, sentence] = page.sentences[code] ?? [`status ${code}`, ""];
    const stripes = (c) => { filled("#e6e6e6")(c); c.fillStyle = "#606060"; for (let k = 0; k < 18; k += 6) c.fillRect(k, 0, 2, 12); };
    rows.push(swatch(stripes, words(name)));
    rows.at(-1).title = sentence;
  }
  byId("legend").replaceChildren(...rows);
}

const say = (text) => (byId("state").textContent = text);
function sayState(grids) {
  const total = page.dimensions.map(({ size }) => size.toLocaleString("en")).join(" × ");
  const size = (grid) => page.sample ? `${sample.n.toLocaleString("en")} of ${total} points`
    : `${grid.x.values.length.toLocaleString("en")}${state.y < 0 ? "" : ` × ${grid.y.values.length.toLocaleString("en")}`} points`;
  const shown = grids.at(-1);
  byId("all").hidden = !drawn.length || !canCompute(outputNow()) || page.sample || computed?.all && computed.key === viewKey() || sidesProduct() > MOST_AT_ONCE;
  if (task) return say(`Computing ${size(task)} …`);
  if (!shown) return say(staff ? "" : page.why);
  if (computed?.key === viewKey() && shown.exact) {
    const how = computed.all || !state.window ? "computed in the page" : "recomputed";
    const stopped = computed.complete === false ? ", cancelled" : "";
    return say(`${how}, ${size(computed)}, same bits as sweep run${stopped} (${(computed.milliseconds / 1000).toFixed(2)} s)`);
  }
  if (page.sample) return say(size());
  if (shown.exact) return say("a coarse picture");
  const rounded = isRough() ? ", rounded to 0.4 %" : "";
  const there = preview.slice(state.x, state.y, state.at).there ? "" : ", at the stored values nearest to the sliders";
  say(preview.whole ? `the stored map, ${total} points${rounded}` :
    `a preview of the stored map: ${page.preview.points.toLocaleString("en")} of ${total} points${rounded}${there}`);
}
const sidesProduct = () => {
  const { x, y } = sidesNow();
  return x.values.length * y.values.length;
};
