// Borders between the classes of a flag, as smooth lines between the points of a grid.
"use strict";

const MAX_PASSES = 200; // that smooth a border
const [TOWARDS, AWAY] = [0.5, -0.51];
const MAX_MOVES = 400_000; // of all places together

// Lines of [x, y] in indices of a grid of nx times ny classes (below 0: unknown). A border crosses
// the edge between two neighbouring points where their classes differ. It begins in the middle of
// these edges and is smoothed along them, so that each point stays on its side.
function classBorders(classes, nx, ny) {
  const differs = (a, b) => classes[a] >= 0 && classes[b] >= 0 && classes[a] !== classes[b];
  const nodes = new Map(); // by edge: 2 * point + (1 if it leads upwards)
  const link = (a, b) => {
    if (a === null || b === null) return;
    node(a).next.push(b);
    node(b).next.push(a);
  };
  const node = (edge) => {
    if (!nodes.has(edge)) {
      const [point, isUp] = [edge >> 1, edge & 1];
      const [i, j] = [Math.floor(point / ny), point % ny];
      nodes.set(edge, { edge, isUp, i, j, next: [] });
    }
    return nodes.get(edge);
  };
  for (let i = 0; i < nx - 1; i++) {
    for (let j = 0; j < ny - 1; j++) {
      const [a, b, c, d] = [i * ny + j, (i + 1) * ny + j, i * ny + j + 1, (i + 1) * ny + j + 1];
      if (classes[a] === classes[b] && classes[a] === classes[c] && classes[a] === classes[d]) continue;
      const crossed = [[2 * a, a, b], [2 * b + 1, b, d], [2 * c, c, d], [2 * a + 1, a, c]].map(([edge, p, q]) => (differs(p, q) ? edge : null));
      const there = crossed.filter((edge) => edge !== null);
      if (there.length === 2) link(...there);
      else if (there.length === 4) (link(crossed[0], crossed[1]), link(crossed[2], crossed[3]));
      else if (there.length === 3) (link(there[0], there[1]), link(there[1], there[2]));
    }
  }
  const lines = chains(nodes);
  const passes = clamp(Math.floor(MAX_MOVES / nodes.size), 8, MAX_PASSES);
  return lines.map((line) => smooth(line, passes));
}
const position = ({ isUp, i, j }) => (isUp ? [i, j + 0.5] : [i + 0.5, j]);

function chains(nodes) {
  const left = new Set(nodes.values());
  const lines = [];
  const follow = (first) => {
    const line = [first];
    left.delete(first);
    for (let here = first; here; ) {
      here = here.next.map((edge) => nodes.get(edge)).find((each) => left.has(each));
      if (here) (left.delete(here), line.push(here));
    }
    const closes = line.length > 2 && line.at(-1).next.includes(first.edge);
    if (closes) line.push(first);
    lines.push(line);
  };
  for (const each of nodes.values()) if (left.has(each) && each.next.length !== 2) follow(each);
  for (const each of nodes.values()) if (left.has(each)) follow(each);
  return lines.filter((line) => line.length > 1);
}

// Each place moves along its edge towards the straight line between its neighbours, then a little
// more away from it, again and again: this smooths steps and shrinks no curve (Taubin 1995, "A
// signal processing approach to fair surface design").
function smooth(line, passes) {
  const n = line.length;
  const isClosed = line[0] === line[n - 1];
  const [x, y] = [0, 1].map((side) => Float64Array.from(line, (node) => position(node)[side]));
  const isUp = Uint8Array.from(line, (node) => node.isUp);
  const start = Float64Array.from(line, ({ isUp, i, j }) => (isUp ? j : i));
  const moved = new Float64Array(n);
  const [first, last] = isClosed ? [0, n - 1] : [1, n - 1];
  for (let pass = 0; pass < passes; pass++) {
    const rate = pass % 2 ? AWAY : TOWARDS;
    for (let k = first; k < last; k++) {
      const before = k ? k - 1 : n - 2, after = k + 1;
      const along = isUp[k] ? y : x, across = isUp[k] ? x : y;
      const width = across[after] - across[before];
      const share = Math.abs(width) > 1e-9 ? clamp((across[k] - across[before]) / width, 0, 1) : 0.5;
      moved[k] = along[k] + rate * (along[before] + share * (along[after] - along[before]) - along[k]);
    }
    for (let k = first; k < last; k++) (isUp[k] ? y : x)[k] = clamp(moved[k], start[k] + 0.02, start[k] + 0.98);
    if (isClosed) [x[n - 1], y[n - 1]] = [x[0], y[0]];
  }
  return line.map((_, k) => [x[k], y[k]]);
}
