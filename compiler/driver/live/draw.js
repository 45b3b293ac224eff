// How the page draws: planes, lines and curves. What it draws is in `last` and `curves`, which page.js has.
'use strict';
const kProbeColours = ['#e4572e', '#2e86ab', '#5b8c2a', '#a23b72', '#c98b12', '#6457a6', '#1b998b', '#8d6a4f'];

// ---- numbers

function written(value, digits = 5) {
  if (value === null || value === undefined) return 'not finite';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(digits - 2).replace(/\.?0+e/, 'e').replace('e+', 'e');
  return String(Number(value.toPrecision(digits)));
}

// Round numbers in [low, high], with their words: at steps of 1, 2 or 5 times a power of ten.
function ticks(low, high, count) {
  const values = tickValues(low, high, count);
  const step = values.length > 1 ? values[1] - values[0] : 1;
  const size = Math.max(Math.abs(low), Math.abs(high));
  const digits = Math.min(15, Math.max(5, 2 + Math.ceil(Math.log10(size / step)) || 0));  // so that no two are alike
  return values.map(value => ({value, words: written(value, digits)}));
}

function tickValues(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough * 0.999) || rough;
  const all = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && all.length < 50; ++k) all.push(k * step);
  return all;
}

// ---- drawing

function svg(parent, name, attributes, text) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

// The part of an interval at which a value lies.
const part = (value, low, high) => high > low ? (value - low) / (high - low) : 0.5;

function labelAcross(axes, box, axis) {
  const [low, high] = [Math.min(axis.first, axis.last), Math.max(axis.first, axis.last)];
  const half = axis.cells ? box.width / axis.cells / 2 : 0;  // labels are at the centres of cells
  for (const {value, words} of ticks(low, high, box.width / 90)) {
    const at = axis.flipped ? 1 - part(value, low, high) : part(value, low, high);
    const x = box.x + half + at * (box.width - 2 * half);
    svg(axes, 'line', {class: 'ink', x1: x, x2: x, y1: box.y + box.height, y2: box.y + box.height + 5});
    svg(axes, 'text', {x, y: box.y + box.height + 18, 'text-anchor': 'middle'}, words);
  }
  svg(axes, 'text', {x: box.x + box.width / 2, y: box.y + box.height + 34, 'text-anchor': 'middle', class: 'faint'}, axis.label);
}

function labelUp(axes, box, axis, onRight) {
  const [low, high] = [Math.min(axis.first, axis.last), Math.max(axis.first, axis.last)];
  const half = axis.cells ? box.height / axis.cells / 2 : 0;
  const x = onRight ? box.x + box.width : box.x;
  for (const {value, words} of ticks(low, high, Math.max(onRight ? 4 : 2, box.height / 50))) {
    const at = axis.flipped ? 1 - part(value, low, high) : part(value, low, high);
    const y = box.y + box.height - half - at * (box.height - 2 * half);
    svg(axes, 'line', {class: 'ink', x1: x, x2: onRight ? x + 5 : x - 5, y1: y, y2: y});
    svg(axes, 'text', {x: onRight ? x + 8 : x - 8, y: y + 4, 'text-anchor': onRight ? 'start' : 'end'}, words);
  }
  if (axis.label) svg(axes, 'text', {x: onRight ? box.x : x - 8, y: box.y - 8, 'text-anchor': onRight ? 'start' : 'end', class: 'faint'}, axis.label);
}

function place(canvas, box) {
  canvas.hidden = false;
  Object.assign(canvas.style, {left: box.x + 'px', top: box.y + 'px', width: box.width + 'px', height: box.height + 'px'});
}

function clearAxes(width, height) {
  const axes = by('axes');
  axes.replaceChildren();
  axes.setAttribute('width', width);
  axes.setAttribute('height', height);
  return axes;
}

function put(canvas, width, height, colours) {
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
  const image = new ImageData(width, height);
  for (let i = 0, j = 0; i < colours.length; i += 3, j += 4) {
    image.data[j] = colours[i];
    image.data[j + 1] = colours[i + 1];
    image.data[j + 2] = colours[i + 2];
    image.data[j + 3] = 255;
  }
  canvas.getContext('2d').putImageData(image, 0, 0);
}

const room = () => Math.max(240, by('shown').clientWidth - 32);

function drawPlane(frame, bytes) {
  const [across, up] = frame.shown;
  const most = {width: room() - 64 - 100, height: Math.max(260, innerHeight * 0.62)};
  const scale = Math.min(most.width / frame.width, most.height / frame.height);
  const box = {x: 64, y: 26, width: Math.max(40, frame.width * scale), height: Math.max(40, frame.height * scale)};
  const bar = {x: box.x + box.width + 20, y: box.y, width: 18, height: Math.max(box.height, 120)};
  const axes = clearAxes(room(), Math.max(box.height + box.y + 42, bar.y + bar.height + 16));
  put(by('cells'), frame.width, frame.height, bytes.subarray(768));
  const lowAtFoot = new Uint8Array(768);
  for (let i = 0; i < 256; ++i) lowAtFoot.set(bytes.subarray(3 * i, 3 * i + 3), 3 * (255 - i));
  put(by('bar'), 1, 256, lowAtFoot);
  place(by('cells'), box);
  place(by('bar'), bar);
  svg(axes, 'rect', {class: 'ink', x: box.x - .5, y: box.y - .5, width: box.width + 1, height: box.height + 1});
  svg(axes, 'rect', {class: 'ink', x: bar.x - .5, y: bar.y - .5, width: bar.width + 1, height: bar.height + 1});
  labelAcross(axes, box, across);
  labelUp(axes, box, up, false);
  labelUp(axes, bar, {label: frame.label, first: frame.low, last: frame.high}, true);
  frame.box = box;
  for (const [i, probe] of curves.probes.entries()) {
    const at = positionOf(frame, probe);
    if (at) svg(axes, 'circle', {cx: at.x, cy: at.y, r: 5, fill: kProbeColours[i], stroke: '#fff', 'stroke-width': 1.5});
  }
}

function drawLine(frame) {
  by('cells').hidden = by('bar').hidden = true;
  const box = {x: 72, y: 26, width: room() - 72 - 20, height: Math.max(220, innerHeight * 0.45)};
  const axes = clearAxes(room(), box.y + box.height + 42);
  const air = by('low').value ? 0 : (frame.high - frame.low) * 0.05 || Math.abs(frame.high) * 0.1 || 1;
  const [low, high] = [frame.low - air, frame.high + air];
  for (const {value} of ticks(low, high, Math.max(2, box.height / 50))) {
    const y = box.y + box.height * (1 - part(value, low, high));
    svg(axes, 'line', {class: 'rule', x1: box.x, x2: box.x + box.width, y1: y, y2: y});
  }
  const columns = frame.least.length;
  const x = i => box.x + box.width * (columns > 1 ? i / (columns - 1) : 0.5);
  const y = value => box.y + box.height * (1 - Math.min(1, Math.max(0, part(value, low, high))));
  let path = '';
  let isJoined = false;
  for (let i = 0; i < columns; ++i) {
    if (frame.least[i] === null) {
      isJoined = false;
      svg(axes, 'rect', {x: x(i) - 1, y: box.y + box.height - 8, width: 3, height: 8, fill: '#ff00c8'});
      continue;
    }
    path += `${isJoined ? 'L' : 'M'}${x(i)} ${y(frame.least[i])}`;
    if (frame.greatest[i] !== frame.least[i]) path += `L${x(i)} ${y(frame.greatest[i])}`;
    if (!isJoined) path += 'h0.1';  // a value between two that are not finite
    isJoined = true;
  }
  svg(axes, 'path', {id: 'line', d: path, fill: 'none', stroke: 'var(--accent)', 'stroke-width': 2, 'stroke-linecap': 'round'});
  svg(axes, 'rect', {class: 'ink', x: box.x, y: box.y, width: box.width, height: box.height});
  labelAcross(axes, box, {...frame.shown[0], cells: 0});
  labelUp(axes, box, {label: frame.label, first: low, last: high}, false);
  frame.box = box;
  for (const [i, probe] of curves.probes.entries()) {
    const at = positionOf(frame, probe);
    if (at) svg(axes, 'line', {x1: at.x, x2: at.x, y1: box.y, y2: box.y + box.height, stroke: kProbeColours[i], 'stroke-dasharray': '3 3'});
  }
  const hit = svg(axes, 'rect', {x: box.x, y: box.y, width: box.width, height: box.height, fill: 'transparent', cursor: 'crosshair', 'pointer-events': 'all'});
  hit.onclick = probeAt;
  hit.onmousemove = pointAt;
}

// ---- cells and places on the page

// Pixels along an axis and the cells that they have.
function cellAlong(axis, pixel, per) {
  const cell = Math.min(axis.cells - 1, pixel * per + Math.floor(per / 2));
  return axis.flipped ? axis.cells - 1 - cell : cell;
}

function cellAt(event) {
  const frame = last, outer = by('figure').getBoundingClientRect();
  const across = (event.clientX - outer.left - frame.box.x) / frame.box.width;
  const up = 1 - (event.clientY - outer.top - frame.box.y) / frame.box.height;
  const cell = {};
  const pixel = (at, count) => Math.min(count - 1, Math.max(0, Math.floor(at * count)));
  const per = frame.cells_per_pixel;
  if (frame.kind === 'line') {
    const columns = frame.least.length;
    cell[frame.shown[0].axis] = cellAlong(frame.shown[0], Math.min(columns - 1, Math.max(0, Math.round(across * (columns - 1)))), per);
  } else {
    cell[frame.shown[0].axis] = cellAlong(frame.shown[0], pixel(across, frame.width), per);
    cell[frame.shown[1].axis] = cellAlong(frame.shown[1], pixel(up, frame.height), per);
    const cut = cutNow();
    if (cut) cell[cut.axis] = cut.index;
  }
  return cell;
}

// Where a probe lies in the picture; null where it does not show it.
function positionOf(frame, probe) {
  if (probe.field !== frame.field) return null;
  const cut = cutNow();
  if (cut && probe.cell[cut.axis] !== cut.index) return null;
  const along = (axis, pixels) => {
    const cell = axis.flipped ? axis.cells - 1 - probe.cell[axis.axis] : probe.cell[axis.axis];
    return pixels ? (cell + 0.5) / (pixels * frame.cells_per_pixel) : part(cell, 0, axis.cells - 1);
  };
  const box = frame.box, [across, up] = frame.shown;
  if (frame.kind === 'line') return {x: box.x + box.width * along(across, 0), y: box.y};
  return {x: box.x + box.width * along(across, frame.width), y: box.y + box.height * (1 - along(up, frame.height))};
}

const wordsOf = cell => Object.entries(cell).map(([axis, index]) => `${axis} = ${index}`).join(', ');

function pointAt(event) {
  if (last) by('place').textContent = 'cell ' + wordsOf(cellAt(event)) +
    (last.cells_per_pixel > 1 ? `; ${last.cells_per_pixel} cells a pixel along each axis` : '');
}

function probeAt(event) {
  if (last) change('probe', {field: last.field, cell: cellAt(event)}).then(askCurves);
}

// ---- curves

function drawChart(parent, title, series, remove) {
  const chart = document.createElement('div');
  chart.className = 'chart';
  const head = document.createElement('h2');
  head.textContent = title;
  chart.append(head);
  if (remove) {
    const button = document.createElement('button');
    button.textContent = '×';
    button.title = button.ariaLabel = 'no longer';
    button.onclick = remove;
    head.append(button);
  }
  const box = {x: 72, y: 6, width: Math.min(900, room()) - 72 - 20, height: 110};
  const picture = svg(chart, 'svg', {width: box.x + box.width + 20, height: box.y + box.height + 24});
  const finite = series.values.filter(value => value !== null);
  let low = Math.min(...finite), high = Math.max(...finite);
  if (!finite.length) low = high = 0;
  const air = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
  low -= air;
  high += air;
  const first = series.steps[0] || 0, end = Math.max(first + 1, series.steps.at(-1) || 0);
  for (const {value, words} of ticks(low, high, 3)) {
    const y = box.y + box.height * (1 - part(value, low, high));
    svg(picture, 'line', {class: 'rule', x1: box.x, x2: box.x + box.width, y1: y, y2: y});
    svg(picture, 'text', {x: box.x - 6, y: y + 4, 'text-anchor': 'end'}, words);
  }
  for (const {value, words} of ticks(first, end, box.width / 110))
    if (Number.isInteger(value))
      svg(picture, 'text', {x: box.x + box.width * part(value, first, end), y: box.y + box.height + 16, 'text-anchor': 'middle'}, words);
  let path = '', isJoined = false;
  series.values.forEach((value, i) => {
    if (value === null) return void (isJoined = false);
    const x = box.x + box.width * part(series.steps[i], first, end), y = box.y + box.height * (1 - part(value, low, high));
    path += `${isJoined ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}` + (isJoined ? '' : 'h0.1');
    isJoined = true;
  });
  svg(picture, 'path', {d: path, fill: 'none', stroke: series.colour, 'stroke-width': 1.5, 'stroke-linecap': 'round'});
  svg(picture, 'rect', {class: 'rule', fill: 'none', x: box.x, y: box.y, width: box.width, height: box.height});
  parent.append(chart);
}
