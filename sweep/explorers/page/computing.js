// Workers, one for each core, that compute rectangles of a grid; and one more for single points.
"use strict";

const JOB_MILLISECONDS = 40; // how long one rectangle should take
const PATIENCE = 400; // milliseconds before a worker that does not answer after a cancel is replaced

class Staff {
  constructor(source, modules, table) {
    this.url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.begin = { kind: "begin", modules, table };
    this.size = navigator.hardwareConcurrency || 2;
    this.workers = [];
    this.points = 64; // of the next rectangle
    this.current = null;
    this.single = this.hire();
  }
  hire() {
    const worker = new Worker(this.url);
    const waiting = new Map();
    worker.onmessage = ({ data }) => {
      const answer = waiting.get(data.id);
      waiting.delete(data.id);
      if (answer) data.error ? answer.reject(Error(data.error)) : answer.resolve(data);
    };
    worker.onerror = (event) => {
      for (const answer of waiting.values()) answer.reject(Error(event.message || "a worker failed"));
    };
    let id = 0;
    const ask = (message) =>
      new Promise((resolve, reject) => {
        waiting.set(++id, { resolve, reject });
        worker.postMessage({ ...message, id });
      });
    const dismiss = () => {
      worker.terminate();
      for (const answer of waiting.values()) answer.reject(Error("cancelled"));
    };
    return { ask, dismiss, ready: ask(this.begin) };
  }

  // One point and its motion, on a worker of its own. A later request replaces one that still runs.
  async point(parameters, samples) {
    if (this.busy) {
      this.single.dismiss();
      this.single = null;
    }
    this.single ??= this.hire();
    this.busy = true;
    const mine = this.single;
    try {
      await mine.ready;
      return await mine.ask({ kind: "point", parameters, samples });
    } finally {
      if (mine === this.single) this.busy = false;
    }
  }

  cancel() {
    if (!this.current) return;
    this.current.cancelled = true;
    this.current = null;
    for (const worker of this.workers.filter((each) => each.busy)) {
      worker.leaving = setTimeout(() => {
        worker.dismiss();
        this.workers = this.workers.filter((each) => each !== worker);
      }, PATIENCE);
    }
  }

  // Computes columns(i0, i1, j0, j1) over a grid of nx times ny points, rectangle by rectangle. Calls
  // arrived(rectangle, answer) for each, and resolves to whether all were computed.
  async grid(nx, ny, columns, arrived) {
    this.cancel();
    const run = (this.current = { cancelled: false });
    let [column, row] = [0, 0]; // where the next rectangle begins
    const next = () => {
      if (run.cancelled || column >= nx) return null;
      if (row || this.points < ny) {
        const rectangle = [column, column + 1, row, Math.min(row + this.points, ny)];
        row = rectangle[3] % ny;
        if (!row) column++;
        return rectangle;
      }
      const rectangle = [column, Math.min(column + Math.floor(this.points / ny), nx), 0, ny];
      column = rectangle[1];
      return rectangle;
    };
    const work = async (worker) => {
      await worker.ready;
      for (let rectangle = next(); rectangle; rectangle = next()) {
        const [i0, i1, j0, j1] = rectangle;
        const n = (i1 - i0) * (j1 - j0);
        worker.busy = true;
        const began = performance.now();
        const answer = await worker.ask({ kind: "rectangle", columns: columns(i0, i1, j0, j1), n });
        worker.busy = false;
        clearTimeout(worker.leaving);
        const pace = JOB_MILLISECONDS / Math.max(performance.now() - began, 1);
        this.points = clamp(Math.round(n * clamp(pace, 0.25, 4)), 1, Math.ceil((nx * ny) / this.size));
        if (!run.cancelled) arrived(rectangle, answer);
      }
    };
    while (this.workers.length < Math.min(this.size, nx * ny)) this.workers.push(this.hire());
    try {
      await Promise.all(this.workers.map(work));
    } catch (error) {
      if (!run.cancelled) throw error;
    }
    const done = !run.cancelled;
    if (this.current === run) this.current = null;
    return done;
  }
}

// A rectangle of points with x slow and y fast, as in the arrays of `sweep run` over axes x, y.
class Grid {
  constructor(x, y, outputs, whole) {
    [this.x, this.y, this.whole] = [x, y, whole];
    this.n = x.values.length * y.values.length;
    this.status = new Uint8Array(this.n).fill(255);
    this.values = Object.fromEntries(
      outputs.map(({ name, kind }) => [name, new ARRAY_OF[kind](this.n).fill(kind === "real" ? NaN : 0)]));
    this.done = 0;
  }
  put([i0, i1, j0, j1], answer, outputs) {
    const [ny, rows] = [this.y.values.length, j1 - j0];
    for (let i = i0; i < i1; i++) {
      const [from, to] = [(i - i0) * rows, i * ny + j0];
      this.status.set(answer.status.subarray(from, from + rows), to);
      outputs.forEach(({ name }, k) => this.values[name].set(answer.outputs[k].subarray(from, from + rows), to));
    }
    this.done += (i1 - i0) * rows;
  }
  at(name, i, j) {
    const place = i * this.y.values.length + j;
    return this.status[place] === 0 ? this.values[name][place] : NaN;
  }
  statusAt(i, j) {
    return this.status[i * this.y.values.length + j];
  }
  get exact() {
    return true;
  }
}
const ARRAY_OF = { real: Float64Array, count: Int32Array, flag: Uint8Array };

// The stored map: thinned and rounded unless the page says otherwise.
class Preview {
  constructor(preview, planes, axes) {
    Object.assign(this, { preview, planes, axes });
    this.sizes = preview.kept.map((kept) => kept.length);
    this.whole = preview.whole;
  }
  // The part over dimensions x and y, at the kept indices that are nearest to those of the others.
  slice(x, y, at) {
    const places = this.preview.kept.map((kept, d) => nearest({ place: (v) => v }, kept, at[d]));
    const strides = this.sizes.map((_, d) => this.sizes.slice(d + 1).reduce((a, b) => a * b, 1));
    const size = this.sizes.reduce((a, b) => a * b, 1);
    const base = places.reduce((sum, place, d) => sum + (d === x || d === y ? 0 : place * strides[d]), 0);
    const side = (d) => d < 0 ? { values: Float64Array.of(0) } : {
      values: Float64Array.from(this.preview.kept[d], (i) => this.axes[d].values[i]),
      indices: this.preview.kept[d],
    };
    const place = (i, j) => base + i * (strides[x] ?? 0) + (y < 0 ? 0 : j * strides[y]);
    const statusAt = (i, j) => (this.preview.status ? this.preview.status[place(i, j)] : 0);
    return {
      x: side(x),
      y: side(y),
      exact: false,
      whole: this.whole,
      there: places.every((k, d) => d === x || d === y || this.preview.kept[d][k] === at[d]),
      has: (name) => name in this.planes,
      at: (name, i, j, inner = 0) => this.planes[name]?.[inner * size + place(i, j)] ?? NaN,
      statusAt,
    };
  }
}
