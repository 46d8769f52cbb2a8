// What can be taken from the page: a command, a sweep file, a picture, a table, a link.
"use strict";

const shell = (text) => (/^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`);

// `sweep trace` at these values of the parameters along axes.
function traceLine(command, values) {
  const at = Object.entries(values).map(([name, value]) => `--at ${shell(`${name}=${exact(value)}`)}`);
  return [command, ...at].join(" ");
}

// The same as the argument `at` of `sweep.trace`.
const pythonPoint = (values) => `at = {${Object.entries(values).map(([name, value]) => `"${name}": ${Number.isFinite(value) ? exact(value) : `float("${exact(value)}")`}`).join(", ")}}`;

// The recipe of an axis with these very values.
function axisRecipe(axis, values) {
  const n = values.length;
  if (n > 2 && axis.continuous && !axis.log) return `{ linspace = [${exact(values[0])}, ${exact(values[n - 1])}, ${n}] }`;
  return `{ values = [${Array.from(values, exact).join(", ")}] }`;
}

// A sweep file of constants (by name) and axes ([name, recipe] in order).
function sweepFile({ head, derived, tail }, constants, axes) {
  const lines = Object.entries(constants).filter(([, value]) => value === value);
  return [
    head,
    "\n[parameters]",
    ...lines.map(([name, value]) => `${name} = ${exact(value)}`),
    ...(axes.length ? ["\n[axes]", ...axes.map(([name, recipe]) => `${name} = ${recipe}`)] : []),
    ...(derived ? ["", derived] : []),
    ...(tail ? ["", tail] : []),
  ].join("\n") + "\n";
}

// A table of points: the values of named columns at each, its outputs, the name of its status.
// Stored outputs are rounded, and written so.
function table(columns, points, outputs, grid, sentences) {
  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const heads = [...columns, ...outputs].map(({ name, unit }) => quoted(withUnit(name, unit ?? "1")));
  const lines = [[...heads, "status"].join(",")];
  for (const [values, i, j] of points) {
    const status = grid.statusAt(i, j);
    if (status === 255) continue;
    const shown = outputs.map(({ name, flags }) => {
      const value = grid.at(name, i, j);
      if (value !== value) return "";
      return flags?.length ? quoted(flags[value] ?? String(value)) : grid.exact ? exact(value) : brief(value, isRough() ? 3 : 7);
    });
    lines.push([...values.map(exact), ...shown, sentences[status]?.[0] ?? ""].join(","));
  }
  return lines.join("\n") + "\n";
}

function save(blob, name) {
  const link = element("a", { download: name });
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

async function told(action, text) {
  await action;
  say(text);
}

// The sweep of the map that is shown: the values of its sides, or all stored ones.
function windowFile() {
  const grid = computed?.key === viewKey() ? computed : sidesNow();
  const constants = Object.fromEntries(page.parameters.filter(({ name, value, neutral }) => value !== null && (!neutral || name in state.fixed)).map((each) => [each.name, valueOf(each)]));
  const recipes = [];
  axes.forEach((axis, d) => {
    const s = d === state.x ? grid.x : d === state.y ? grid.y : null;
    for (const [name, values] of Object.entries(axis.columns)) {
      if (!s) constants[name] = values[state.at[d]];
      else recipes.push([d, axis.name, name, axis.continuous && !s.indices ? axisRecipe(axis, s.values) :
        `{ values = [${Array.from(s.indices ?? s.values.keys(), (i) => exact(values[i])).join(", ")}] }`]);
    }
  });
  const order = [state.x, state.y];
  recipes.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
  return sweepFile(page.toml, constants, recipes.map(([, dimension, name, recipe]) => [dimension === name ? name : `${dimension === "point" ? "sample_point" : dimension}.${name}`, recipe]));
}

function savePicture() {
  const [canvas, legend] = [byId("map"), [...byId("legend").children].map((row) => row.textContent)];
  const ratio = map.ratio;
  const lines = [`${page.name}: ${byId("caption").textContent}`, ...(isChanged() ? [byId("fixed-text").textContent] : []), ...legend];
  const whole = element("canvas", { width: canvas.width, height: canvas.height + (lines.length * 18 + 44) * ratio });
  const c = whole.getContext("2d");
  c.fillStyle = map.colours.paper;
  c.fillRect(0, 0, whole.width, whole.height);
  c.drawImage(canvas, 0, 24 * ratio);
  c.scale(ratio, ratio);
  c.fillStyle = map.colours.ink;
  c.font = "13px system-ui, sans-serif";
  c.fillText(lines[0], map.frame.left, 17);
  const top = map.height + 30;
  if (!byId("bar").hidden) {
    c.drawImage(byId("scale"), map.frame.left, top, map.frame.right - map.frame.left, 10);
    c.fillText(byId("bar-least").textContent, map.frame.left, top + 24);
    c.textAlign = "right";
    c.fillText(byId("bar-greatest").textContent, map.frame.right, top + 24);
    c.textAlign = "left";
  }
  lines.slice(1).forEach((line, k) => c.fillText(line, map.frame.left, top + 42 + 18 * k));
  whole.toBlob((blob) => save(blob, `${page.name}.png`));
}

function saveTable() {
  const grid = gridsNow().at(-1);
  if (!grid) return say("There is no map to save.");
  const outputs = page.outputs.filter(({ name, inner }) => !inner.length && grid.has(name));
  const text = table(page.sample ? axes : sides(), page.sample ? pointsOfSample() : gridPoints(grid), outputs, grid, page.sentences);
  save(new Blob([text], { type: "text/csv" }), `${page.name}.csv`);
  say(grid.exact ? "Saved, with all digits." : `Saved; stored outputs are rounded to ${isRough() ? "three" : "seven"} digits.`);
}
const sides = () => [state.x, state.y].filter((d) => d >= 0).map((d) => axes[d]);
function* gridPoints({ x, y }) {
  for (const [i, along] of x.values.entries())
    for (const [j, upwards] of y.values.entries()) yield [state.y < 0 ? [along] : [along, upwards], i, j];
}
function* pointsOfSample() {
  for (let i = 0; i < sample.n; i++) yield [axes.map(({ name }) => sample.columns[name][i]), i, 0];
}
