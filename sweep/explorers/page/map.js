// The map: an image of one output over two axes, or a line over one, with borders and hatching.
"use strict";

const BORDER_DASHES = [[7, 4], [2, 3], [8, 3, 2, 3]];

class MapView {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.image = document.createElement("canvas");
    this.drawn = document.createElement("canvas"); // the map without the selected point
  }
  resize() {
    const ratio = window.devicePixelRatio || 1;
    const box = this.canvas.getBoundingClientRect();
    [this.width, this.height] = [box.width, box.height];
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    this.ratio = ratio;
    const narrow = box.width < 480;
    this.frame = { left: narrow ? 52 : 64, top: 10, right: box.width - 14, bottom: box.height - 44 };
  }
  theme() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    return { ink: colour("--ink"), paper: colour("--paper"), faint: colour("--faint"), accent: colour("--accent"), empty: colour("--empty") };
  }

  // view: x, y (axes), window {x: [first, last], y}, as places; a line has no y axis but limits.
  show(view) {
    this.view = view;
    const c = this.context;
    const theme = (this.colours = this.theme());
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    c.fillStyle = theme.paper;
    c.fillRect(0, 0, this.width, this.height);
    const { left, top, right, bottom } = this.frame;
    c.save();
    c.beginPath();
    c.rect(left, top, right - left, bottom - top);
    c.clip();
    c.fillStyle = theme.empty;
    c.fillRect(left, top, right - left, bottom - top);
    if (view.dots) this.drawDots(view);
    else if (view.y.isValue) this.drawLines(view);
    else for (const grid of view.grids) this.drawGrid(grid, view);
    for (const border of view.theory) this.drawTheory(border, view);
    c.restore();
    this.drawFrame(view);
    [this.drawn.width, this.drawn.height] = [this.canvas.width, this.canvas.height];
    this.drawn.getContext("2d").drawImage(this.canvas, 0, 0);
    this.mark(view.selection, null);
  }
  // Marks the selected point, and the rectangle that is being drawn, on the map as it is.
  mark(selection, drag) {
    if (!this.view) return;
    const c = this.context;
    const { left, top, right, bottom } = this.frame;
    c.drawImage(this.drawn, 0, 0, this.width, this.height);
    c.save();
    c.beginPath();
    c.rect(left, top, right - left, bottom - top);
    c.clip();
    this.drawSelection({ selection, drag });
    c.restore();
  }
  toX(place) {
    const { left, right } = this.frame;
    const [a, b] = this.view.window.x;
    return left + ((place - a) / (b - a)) * (right - left);
  }
  toY(place) {
    const { top, bottom } = this.frame;
    const [a, b] = this.view.window.y;
    return bottom - ((place - a) / (b - a)) * (bottom - top);
  }
  places(px, py) {
    const { left, top, right, bottom } = this.frame;
    const [[a, b], [c, d]] = [this.view.window.x, this.view.window.y];
    return {
      x: a + ((px - left) / (right - left)) * (b - a),
      y: c + ((bottom - py) / (bottom - top)) * (d - c),
      inside: px >= left && px <= right && py >= top && py <= bottom,
    };
  }

  // For each of n pixels between first and last, the index of the value nearest to it; -1 beyond.
  lookup(axis, values, [first, last], n) {
    const places = Float64Array.from(values, (value) => axis.place(value));
    const half = (k, side) => places.length > 1 ? Math.abs(places[k] - places[k + side]) / 2 : Infinity;
    const [low, high] = [places[0] - half(0, 1), places.at(-1) + half(places.length - 1, -1)];
    const found = new Int32Array(n);
    for (let i = 0, k = 0; i < n; i++) {
      const at = first + ((i + 0.5) / n) * (last - first);
      while (k < places.length - 1 && at > (places[k] + places[k + 1]) / 2) k++;
      found[i] = at < low || at > high ? -1 : k;
    }
    return found;
  }
  drawGrid(grid, view) {
    const { left, top, right, bottom } = this.frame;
    const [w, h] = [Math.round((right - left) * this.ratio), Math.round((bottom - top) * this.ratio)];
    if (w < 1 || h < 1) return;
    const columns = this.lookup(view.x, grid.x.values, view.window.x, w);
    const rows = this.lookup(view.y, grid.y.values, view.window.y, h).reverse();
    [this.image.width, this.image.height] = [w, h];
    const context = this.image.getContext("2d");
    const data = context.createImageData(w, h);
    const pixels = new Uint32Array(data.data.buffer);
    const [nx, ny] = [grid.x.values.length, grid.y.values.length];
    const cells = new Uint32Array(nx * ny); // 0: nothing, 1: hatched
    const classes = view.flag && grid.has?.(view.flag) !== false ? new Int16Array(nx * ny).fill(-1) : null;
    const [used, usedRows] = [new Set(columns), new Set(rows)];
    for (let i = 0; i < nx; i++) {
      if (!used.has(i)) continue;
      for (let j = 0; j < ny; j++) {
        if (!usedRows.has(j)) continue;
        const value = grid.at(view.output.name, i, j, view.inner);
        const status = grid.statusAt(i, j);
        cells[i * ny + j] = status === 255 ? 0 : value === value ? view.paint(value) : 1;
        if (classes && status === 0) classes[i * ny + j] = grid.at(view.flag, i, j);
      }
    }
    const hatch = this.hatch();
    const border = 0xffffffff;
    for (let py = 0; py < h; py++) {
      const j = rows[py];
      if (j < 0) continue;
      for (let px = 0; px < w; px++) {
        const i = columns[px];
        if (i < 0) continue;
        const cell = cells[i * ny + j];
        pixels[py * w + px] = cell === 1 ? hatch((px + py) % 12 < 3) : cell;
      }
    }
    if (classes) this.drawBorders(pixels, w, h, columns, rows, classes, ny, border);
    context.putImageData(data, 0, 0);
    this.context.drawImage(this.image, left, top, right - left, bottom - top);
  }
  hatch() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const [line, ground] = dark ? [0xffb0b0b0, 0xff3a3a3a] : [0xff606060, 0xffe6e6e6];
    return (isLine) => (isLine ? line : ground);
  }
  // White lines with dark sides where the class of neighbouring points differs.
  drawBorders(pixels, w, h, columns, rows, classes, ny, colour) {
    const differs = (a, b) => a >= 0 && b >= 0 && a !== b;
    const marks = [];
    for (let py = 1; py < h; py++) {
      for (let px = 1; px < w; px++) {
        if (columns[px] < 0 || rows[py] < 0 || columns[px - 1] < 0 || rows[py - 1] < 0) continue;
        const here = classes[columns[px] * ny + rows[py]];
        const beside = columns[px] !== columns[px - 1] && differs(here, classes[columns[px - 1] * ny + rows[py]]);
        const above = rows[py] !== rows[py - 1] && differs(here, classes[columns[px] * ny + rows[py - 1]]);
        if (beside || above) marks.push(py * w + px);
      }
    }
    const wide = Math.max(1, Math.round(this.ratio));
    const spread = (size, value) => {
      for (const mark of marks)
        for (let dy = -size; dy <= size; dy++)
          for (let dx = -size; dx <= size; dx++) {
            const place = mark + dy * w + dx;
            if (place >= 0 && place < pixels.length) pixels[place] = value;
          }
    };
    spread(wide, 0xff202020);
    spread(wide - 1, colour);
  }
  drawTheory({ lines, dash }, view) {
    const c = this.context;
    c.beginPath();
    const place = (axis, index) => {
      const [low, high] = [Math.floor(index), Math.ceil(index)];
      const [a, b] = [axis.place(axis.values[low]), axis.place(axis.values[high])];
      return a + (index - low) * (b - a);
    };
    for (const line of lines)
      line.forEach(([x, y], k) => c[k ? "lineTo" : "moveTo"](this.toX(place(view.x, x)), this.toY(place(view.y, y))));
    c.strokeStyle = "#e00000";
    c.lineWidth = 1.6;
    c.setLineDash(dash);
    c.stroke();
    c.setLineDash([]);
  }
  drawLines({ grids, output, x, inners }) {
    const c = this.context;
    for (const grid of grids) {
      for (let inner = 0; inner < inners; inner++) {
        c.beginPath();
        c.strokeStyle = c.fillStyle = this.colours.accent;
        c.lineWidth = 1.6;
        for (let i = 0, down = false; i < grid.x.values.length; i++) {
          const value = grid.at(output.name, i, 0, inner);
          const [px, py] = [this.toX(x.place(grid.x.values[i])), this.toY(this.view.y.place(value))];
          if (Number.isFinite(py) && (inners > 1 || grid.x.values.length === 1)) c.fillRect(px - 0.8, py - 0.8, 1.6, 1.6);
          else if (!Number.isFinite(py)) down = false;
          else down ? c.lineTo(px, py) : c.moveTo(px, py), (down = true);
          if (grid.statusAt(i, 0) % 255) this.hatchColumn(px);
        }
        c.stroke();
      }
    }
  }
  hatchColumn(px) {
    const c = this.context;
    c.fillStyle = this.colours.faint;
    for (let py = this.frame.top; py < this.frame.bottom; py += 8) c.fillRect(px - 1, py, 2, 4);
    c.fillStyle = this.colours.accent;
  }
  drawDots({ dots, paint }) {
    const c = this.context;
    for (const { x, y, value, status } of dots) {
      const [px, py] = [this.toX(x), this.toY(y)];
      if (status === 0) {
        c.fillStyle = css(paint(value));
        c.fillRect(px - 2, py - 2, 4, 4);
      } else if (status !== 255) {
        c.strokeStyle = this.colours.faint;
        c.strokeRect(px - 2, py - 2, 4, 4);
      }
    }
  }
  heightOfLine(place) {
    const { grids, x, y, output, inner } = this.view;
    const grid = grids.at(-1);
    const value = grid && y.isValue ? grid.at(output.name, nearest(x, grid.x.values, place), 0, inner) : NaN;
    const py = this.toY(y.isValue ? y.place(value) : NaN);
    return Number.isFinite(py) ? py : (this.frame.top + this.frame.bottom) / 2;
  }
  drawSelection({ selection, drag }) {
    const c = this.context;
    if (selection) {
      const [px, py] = [this.toX(selection.x), selection.y === null ? this.heightOfLine(selection.x) : this.toY(selection.y)];
      for (const [width, colour] of [[4, "#000"], [2, "#fff"]]) {
        c.lineWidth = width;
        c.strokeStyle = colour;
        c.beginPath();
        c.arc(px, py, 6, 0, 2 * Math.PI);
        c.stroke();
      }
    }
    if (drag) {
      c.strokeStyle = "#fff";
      c.lineWidth = 1;
      c.setLineDash([4, 4]);
      c.strokeRect(drag.x0, drag.y0, drag.x1 - drag.x0, drag.y1 - drag.y0);
      c.setLineDash([]);
    }
  }
  drawFrame(view) {
    const c = this.context;
    const { left, top, right, bottom } = this.frame;
    c.strokeStyle = c.fillStyle = this.colours.ink;
    c.lineWidth = 1;
    c.strokeRect(left, top, right - left, bottom - top);
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "top";
    c.textAlign = "center";
    for (const value of ticks(view.x, view.window.x, (right - left) / 70)) {
      const px = this.toX(view.x.place(value));
      c.fillRect(px, bottom, 1, 4);
      c.fillText(brief(value, 4), clamp(px, left + 12, right - 12), bottom + 6);
    }
    c.fillText(view.x.label, (left + right) / 2, bottom + 25);
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const value of ticks(view.y, view.window.y, (bottom - top) / 40)) {
      const py = this.toY(view.y.place(value));
      c.fillRect(left - 4, py, 4, 1);
      c.fillText(brief(value, 4), left - 6, clamp(py, top + 6, bottom - 6));
    }
    c.save();
    c.translate(9, (top + bottom) / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = "center";
    c.fillText(view.y.label, 0, 0);
    c.restore();
  }
}

// About n round values of an axis between two places.
function ticks(axis, [first, last], n) {
  const [low, high] = [axis.value(first), axis.value(last)];
  if (axis.log && high / low > 8) {
    const spread = Math.log10(high / low) * 3 > n ? [1] : [1, 2, 5];
    const every = Math.max(1, Math.round(Math.log10(high / low) / n));
    const values = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
      for (const digit of power % every ? [] : spread) values.push(Number(`${digit}e${power}`));
    return values.filter((value) => value >= low && value <= high);
  }
  const rough = (high - low) / Math.max(n, 2);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((digit) => digit * power >= rough) ?? 10);
  const values = [];
  for (let k = Math.ceil(low / step); k * step <= high && values.length < 50; k++) values.push(Number((k * step).toPrecision(12)));
  return values;
}
