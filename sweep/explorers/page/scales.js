// Scales of a picture: linear or logarithmic as in sweep/pictures/scales.py, and their ticks.
"use strict";

const ROUNDING_SHARE = 1e-6; // values that differ less are drawn as a constant
const CONSTANT_HEIGHT = 0.1;

// The ends of a scale for these values. Chosen ones ({ log, least, greatest }, null where not) go first.
// A logarithmic scale is chosen for positive values that span three decades, also beside zeros.
function scaleOf(values, chosen) {
  let [low, high, positive, number] = [Infinity, -Infinity, 0, 0];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    number++;
    if (value > 0) positive++;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!number) [low, high] = [0, 1];
  const least = positive < number ? quantileOfPositive(values, 0.05) : low;
  const log = positive > 0 && (chosen.log ?? (low >= 0 && high > SPANS_DECADES * least));
  if (log) {
    if (positive < number) [low, high] = [10 ** Math.floor(Math.log10(quantileOfPositive(values, 0.01))), 10 ** Math.ceil(Math.log10(high))];
    if (!(low < high)) [low, high] = [low / 2, high * 2];
  } else {
    const size = Math.max(Math.abs(low), Math.abs(high)) || 1;
    if (high - low <= ROUNDING_SHARE * size) [low, high] = [low - (CONSTANT_HEIGHT / 2) * size, high + (CONSTANT_HEIGHT / 2) * size];
  }
  const own = { least: chosen.least ?? low, greatest: chosen.greatest ?? high };
  if (log && own.least <= 0) own.least = low;
  const place = log ? Math.log : (value) => value;
  return { ...own, log, place, value: log ? Math.exp : (at) => at };
}

// Of many values, a few thousand evenly spread ones are enough.
function quantileOfPositive(values, share) {
  const every = Math.max(1, Math.floor(values.length / 4096));
  let some = values.filter((value, k) => k % every === 0 && value > 0 && value < Infinity);
  if (!some.length) some = values.filter((value) => value > 0 && value < Infinity);
  const sorted = Float64Array.from(some).sort();
  return sorted[Math.floor(share * (sorted.length - 1))];
}

// About n round values of an axis between two places, as { value, text }; the texts differ.
function ticks(axis, [first, last], n) {
  const factor = axis.factor ?? 1;
  const [low, high] = [axis.value(first) * factor, axis.value(last) * factor];
  const values = axis.log && high / low > 8 ? powers(low, high, n) : steps(low, high, n);
  const texts = tickTexts(values);
  return values.map((value, k) => ({ value: value / factor, text: texts[k] }));
}
function powers(low, high, n) {
  const decades = Math.log10(high / low);
  const digits = decades * 3 > n ? [1] : [1, 2, 5];
  const every = Math.max(1, Math.round(decades / n));
  const values = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
    for (const digit of power % every ? [] : digits) values.push(Number(`${digit}e${power}`));
  return values.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
}
function steps(low, high, n) {
  const rough = (high - low) / Math.max(n, 2);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((digit) => digit * power >= rough) ?? 10);
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && values.length < 50; k++) values.push(Number((k * step).toPrecision(12)));
  return values;
}
// With as many digits as tell neighbours apart; powers of ten over many decades.
function tickTexts(values) {
  if (values.length > 2 && values.at(-1) / values[0] > 9e4 && values.every((value) => Math.log10(value) % 1 === 0))
    return values.map((value) => pretty(value.toExponential(0)));
  for (let digits = 3; digits < 16; digits++) {
    const texts = values.map((value) => brief(value, digits));
    const gap = Math.min(...values.slice(1).map((value, i) => Math.abs(value - values[i])), Infinity);
    if (texts.every((text, i) => values.length < 2 || Math.abs(Number(text) - values[i]) < 1e-3 * gap)) return texts.map(pretty);
  }
  return values.map(String);
}

// At most `most` of n indices, evenly spread, both ends included.
function evenly(n, most) {
  if (n <= most) return Array.from({ length: n }, (_, k) => k);
  return Array.from({ length: most }, (_, k) => Math.round((k * (n - 1)) / (most - 1)));
}
