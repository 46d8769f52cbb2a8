// The picture: an image of one output over two axes, curves over one, or dots; with a selected point.
"use strict";

const BORDER_DASHES = [[7, 4], [2, 3], [8, 3, 2, 3]];

class MapView {
  constructor(canvas) {
    this.canvas = canvas;
    this.image = document.createElement("canvas");
    this.drawn = document.createElement("canvas"); // the picture without the selected point
  }
  resize() {
    const { c, width, height, ratio } = fitted(this.canvas);
    Object.assign(this, { context: c, width, height, ratio });
    const left = width < 480 ? 52 : 64;
    this.frame = { left, top: 10, right: width - 14, bottom: height - 44 };
  }

  // view: x, y (sides), window {x: [first, last], y} as places, and what is drawn: grids, curves or dots.
  show(view) {
    this.view = view;
    const c = this.context;
    this.colours = theme();
    c.fillStyle = this.colours.paper;
    c.fillRect(0, 0, this.width, this.height);
    const { left, top, right, bottom } = this.frame;
    this.inside(() => {
      c.fillStyle = this.colours.empty;
      c.fillRect(left, top, right - left, bottom - top);
      if (view.curves) drawCurves(this, view);
      else for (const grid of view.grids) this.drawGrid(grid, view);
      for (const border of view.theory) this.drawTheory(border, view);
    });
    c.strokeStyle = c.fillStyle = this.colours.ink;
    drawFrame(c, this.frame, view.x, view.y, view.window);
    [this.drawn.width, this.drawn.height] = [this.canvas.width, this.canvas.height];
    this.drawn.getContext("2d").drawImage(this.canvas, 0, 0);
    this.mark(view.selection, null);
  }
  // Runs an action whose drawing is cut off at the frame.
  inside(action) {
    const { left, top, right, bottom } = this.frame;
    this.context.save();
    this.context.beginPath();
    this.context.rect(left, top, right - left, bottom - top);
    this.context.clip();
    action();
    this.context.restore();
  }
  // Marks the selected point, and the rectangle that is being drawn, on the picture as it is.
  mark(selection, drag) {
    if (!this.view) return;
    this.context.drawImage(this.drawn, 0, 0, this.width, this.height);
    this.inside(() => this.drawSelection(selection, drag));
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
    const classes = view.flag && grid.has(view.flag) ? new Int16Array(nx * ny).fill(-1) : null;
    const [used, usedRows] = [new Set(columns), new Set(rows)];
    for (let i = 0; i < nx; i++) {
      for (let j = 0; j < ny; j++) {
        const status = grid.statusAt(i, j);
        if (classes && status === 0) classes[i * ny + j] = grid.at(view.flag, i, j);
        if (!used.has(i) || !usedRows.has(j)) continue;
        const value = grid.at(view.output.name, i, j, view.inner);
        cells[i * ny + j] = status === 255 ? 0 : value === value ? view.paint(value) : 1;
      }
    }
    const [line, ground] = isDark() ? [0xffb0b0b0, 0xff3a3a3a] : [0xff606060, 0xffe6e6e6];
    for (let py = 0; py < h; py++) {
      const j = rows[py];
      if (j < 0) continue;
      for (let px = 0; px < w; px++) {
        const i = columns[px];
        if (i < 0) continue;
        const cell = cells[i * ny + j];
        pixels[py * w + px] = cell !== 1 ? cell : (px + py) % 12 < 3 ? line : ground;
      }
    }
    context.putImageData(data, 0, 0);
    this.context.drawImage(this.image, left, top, right - left, bottom - top);
    if (classes) this.drawBorders(classBorders(classes, nx, ny), grid, view);
  }
  // White lines with dark sides where the class of neighbouring points differs.
  drawBorders(lines, grid, view) {
    const [toX, toY] = [[view.x, grid.x.values], [view.y, grid.y.values]].map(([axis, values]) => (index) => between(axis, values, index));
    const c = this.context;
    c.beginPath();
    for (const line of lines) {
      const points = line.map(([x, y]) => [this.toX(toX(x)), this.toY(toY(y))]);
      c.moveTo(...points[0]);
      for (let k = 1; k < points.length - 1; k++)
        c.quadraticCurveTo(...points[k], (points[k][0] + points[k + 1][0]) / 2, (points[k][1] + points[k + 1][1]) / 2);
      c.lineTo(...points.at(-1));
    }
    c.lineJoin = c.lineCap = "round";
    for (const [width, colour] of [[3.2, "#202020"], [1.6, "#fff"]]) {
      c.lineWidth = width;
      c.strokeStyle = colour;
      c.stroke();
    }
  }
  drawTheory({ lines, dash }, view) {
    const c = this.context;
    c.beginPath();
    for (const line of lines)
      line.forEach(([x, y], k) => c[k ? "lineTo" : "moveTo"](this.toX(between(view.x, view.x.values, x)), this.toY(between(view.y, view.y.values, y))));
    c.strokeStyle = page.colours.theory;
    c.lineWidth = 1.6;
    c.setLineDash(dash);
    c.stroke();
    c.setLineDash([]);
  }
  drawSelection(selection, drag) {
    const c = this.context;
    if (selection && Number.isFinite(selection.y)) {
      for (const [width, colour] of [[4, "#000"], [2, "#fff"]]) {
        c.lineWidth = width;
        c.strokeStyle = colour;
        c.beginPath();
        c.arc(this.toX(selection.x), this.toY(selection.y), 6, 0, 2 * Math.PI);
        c.stroke();
      }
    }
    if (drag) {
      c.lineWidth = 1;
      c.strokeStyle = this.view.curves ? this.colours.ink : "#fff";
      c.setLineDash([4, 4]);
      c.strokeRect(drag.x0, drag.y0, drag.x1 - drag.x0, drag.y1 - drag.y0);
      c.setLineDash([]);
    }
  }
}

// The place of an index of an axis, with a fraction between two of its values.
function between(axis, values, index) {
  const [low, high] = [Math.floor(index), Math.ceil(index)];
  const [a, b] = [axis.place(values[low]), axis.place(values[high])];
  return a + (index - low) * (b - a);
}
