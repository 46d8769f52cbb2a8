// The contents of the page, and how numbers and names are written.
"use strict";

const byId = (id) => document.getElementById(id);
const words = (name) => name.replaceAll("_", " ");
const clamp = (value, least, greatest) => Math.min(Math.max(value, least), greatest);

// An element with attributes and children; text is always text, whatever it contains.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Six significant digits as Python's %.6g writes them.
function brief(value, digits = 6) {
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "inf").replace("NaN", "nan");
  if (value === 0) return "0";
  const [mantissa, power] = value.toExponential(digits - 1).split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= digits) {
    const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
    return `${short}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  const fixed = value.toFixed(Math.max(digits - 1 - exponent, 0));
  return fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed;
}

// A number that Python, TOML and the shell read back to the same bits.
function exact(value) {
  if (value === Infinity) return "inf";
  if (value === -Infinity) return "-inf";
  if (Number.isNaN(value)) return "nan";
  const text = String(value);
  if (!text.includes("e")) return text.includes(".") ? text : `${text}.0`;
  const [mantissa, power] = text.split("e");
  return `${mantissa.includes(".") ? mantissa : `${mantissa}.0`}e${power.replace("+", "")}`;
}

const number = (value) => (typeof value === "string" ? Number(value.replace("inf", "Infinity")) : value);

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Bytes that are stored plane by plane: all first bytes, all second bytes, ...
function unshuffled(bytes, size) {
  const n = bytes.length / size;
  const whole = new Uint8Array(bytes.length);
  for (let k = 0; k < size; k++) for (let i = 0; i < n; i++) whole[i * size + k] = bytes[k * n + i];
  return whole.buffer;
}

async function doubles(text) {
  return new Float64Array(unshuffled(await inflated(text), 8));
}

// A stored output: real ones as the leading 16 or all 32 bits of float32, differences along the rows.
async function plane(stored, kind, row, size) {
  const bytes = await inflated(stored);
  if (kind === "flag") return Float32Array.from(bytes, (code) => (code === 255 ? NaN : code));
  const codes = new (size === 2 ? Uint16Array : Uint32Array)(unshuffled(bytes, size));
  const values = new Uint32Array(codes.length);
  for (let i = 0, before = 0; i < codes.length; i++) {
    before = (codes[i] + (i % row ? before : 0)) & (size === 2 ? 0xffff : -1);
    values[i] = size === 2 ? before << 16 : before;
  }
  return new Float32Array(values.buffer);
}

// Whether the stored map is rounded to 0.4 %.
const isRough = () => page.preview?.bytes === 2;

// An axis of the map: values ascending, drawn where place(value) says; continuous ones can be zoomed into.
class Axis {
  constructor(dimension) {
    Object.assign(this, dimension);
    const v = this.values;
    const middle = v[v.length >> 1];
    const share = (v.length >> 1) / (v.length - 1);
    this.log = this.continuous && v[0] > 0 && v.length > 2 &&
      Math.abs(middle - v[0] * (v.at(-1) / v[0]) ** share) < Math.abs(middle - v[0] - share * (v.at(-1) - v[0]));
  }
  place(value) {
    return this.log ? Math.log(value) : value;
  }
  value(place) {
    return this.log ? Math.exp(place) : place;
  }
  // n values from first to last, as numpy.linspace makes them where the axis is linear.
  spaced(first, last, n) {
    const [a, b] = [this.place(first), this.place(last)];
    const step = (b - a) / (n - 1);
    const values = Float64Array.from({ length: n }, (_, i) => this.value(i * step + a));
    [values[0], values[n - 1]] = [first, last];
    return values;
  }
}

// A parameter derived from others, operation by operation as sweep/equations/derived.py has them.
function derive(tree, value) {
  if (typeof tree === "number") return tree;
  if (typeof tree === "string") return value(tree);
  const [name, ...parts] = tree;
  const [first, ...others] = name === "**" ? [derive(parts[0], value)] : parts.map((part) => derive(part, value));
  if (name === "**") return raised(first, parts[1]);
  if (name === "negative") return -first;
  if (name === "sqrt") return Math.sqrt(first);
  if (name === "abs") return Math.abs(first);
  const both = {
    "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
    min: (a, b) => (b < a ? b : a), max: (a, b) => (b > a ? b : a),
  }[name];
  return others.reduce(both, first);
}
function raised(base, power) {
  if (power === 0) return 1;
  let [found, square] = [base, base];
  for (let left = Math.abs(power) - 1; left; ) {
    if (left % 2) found *= square;
    left = Math.floor(left / 2);
    if (left) square *= square;
  }
  return power < 0 ? 1 / found : found;
}

// The index of the value that is nearest to a place on the axis.
function nearest(axis, values, place) {
  let [low, high] = [0, values.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (axis.place(values[middle]) <= place) low = middle;
    else high = middle;
  }
  return Math.abs(axis.place(values[low]) - place) <= Math.abs(axis.place(values[high]) - place) ? low : high;
}
