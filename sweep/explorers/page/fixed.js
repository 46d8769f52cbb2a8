// Sliders for the parameters that have one value: with another one, the page computes the picture anew.
"use strict";

const SLIDER_STEPS = 400;

const isChanged = () => Object.keys(state.fixed).length > 0;
const fixedParameters = () => page.parameters.filter(({ value }) => value !== null && Number.isFinite(number(value)));
const valueOf = ({ name, value }) => state.fixed[name] ?? number(value);

// The ends of a slider: a decade to each side, or as far as axes of the same unit go, within the parameter's range.
function rangeOf({ value, unit, least, greatest, whole }) {
  const stored = number(value);
  const size = Math.abs(stored) || Math.max(...axes.filter((axis) => axis.unit === unit && axis.values.length).map(({ values }) => Math.abs(values.at(-1))), unit === "rad" ? Math.PI : 1);
  const isLog = stored > 0 && !whole;
  const [low, high] = isLog ? [size / 10, size * 10] : [stored ? 0 : -size, stored < 0 ? 0 : size * (stored ? 4 : 1)];
  const ends = [Math.max(stored < 0 ? -4 * size : low, least ?? -Infinity), Math.min(high, greatest ?? Infinity)];
  return { ends, isLog: isLog && ends[0] > 0 };
}

function fillFixed() {
  const shown = staff ? fixedParameters() : [];
  byId("fixed-room").hidden = !shown.length;
  byId("fixed").replaceChildren(...shown.map(fixedRow));
}

function fixedRow(parameter) {
  const { name, unit, meaning, whole } = parameter;
  const { ends: [low, high], isLog } = rangeOf(parameter);
  const { text, factor } = unitOf(name, unit, [number(parameter.value)]);
  const slider = element("input", { type: "range", min: 0, max: SLIDER_STEPS, step: 1, "aria-label": words(name), title: meaning, "data-fixed": name });
  const entry = element("input", { inputmode: "decimal", size: 8, "aria-label": `${inBrackets(words(name), text)}, a number`, "data-number": name });
  slider.addEventListener("input", () => {
    const share = Number(slider.value) / SLIDER_STEPS;
    const value = isLog ? low * (high / low) ** share : low + share * (high - low);
    change(parameter, whole ? Math.round(value) : Number(value.toPrecision(3)), false);
  });
  slider.addEventListener("change", () => state.point && select(pointAgain()));
  entry.addEventListener("change", () => {
    const value = Number(entry.value.replace("−", "-").replace(",", ".")) / factor;
    if (entry.value.trim() && Number.isFinite(value)) change(parameter, Number(value.toPrecision(12)), true);
    showFixed();
  });
  const row = element("label", {}, element("span", {}, inBrackets(words(name), text)), slider, entry);
  row.show = () => {
    const value = valueOf(parameter);
    const share = isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    slider.value = clamp(share, 0, 1) * SLIDER_STEPS;
    entry.value = brief(value * factor, 6);
  };
  return row;
}

// Gives a parameter another value; its stored one counts as unchanged.
function change({ name, value }, to, isFinal) {
  if (to === number(value)) delete state.fixed[name];
  else state.fixed[name] = to;
  refresh(0, true);
  if (state.point && (isFinal || !staff.busy)) select(pointAgain());
}
function unchanged() {
  state.fixed = {};
  refresh();
  if (state.point) select(pointAgain());
}

function showFixed() {
  for (const row of byId("fixed").children) row.show();
  byId("fixed-note").hidden = !isChanged();
  const parts = Object.entries(state.fixed).map(([name, value]) => `${words(name)} = ${quantity(name, page.parameters.find((each) => each.name === name).unit, value)}`);
  byId("fixed-text").textContent = `Not the ${page.preview ? "stored sweep" : "sweep of the file"}: ${parts.join(", ")}`;
  byId("set").textContent = setLine();
}
const setLine = () => Object.entries(state.fixed).map(([name, value]) => `--set ${shell(`${name}=${exact(value)}`)}`).join(" ");
