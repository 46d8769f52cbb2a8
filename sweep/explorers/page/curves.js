// Curves over one axis, and dots: a line for each value of a second axis or of an output that has several.
"use strict";

const MAX_LINES = 12; // curves in a picture

// The curves of a grid: { label, colour, x (places), y (values), status, i, j } each; `dots` where no line joins them.
function curvesOf(kind, grid, output) {
  if (kind === "dots") return [samplePoints(grid, output)];
  if (kind === "years") return yearCurves(grid, output);
  const x = axes[state.x];
  const places = Float64Array.from(grid.x.values, (value) => x.place(value));
  const indices = Array.from(places.keys());
  const curve = (j, inner, label) => ({ label, x: places, y: indices.map((i) => grid.at(output.name, i, j, inner)),
    status: indices.map((i) => grid.statusAt(i, j)), i: indices, j: indices.map(() => j), dots: kind === "values" });
  if (kind === "lines" && state.y >= 0)
    return evenly(grid.y.values.length, MAX_LINES).map((j) => curve(j, state.inner, labelAt(state.y, grid.y, j)));
  const n = innerCount(output);
  const shown = kind === "values" ? Array.from({ length: n }, (_, k) => k) : evenly(n, MAX_LINES);
  return shown.map((inner) => curve(0, inner, n > 1 ? innerLabel(output, inner) : ""));
}

// What the curves differ in: "friction", "base acceleration [m/s²]".
function legendTitle(kind, output) {
  const d = kind === "years" ? state.x : state.y;
  if (d < 0) return words(output.inner[0]?.name ?? output.name);
  return Object.keys(axes[d].columns).length < 2 ? shownSide(axes[d]).label : words(axes[d].name);
}

// The value of an axis as the label of a curve, in the unit of its title.
function labelAt(d, side, k) {
  const axis = axes[d];
  const own = Object.keys(axis.columns);
  if (own.length < 2) return pretty(brief(side.values[k] * shownSide(axis).factor, 4));
  const index = side.indices ? side.indices[k] : k;
  return own.map((name) => `${words(name)} ${brief(axis.columns[name][index], 4)}`).join(", ");
}

// Wear: the curves of some points over the years.
function yearCurves(grid, output) {
  const years = output.inner[0].values;
  const n = state.x < 0 ? 1 : grid.x.values.length;
  return evenly(n, MAX_LINES).map((i) => ({
    label: state.x < 0 ? "" : labelAt(state.x, grid.x, i), x: years, y: years.map((_, k) => grid.at(output.name, i, 0, k)),
    status: years.map(() => grid.statusAt(i, 0)), i: years.map(() => i), j: years.map(() => 0) }));
}

function samplePoints(grid, output) {
  const [x, y] = [axes[state.x], state.y < 0 ? null : axes[state.y]].map((axis) => axis && Array.from(sample.columns[axis.name], (value) => axis.place(value)));
  const values = x.map((_, i) => grid.at(output.name, i, 0, state.inner));
  return { label: "", dots: true, coloured: Boolean(y), x, y: y ?? values, values, i: x.map((_, i) => i), j: x.map(() => 0),
    status: values.map((value, i) => (value === value ? grid.statusAt(i, 0) : grid.statusAt(i, 0) || 1)) };
}

// The point of a curve that is nearest to a place of the picture: { curve, k }, and its distance in pixels.
function nearestOnCurves(place) {
  let best = { distance: Infinity };
  const [px, py] = [map.toX(place.x), map.toY(place.y)];
  for (const curve of map.view.curves) {
    for (let k = 0; k < curve.x.length; k++) {
      const y = map.toY(placeOfValue(curve, k));
      // Along a line the place decides, and the height tells lines apart.
      const distance = Math.hypot((map.toX(curve.x[k]) - px) * (curve.dots ? 1 : 8), Number.isFinite(y) ? y - py : 1e4);
      if (distance < best.distance) best = { curve, k, distance };
    }
  }
  return best.curve ? best : null;
}
const placeOfValue = (curve, k) => (curve.coloured ? curve.y[k] : map.view.y.place(curve.y[k]));

function drawCurves(view, { curves, y, paint }) {
  const c = view.context;
  const size = clamp(4 - Math.log10(curves.reduce((n, { x }) => n + x.length, 1)) / 2, 1.4, 3);
  if (curves.length === 1 && !curves[0].coloured) hatchMissing(view, curves[0]);
  for (const curve of curves) {
    c.strokeStyle = c.fillStyle = curve.colour;
    c.lineWidth = 1.8;
    c.beginPath();
    let isDown = false;
    const isShort = curve.dots || curve.x.length <= 64;
    for (let k = 0; k < curve.x.length; k++) {
      const [px, py] = [view.toX(curve.x[k]), view.toY(curve.coloured ? curve.y[k] : y.place(curve.y[k]))];
      if (curve.coloured && curve.status[k] && curve.status[k] !== 255) (c.strokeStyle = view.colours.faint, c.strokeRect(px - 2, py - 2, 4, 4));
      if (!Number.isFinite(py) || curve.status[k]) {
        isDown = false;
        continue;
      }
      if (curve.coloured) (c.fillStyle = css(paint(curve.values[k])), c.fillRect(px - 2, py - 2, 4, 4));
      else if (isShort) c.fillRect(px - size / 2, py - size / 2, size, size);
      if (curve.dots) continue;
      const before = k && isDown, after = k + 1 < curve.x.length && Number.isFinite(view.toY(y.place(curve.y[k + 1])));
      if (!before && !after) c.fillRect(px - 1.5, py - 1.5, 3, 3);
      isDown ? c.lineTo(px, py) : c.moveTo(px, py);
      isDown = true;
    }
    c.stroke();
  }
}

// Behind one line: stripes where it has no value.
function hatchMissing(view, { x, status }) {
  const c = view.context;
  const half = x.length > 1 ? Math.max(Math.abs(view.toX(x[1]) - view.toX(x[0])) / 2, 1) : 3;
  c.fillStyle = view.colours.faint;
  x.forEach((place, k) => {
    if (!(status[k] % 255)) return;
    for (let py = view.frame.top; py < view.frame.bottom; py += 8) c.fillRect(view.toX(place) - half, py, 2 * half, 3);
  });
}
