// Colours that people with colour blindness can tell apart too.
"use strict";

const MAPS = {
  viridis: "440154 481a6c 472f7d 414487 39568c 31688e 2a788e 23888e 1f988b 22a884 35b779 54c568 7ad151 a5db36 d2e21b fde725",
  cividis: "00224e 002e6c 1e3a6f 35456c 47516c 575d6d 666970 757575 848279 948e77 a59c74 b7a96e c8b866 dbc75a eed649 fee838",
  magma: "000004 0b0924 20114b 3b0f70 57157e 721f81 8c2981 a8327d c43c75 de4968 f1605d fa7f5e fe9f6d febf84 fddea0 fcfdbf",
  grey: "101010 f4f4f4",
};
// Okabe and Ito (2008), the darkest left out.
const CLASSES = "56b4e9 e69f00 009e73 f0e442 0072b2 d55e00 cc79a7 999999".split(" ");

const rgb = (hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));

// 256 colours as 32-bit pixels.
function ramp(name, reversed) {
  const anchors = MAPS[name].split(" ").map(rgb);
  if (reversed) anchors.reverse();
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (anchors.length - 1);
    const k = Math.min(Math.floor(at), anchors.length - 2);
    return pixel(anchors[k].map((c, j) => Math.round(c + (at - k) * (anchors[k + 1][j] - c))));
  });
}
const pixel = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
const css = (p) => `rgb(${p & 255} ${(p >> 8) & 255} ${(p >> 16) & 255})`;
const classPixel = (code) => pixel(rgb(CLASSES[code % CLASSES.length]));

// From a value to a pixel; values beyond the limits have the colour of the limit.
function painter(scale, output) {
  if (output.kind === "flag") return classPixel;
  const colours = ramp(scale.map, scale.reversed);
  const place = scale.log ? Math.log : (value) => value;
  const [low, high] = [place(scale.least), place(scale.greatest)];
  const factor = 255 / (high - low || 1);
  return (value) => {
    const share = scale.log && value <= 0 ? 0 : (place(value) - low) * factor;
    return colours[share > 0 ? (share < 255 ? Math.round(share) : 255) : 0];
  };
}
