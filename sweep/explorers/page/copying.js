// What can be taken from the page: a command, a sweep file, a picture, a table, a link.
"use strict";

const shell = (text) => (/^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`);

// `sweep trace` at these values of the parameters along axes.
function traceLine(command, values) {
  const at = Object.entries(values).map(([name, value]) => `--at ${shell(`${name}=${exact(value)}`)}`);
  return [command, ...at].join(" ");
}

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
      return flags?.length ? quoted(flags[value] ?? String(value)) : grid.exact ? exact(value) : brief(value, 3);
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
