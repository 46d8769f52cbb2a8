// Colours: maps that people with colour blindness can read too, and those that sweep/pictures/colours.py chose.
"use strict";

const MAPS = {
  viridis: "440154 481a6c 472f7d 414487 39568c 31688e 2a788e 23888e 1f988b 22a884 35b779 54c568 7ad151 a5db36 d2e21b fde725",
  cividis: "00224e 002e6c 1e3a6f 35456c 47516c 575d6d 666970 757575 848279 948e77 a59c74 b7a96e c8b866 dbc75a eed649 fee838",
  magma: "000004 0b0924 20114b 3b0f70 57157e 721f81 8c2981 a8327d c43c75 de4968 f1605d fa7f5e fe9f6d febf84 fddea0 fcfdbf",
  grey: "101010 f4f4f4",
};

const rgb = (hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
const pixel = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
const css = (p) => `rgb(${p & 255} ${(p >> 8) & 255} ${(p >> 16) & 255})`;
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

// The colours of a style sheet, by name.
function theme() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["ink", "paper", "faint", "accent", "empty", "grid"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

// The colour of a map at a share of its length, as a 32-bit pixel.
function shade(anchors, share) {
  const at = share * (anchors.length - 1);
  const k = Math.min(Math.floor(at), anchors.length - 2);
  return pixel(anchors[k].map((c, j) => Math.round(c + (at - k) * (anchors[k + 1][j] - c))));
}
function anchorsOf({ map: name, reversed }) {
  const anchors = MAPS[name].split(" ").map(rgb);
  return reversed ? anchors.reverse() : anchors;
}

// A class of a flag has the colour of its share of the map; a line one of its own, from the map if there are many.
const classPixel = (code, n) => shade(anchorsOf(state.scale), n > 1 ? clamp(code / (n - 1), 0, 1) : 0);
const lineColour = (k, n) => page.colours.lines[k] ?? css(shade(anchorsOf({ map: "viridis" }), k / n));

// From a value to a pixel; values beyond the limits have the colour of the limit, and zeros
// on a logarithmic scale are pale.
function painter(scale, output) {
  if (output.kind === "flag") return (code) => classPixel(code, output.flags.length);
  const anchors = anchorsOf(state.scale);
  const ramp = Uint32Array.from({ length: 256 }, (_, i) => shade(anchors, i / 255));
  const [low, high] = [scale.place(scale.least), scale.place(scale.greatest)];
  const factor = 255 / (high - low || 1);
  const zero = pixel(isDark() ? [34, 34, 34] : [247, 247, 247]);
  return (value) => {
    if (scale.log && value === 0) return zero;
    const share = scale.log && value < 0 ? 0 : (scale.place(value) - low) * factor;
    return ramp[share > 0 ? (share < 255 ? Math.round(share) : 255) : 0];
  };
}
