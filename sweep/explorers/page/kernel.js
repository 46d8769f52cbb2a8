// A kernel as WebAssembly: the structs of block_cpu.h, entry_trace.h and entry_trace_items.h, in which
// int64 has 8 bytes and a pointer 4. Used inside workers.
"use strict";

const BYTES = { real: 8, count: 4, flag: 1 };
const ARRAYS = { real: Float64Array, count: Int32Array, flag: Uint8Array };
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

  // The outputs of n points; a column's value at point i is values[floor(i / repeat) % length].
  compute(columns, n) {
    this.free();
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

  // Begin, first and last moment of a trace.
  span(parameters) {
    this.free();
    const times = this.zeros(24);
    this.exports.tribosweep_span(this.put(parameters), times);
    return [...new Float64Array(this.exports.memory.buffer, times, 3)];
  }

  // The observables at times: a row each, whose first value is the time that is seen.
  trace(parameters, times, items) {
    this.free();
    if (items * times.length > MAX_STATES) throw Error(`${items} ${this.table.items} are too many to trace here`);
    const width = this.size("row_size");
    const rows = this.block(8 * width * times.length);
    new Float64Array(this.exports.memory.buffer, rows, width * times.length).fill(NaN);
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
      [this.put(parameters), this.put(times), places, seen, rows, sums, trail].forEach((address, i) =>
        this.pointer(trace + 32 + 4 * i, address));
    } else {
      this.refuseLayout("trace_bytes", 72);
      [trace, budget, status] = [this.zeros(72), 16, 32];
      this.int64(trace + 8, times.length);
      [this.put(parameters), this.put(times), rows, trail, events].forEach((address, i) =>
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
