// The frame of a picture: its sides, their ticks and labels.
"use strict";

// Draws on a context: frame { left, top, right, bottom }; sides x and y with place(), value(), log,
// factor, label, and the places [first, last] that they span.
function drawFrame(c, frame, x, y, spans, { font = "12px system-ui, sans-serif" } = {}) {
  const { left, top, right, bottom } = frame;
  const toX = (place) => left + ((place - spans.x[0]) / (spans.x[1] - spans.x[0])) * (right - left);
  const toY = (place) => bottom - ((place - spans.y[0]) / (spans.y[1] - spans.y[0])) * (bottom - top);
  c.lineWidth = 1;
  c.strokeRect(left, top, right - left, bottom - top);
  c.font = font;
  c.textBaseline = "top";
  c.textAlign = "center";
  if (x.label !== null) {
    for (const { value, text } of withoutOverlap(c, ticks(x, spans.x, (right - left) / 70), (at) => toX(x.place(at)))) {
      const px = toX(x.place(value));
      c.fillRect(px, bottom, 1, 4);
      c.fillText(text, clamp(px, left + 8, right - c.measureText(text).width / 2 + 12), bottom + 6);
    }
    c.fillText(x.label, (left + right) / 2, bottom + 25);
  }
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (const { value, text } of y.ticks ?? ticks(y, spans.y, (bottom - top) / 40)) {
    const py = toY(y.place(value));
    c.fillRect(left - 4, py, 4, 1);
    c.fillText(text, left - 6, clamp(py, top + 6, bottom - 6));
  }
  c.save();
  c.translate(9, (top + bottom) / 2);
  c.rotate(-Math.PI / 2);
  c.textAlign = "center";
  c.fillText(y.label ?? "", 0, 0);
  c.restore();
}

// Every second or third tick where their texts would touch.
function withoutOverlap(c, all, toX) {
  for (let every = 1; ; every++) {
    const some = all.filter((_, k) => k % every === 0);
    const fits = some.every(({ value, text }, k) => !k ||
      Math.abs(toX(value) - toX(some[k - 1].value)) > (c.measureText(text).width + c.measureText(some[k - 1].text).width) / 2 + 6);
    if (fits || some.length < 2) return some;
  }
}

// A canvas as large as its place on the screen; returns its context in CSS pixels.
function fitted(canvas, { width, height } = canvas.getBoundingClientRect()) {
  const ratio = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { c, width, height, ratio };
}
