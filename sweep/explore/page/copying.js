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

// A table of a grid's points: the axes, its outputs, the name of the status.
function table(grid, x, y, outputs, sentences) {
  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const heads = [x, ...(y ? [y] : []), ...outputs].map(({ name, unit }) => quoted(withUnit(name, unit ?? "1")));
  const lines = [[...heads, "status"].join(",")];
  for (let i = 0; i < grid.x.values.length; i++)
    for (let j = 0; j < grid.y.values.length; j++) {
      if (grid.statusAt(i, j) === 255) continue;
      const values = outputs.map(({ name, flags }) => {
        const value = grid.at(name, i, j);
        return value !== value ? "" : flags?.length ? quoted(flags[value] ?? String(value)) : exact(value);
      });
      const place = [exact(grid.x.values[i]), ...(y ? [exact(grid.y.values[j])] : [])];
      lines.push([...place, ...values, sentences[grid.statusAt(i, j)]?.[0] ?? ""].join(","));
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
