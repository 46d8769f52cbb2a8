// The mouse, fingers and keys on the picture: select, zoom, move.
"use strict";

const TAP = 6; // pixels that a pointer may move between down and up
const pointers = new Map(); // that are down, by id: where they are
let drag = null; // of the mouse: the rectangle; of one finger: the last place
let pinch = null; // of two fingers: their places on both axes when it began

function listenToPicture() {
  const canvas = byId("map");
  const on = (event, action, options) => canvas.addEventListener(event, action, options);
  on("keydown", key);
  on("pointerdown", pressed);
  on("pointermove", moved);
  on("pointerup", released);
  on("pointercancel", (event) => {
    pointers.delete(event.pointerId);
    [drag, pinch] = [null, null];
    map.mark(selectionPlace(), null);
  });
  on("pointerleave", () => (byId("readout").textContent = "\u00a0"));
  on("wheel", (event) => {
    const place = map.view && map.places(event.offsetX, event.offsetY);
    if (!place?.inside || !canZoom()) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, place);
  }, { passive: false });
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

function pressed(event) {
  const [x, y] = [event.offsetX, event.offsetY];
  if (event.button || !map.places(x, y).inside) return;
  const touch = event.pointerType === "touch";
  pointers.set(event.pointerId, { x, y });
  byId("map").setPointerCapture(event.pointerId);
  if (pointers.size === 2 && touch && canZoom()) {
    drag = null;
    pinch = [...pointers.values()].map((each) => map.places(each.x, each.y));
  } else if (pointers.size === 1) drag = { x0: x, y0: y, x1: x, y1: y, touch, window: map.view.window, isMoved: false };
}

function moved(event) {
  if (!map.view) return;
  const [x, y] = [event.offsetX, event.offsetY];
  if (pointers.has(event.pointerId)) pointers.set(event.pointerId, { x, y });
  if (pinch && pointers.size === 2) return pinched();
  if (drag) {
    [drag.x1, drag.y1] = [x, y];
    drag.isMoved ||= Math.hypot(x - drag.x0, y - drag.y0) >= TAP;
    if (!drag.touch) return map.mark(selectionPlace(), drag);
    if (drag.isMoved && state.window) moveBy(drag);
    return;
  }
  const place = map.places(x, y);
  byId("readout").textContent = (place.inside && readout(place)) || "\u00a0";
}

// Two fingers hold the places that they have taken hold of.
function pinched() {
  const [p, q] = [...pointers.values()];
  const { left, right, top, bottom } = map.frame;
  const along = (a, b, u, v, first, last) => {
    if (Math.abs(v - u) < 8) return null; // too close to tell
    const rate = (b - a) / (v - u);
    return rate * (last - first) > 0 ? [a + rate * (first - u), a + rate * (last - u)] : null;
  };
  const x = along(pinch[0].x, pinch[1].x, p.x, q.x, left, right);
  const y = along(pinch[0].y, pinch[1].y, p.y, q.y, bottom, top);
  zoomTo(x ?? map.view.window.x, y ?? map.view.window.y);
}

// A finger moves a part of the picture, within the whole of it.
function moveBy({ x0, y0, x1, y1, window }) {
  const { left, right, top, bottom } = map.frame;
  const shifted = (d, [a, b], share) => {
    if (d < 0 || !isMap() && d === state.y) return window.y;
    const values = axes[d].values;
    const by = clamp(share * (b - a), axes[d].place(values[0]) - a, axes[d].place(values.at(-1)) - b);
    return [a + by, b + by];
  };
  zoomTo(shifted(state.x, window.x, -(x1 - x0) / (right - left)), shifted(state.y, window.y, (y1 - y0) / (bottom - top)));
}

function released(event) {
  pointers.delete(event.pointerId);
  if (pinch) {
    if (!pointers.size) pinch = null;
    return;
  }
  if (!drag) return;
  const { x0, y0, touch, isMoved } = drag;
  const [x1, y1] = [event.offsetX, event.offsetY];
  drag = null;
  const [a, b] = [map.places(x0, y0), map.places(x1, y1)];
  if (Math.hypot(x1 - x0, y1 - y0) < TAP && !isMoved) return select(pointAt(b));
  if (touch || !canZoom()) return map.mark(selectionPlace(), null);
  zoomTo([Math.min(a.x, b.x), Math.max(a.x, b.x)], [Math.min(a.y, b.y), Math.max(a.y, b.y)]);
}

// What is at a place of the picture, and at which point.
function readout(place) {
  const found = at(place);
  if (!found) return;
  const { grid, i, j, inner } = found;
  const points = page.sample ? axes.map(({ name, unit }) => [name, unit, sample.columns[name][i]])
    : [[state.x, grid.x, i], [state.y, grid.y, j]].filter(([d]) => d >= 0).map(([d, s, k]) => [axes[d].name, axes[d].unit, s.values[k]]);
  const where = points.map(([name, unit, value]) => `${words(name)} ${quantity(name, unit, value)}`);
  const output = outputNow();
  const inWhich = inner !== state.inner && output.inner.length ? ` (${innerLabel(output, inner)})` : "";
  return `${where.join(", ")}: ${found.status ? "" : `${words(output.name)}${inWhich} `}${textAt(found)}`;
}
function textAt({ grid, i, j, inner, status }) {
  const [output, flag] = [outputNow(), flagNow()];
  if (status) return (page.sentences[status] ?? [`status ${status}`]).filter(Boolean).map(words).join(": ");
  const regime = flag && flag !== output && grid.has(flag.name) ? `, ${shownValue(flag, grid.at(flag.name, i, j))}` : "";
  return `${shownValue(output, grid.at(output.name, i, j, inner), grid.exact)}${regime}`;
}

// The grid and the indices of what is drawn at a place; the nearest curve's.
function at(place) {
  const output = outputNow();
  if (!isMap()) {
    const found = nearestOnCurves(place);
    const grid = map.view.grids.at(-1);
    if (!found || !grid) return null;
    const [{ curve, k }, curves] = [found, map.view.curves];
    const inner = kindNow() === "years" ? k : state.y < 0 && !page.sample && curves.length > 1
      ? (kindNow() === "values" ? curves.indexOf(curve) : evenly(innerCount(output), MAX_LINES)[curves.indexOf(curve)]) : state.inner;
    return { grid, i: curve.i[k], j: curve.j[k], inner, status: grid.statusAt(curve.i[k], curve.j[k]) };
  }
  for (const grid of gridsNow().reverse()) {
    const [i, j] = [nearest(axes[state.x], grid.x.values, place.x), nearest(axes[state.y], grid.y.values, place.y)];
    const status = grid.statusAt(i, j);
    if (status !== 255) return { grid, i, j, inner: state.inner, status };
  }
}

const canZoom = () => drawn.length > 0 && kindNow() !== "years";

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
  const [wx, wy] = [inside(state.x, x), isMap() ? inside(state.y, y) : null];
  const full = (d) => (d < 0 ? null : [axes[d].values[0], axes[d].values.at(-1)]);
  const narrow = (d, w) => w && axes[d].place(w[1]) - axes[d].place(w[0]) < 1e-9 * Math.max(Math.abs(axes[d].place(w[1])), 1e-300);
  if (narrow(state.x, wx) || (wy && narrow(state.y, wy))) return say("Zoomed in as far as numbers can tell points apart.");
  state.window = wx || wy ? { x: wx ?? full(state.x), y: isMap() || page.sample ? wy ?? full(state.y) : null } : null;
  refresh(180);
}
function whole() {
  state.window = null;
  refresh();
}
function cancel() {
  if (staff) staff.cancel();
}
