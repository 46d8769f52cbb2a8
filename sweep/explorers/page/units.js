// Units in which numbers are easy to read, and those that were chosen.
"use strict";

const READABLE = [1e-2, 1e4]; // as in sweep/text/units.py: the largest number lies between these
const MAX_FINE = 1e3; // the largest number in mm³ and the like
const SPANS_DECADES = 1e3; // as in sweep/pictures/scales.py

// The choices for an SI unit as { text, factor, automatic }, itself first.
const unitChoices = (unit) => (page.units[unit] ?? [[unit === "1" ? "" : unit, 1, true]]).map(
  ([text, factor, automatic]) => ({ text, factor, automatic }));
const unitText = (unit) => unitChoices(unit)[0].text;
const inBrackets = (text, unit) => (unit ? `${text} [${unit}]` : text);
const withUnit = (text, unit) => inBrackets(text, unitText(unit));

// The unit of a quantity: the chosen one, otherwise one in which the largest value is easy to read.
function unitOf(name, unit, values) {
  const choices = unitChoices(unit);
  return choices.find(({ text }) => text === state.units[name]) ?? readable(choices, unit, values);
}
function readable(choices, unit, values) {
  let [least, largest] = [Infinity, 0];
  for (const value of values) {
    const size = Math.abs(value);
    if (!Number.isFinite(size) || !size) continue;
    [least, largest] = [Math.min(least, size), Math.max(largest, size)];
  }
  const automatic = choices.filter((each) => each.automatic).sort((a, b) => a.factor - b.factor);
  const isVolume = unit === "m^3";
  if (!largest || (values.length > 2 && largest > SPANS_DECADES * least)) return choices[0];
  if (isVolume) return largest > 1 ? choices[0] : automatic.findLast(({ factor }) => largest * factor <= MAX_FINE) ?? choices[0];
  if (largest >= READABLE[0] && largest < READABLE[1]) return choices[0];
  if (["s", "kg"].includes(unit) && largest >= READABLE[1]) return choices[0];
  return automatic.find(({ factor }) => largest * factor >= 1 - 1e-9) ?? automatic.at(-1);
}

// One value with four digits and its unit: ["7.45", "mW"].
function inUnit(name, unit, value) {
  const { text, factor } = unitOf(name, unit, [value]);
  return [pretty(brief(value * factor, 4)), text];
}
const quantity = (name, unit, value) => inUnit(name, unit, value).join(" ").trim();

// 1e-05 as 10⁻⁵, 2.5e+06 as 2.5·10⁶.
function pretty(text) {
  const [mantissa, power] = text.split("e");
  if (power === undefined) return text.replace(/^-/, "−");
  const raised = [...String(Number(power))].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");
  return `${mantissa === "1" ? "" : `${mantissa.replace("-", "−")}·`}10${raised}`;
}

// The choices of a unit in a list beside its quantity, the automatic one first; hidden where there is only one.
function fillUnits(select, name, unit, values) {
  const choices = unitChoices(unit);
  select.hidden = choices.length < 2;
  const automatic = readable(choices, unit, values).text || "1";
  select.replaceChildren(element("option", { value: "" }, automatic),
    ...choices.filter(({ text }) => text && text !== automatic).map(({ text }) => element("option", { value: text }, text)));
  select.value = state.units[name] ?? "";
}
