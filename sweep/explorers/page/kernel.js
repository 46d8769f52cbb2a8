// A kernel as WebAssembly: the structs of block_cpu.h, entry_trace.h and entry_trace_items.h, in which
// int64 has 8 bytes and a pointer 4. Used inside workers.
"use strict";

const BYTES = { real: 8, count: 4, flag: 1 };
const ARRAYS = { real: Float64Array, count: Int32Array, flag: Uint8Array };
const MAX_TABLES = 1 << 26; // bytes of the realisations of signals by draw, unless one point needs more
const MAX_STATES = 1 << 23; // items times moments that a trace may have here

// Whether relaxed SIMD's multiply-add rounds once: (1 + e)^2 - (1 + 2e) is e^2 then, and otherwise 0.
function fuses(exports) {
  return [2 ** -27, 2 ** -28, 2 ** -30].every(
    (e) => exports.tribosweep_fma(1 + e, 1 + e, -(1 + 2 * e)) === e * e);
}

// The relaxed module where the engine has it and it fuses, otherwise the plain one.
function instantiate(modules) {
  for (const bytes of [modules.relaxed, modules.plain]) {
    try {
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
      if (bytes === modules.plain || (fuses(exports) && !modules.forcePlain)) return exports;
    } catch (error) {
      if (bytes === modules.plain) throw error;
    }
  }
}

class Kernel {
  constructor(modules, table) {
    this.exports = instantiate(modules);
    this.table = table;
    this.first = this.exports.__heap_base.value;
    this.free();
  }
  free() {
    this.top = (this.first + 15) & ~15;
  }
  block(size) {
    const address = this.top;
    this.top = (address + size + 15) & ~15;
    const missing = this.top - this.exports.memory.buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / 65536));
    return address;
  }
  zeros(size) {
    const address = this.block(size);
    new Uint8Array(this.exports.memory.buffer, address, size).fill(0);
    return address;
  }
  put(values) {
    const address = this.block(8 * values.length);
    new Float64Array(this.exports.memory.buffer, address, values.length).set(values);
    return address;
  }
  view() {
    return new DataView(this.exports.memory.buffer);
  }
  int64(at, value) {
    this.view().setBigInt64(at, BigInt(value), true);
  }
  pointer(at, value) {
    this.view().setUint32(at, value, true);
  }
  number(at) {
    return Number(this.view().getBigInt64(at, true));
  }
  size(entry) {
    return Number(this.exports[`tribosweep_${entry}`]());
  }
  refuseLayout(entry, bytes) {
    if (this.size(entry) !== bytes) throw Error(`the kernel's ${entry} is ${this.size(entry)}, not ${bytes}`);
  }

  // The draws of n points for a signal, each once.
  draws(forcing, columns, n) {
    const { values, repeat } = columns[forcing.draw];
    const isDraw = (value) => Number.isInteger(value) && value >= 0 && value < 2 ** 32;
    return [...new Set(values.slice(0, Math.ceil(n / repeat)).filter(isDraw))];
  }

  // The columns, with one more for each signal by draw: the address of each point's realisation. The
  // tables of these are filled as forcing.h says.
  realised(columns, n) {
    const more = this.table.forcings.map((forcing) => {
      const draws = this.draws(forcing, columns, n);
      const tables = this.block(forcing.bytes * draws.length);
      this.refuseLayout("forcing_bytes", 88);
      const request = this.zeros(88);
      const { samples, harmonics, elements, signal, seed, normal } = forcing;
      [samples, harmonics, elements, draws.length, signal, seed, normal].forEach((value, i) =>
        this.int64(request + 8 + 8 * i, value));
      const factor = forcing.factor.length ? this.put(forcing.factor) : 0;
      [this.put(draws), this.put(forcing.amplitudes), factor, this.block(8 * samples), tables].forEach(
        (address, i) => this.pointer(request + 64 + 4 * i, address));
      this.exports.tribosweep_forcing(request);
      const addresses = new Map(draws.map((draw, i) => [draw, tables + i * forcing.bytes]));
      const { values, repeat } = columns[forcing.draw];
      return { values: Array.from(values, (value) => addresses.get(value) ?? 0), repeat };
    });
    return [...columns, ...more];
  }

  // The outputs of n points; a column's value at point i is values[floor(i / repeat) % length].
  compute(columns, n) {
    const bytes = this.table.forcings.reduce(
      (sum, forcing) => sum + forcing.bytes * this.draws(forcing, columns, n).length, 0);
    if (n === 1 || bytes <= MAX_TABLES) return this.computeAtOnce(columns, n);
    const [first, last] = [[0, n >> 1], [n >> 1, n]].map(([from, to]) => {
      const part = columns.map(({ values, repeat }) => ({ repeat: 1, values: Array.from(
        { length: to - from }, (_, i) => values[Math.floor((from + i) / repeat) % values.length]) }));
      return this.compute(part, to - from);
    });
    const joined = (a, b) => {
      const whole = new a.constructor(a.length + b.length);
      whole.set(a);
      whole.set(b, a.length);
      return whole;
    };
    return {
      status: joined(first.status, last.status),
      outputs: first.outputs.map((values, i) => joined(values, last.outputs[i])),
    };
  }

  computeAtOnce(given, n) {
    this.free();
    const columns = this.realised(given, n);
    const outputs = this.table.outputs;
    const bytes = (40 + 24 * columns.length + 4 * outputs.length + 7) & ~7;
    this.refuseLayout("request_bytes", bytes);
    const request = this.zeros(bytes);
    const state = this.block(this.size("state_bytes"));
    const status = this.block(n);
    const stored = outputs.map((output) => this.block(BYTES[output.kind] * n));
    this.int64(request + 8, n);
    this.pointer(request + 32, state);
    this.pointer(request + 36, status);
    columns.forEach(({ values, repeat }, i) => {
      const at = request + 40 + 24 * i;
      this.pointer(at, this.put(values));
      this.int64(at + 8, repeat);
      this.int64(at + 16, values.length);
    });
    stored.forEach((address, i) => this.pointer(request + 40 + 24 * columns.length + 4 * i, address));
    while (this.number(request) < n) {
      this.int64(request + 16, 1 << 30);
      this.exports.tribosweep_run(request);
    }
    const buffer = this.exports.memory.buffer;
    return {
      status: new Uint8Array(buffer, status, n).slice(),
      outputs: outputs.map(({ kind }, i) => new ARRAYS[kind](buffer, stored[i], n).slice()),
    };
  }

  // The parameters of a point in memory, with the addresses of its realisations.
  putPoint(parameters) {
    const columns = Array.from(parameters, (value) => ({ values: [value], repeat: 1 }));
    return this.put(this.realised(columns, 1).map(({ values }) => values[0]));
  }

  // Begin, first and last moment of a trace.
  span(parameters) {
    this.free();
    const times = this.zeros(24);
    this.exports.tribosweep_span(this.putPoint(parameters), times);
    return [...new Float64Array(this.exports.memory.buffer, times, 3)];
  }

  // The observables at times: a row each, whose first value is the time that is seen.
  trace(parameters, times, items) {
    this.free();
    if (items * times.length > MAX_STATES) throw Error(`${items} ${this.table.items} are too many to trace here`);
    const width = this.size("row_size");
    const rows = this.block(8 * width * times.length);
    new Float64Array(this.exports.memory.buffer, rows, width * times.length).fill(NaN);
    const point = this.putPoint(parameters);
    const trail = this.block(this.size("trail_bytes"));
    const room = 1000;
    const events = this.block(16 * room);
    new Float64Array(this.exports.memory.buffer, events, 2 * room).fill(NaN);
    let trace, budget, status;
    if (this.table.items) {
      this.refuseLayout("trace_bytes", 64);
      [trace, budget, status] = [this.zeros(64), 8, 24];
      const places = this.block(8 * items);
      const seen = this.block(8 * items * times.length * this.size("item_row_size"));
      const sums = this.zeros(times.length * this.size("sum_bytes"));
      this.int64(trace, times.length);
      [point, this.put(times), places, seen, rows, sums, trail].forEach((address, i) =>
        this.pointer(trace + 32 + 4 * i, address));
    } else {
      this.refuseLayout("trace_bytes", 72);
      [trace, budget, status] = [this.zeros(72), 16, 32];
      this.int64(trace + 8, times.length);
      [point, this.put(times), rows, trail, events].forEach((address, i) =>
        this.pointer(trace + 40 + 4 * i, address));
      this.int64(trace + 64, room);
    }
    this.int64(trace + status, -1);
    while (this.number(trace + status) < 0) {
      this.int64(trace + budget, 1 << 30);
      this.exports.tribosweep_trace(trace);
    }
    const seen = this.table.items ? times.length : this.number(trace + 8);
    const buffer = this.exports.memory.buffer;
    return {
      width,
      status: this.number(trace + status),
      rows: new Float64Array(buffer, rows, width * seen).slice(),
      events: new Float64Array(buffer, events, 2 * room).slice().filter((value) => value === value),
    };
  }
}
