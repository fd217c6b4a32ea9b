// A picture: axes, marks, a legend, the values under the pointer, and a zoom over the steps.
import { categorical, extent, figure, linear, padded, ticks } from './plot_scales.js';
import { marksOf, paint, shape } from './plot_marks.js';

const [TOP, RIGHT, BOTTOM, LETTER] = [8, 12, 24, 6.3];
// letters of names are wider than digits
const WIDE = 7.4;
// a level is drawn where it leaves the curves at least a third of the height
const FAR = 2;

function tag(name, className, text = '') {
  const node = document.createElement(name);
  node.className = className;
  if (text) node.textContent = text;
  return node;
}

function reachAcross(trace) {
  return trace.type === 'bar' ? trace.base.flatMap((base, place) => [base, base + trace.x[place]]) : trace.x;
}

function isShown(trace) {
  return trace.hoverinfo !== 'skip' && trace.role !== 'edge';
}

/** Traces over a pair of axes in an element, drawn again when its width changes. */
export class Plot {
  constructor(canvas, traces, layout, onZoom = null) {
    Object.assign(this, { canvas, traces, layout, onZoom, zoomed: null, width: 0 });
    this.observer = new ResizeObserver(([entry]) => this.resize(Math.floor(entry.contentRect.width)));
    this.observer.observe(canvas);  // tells the first width, too, once for all pictures of a page
  }

  resize(width) {
    if (width === this.width) return;
    this.width = width;
    this.draw();
  }

  /** Show these traces instead. */
  show(traces, layout = {}) {
    Object.assign(this, { traces, layout });
    this.draw();
  }

  /** Show a part of the steps, or all of them. */
  zoom(range) {
    this.zoomed = range;
    this.draw();
  }

  close() {
    this.observer.disconnect();
    this.canvas.replaceChildren();
  }

  draw() {
    this.height = Number.parseFloat(getComputedStyle(this.canvas).getPropertyValue('--height')) || 220;
    if (!this.width) return;
    this.svg = shape('svg', { class: 'plot-area', width: this.width, height: this.height, 'aria-hidden': 'true' });
    this.tip = tag('div', 'tip');
    this.tip.hidden = true;
    this.scale();
    this.drawAxes();
    this.drawMarks();
    this.listen();
    this.canvas.replaceChildren(this.svg, this.tip, ...this.legend());
  }

  scale() {
    const { xaxis = {}, yaxis = {}, marks = [], levels = [] } = this.layout;
    const down = [this.height - BOTTOM, TOP];
    if (yaxis.type === 'category') {
      this.names = [...new Set(this.traces.flatMap((trace) => trace.y))];
      this.y = categorical(this.names, yaxis.autorange === 'reversed' ? [TOP, this.height - BOTTOM] : down);
      this.left = Math.min(this.width * 0.45, Math.max(...this.names.map((name) => name.length)) * WIDE + 10);
    } else {
      this.y = linear(yaxis.range || this.vertical(yaxis, levels), down);
      this.rows = ticks(this.y.domain, 4, { percent: yaxis.tickformat === '.0%' });
      this.left = Math.max(...this.rows.map(([, text]) => text.length)) * LETTER + 12;
    }
    const whole = xaxis.range || padded(extent([...this.traces.flatMap(reachAcross), ...marks]), 0.03);
    this.x = linear(this.zoomed || whole, [this.left, this.width - RIGHT]);
  }

  /** The range of the values that are in sight; 0 is one of them where the layout says so, and levels that are near. */
  vertical(yaxis, levels) {
    const seen = (trace) => trace.y.filter((_, place) => !this.zoomed || (trace.x[place] >= this.zoomed[0] && trace.x[place] <= this.zoomed[1]));
    const reach = (trace) => (trace.error_y ? trace.y.flatMap((value, place) => [value - trace.error_y.array[place], value + trace.error_y.array[place]]) : []);
    const zero = yaxis.rangemode === 'tozero' ? [0] : [];
    const [low, high] = extent([...this.traces.flatMap((trace) => [...seen(trace), ...reach(trace)]), ...zero]);
    const room = FAR * (high - low || Math.abs(high) || 1);
    const near = levels.map(({ value }) => value).filter((value) => value > low - room && value < high + room);
    return padded(extent([low, high, ...near]), 0.06);
  }

  drawAxes() {
    const { xaxis = {}, marks = [], noted = [], levels = [], zero = false } = this.layout;
    const [left, right, top, bottom] = [this.left, this.width - RIGHT, TOP, this.height - BOTTOM];
    const line = (x1, x2, y1, y2, name) => this.svg.append(shape('line', { x1, x2, y1, y2, class: name }));
    const text = (x, y, words, anchor) => this.svg.append(shape('text', { x, y, 'text-anchor': anchor }, words));
    const longest = Math.floor((left - 8) / WIDE);
    for (const name of this.y.names || []) text(left - 6, this.y(name) + 4, name.length > longest ? `${name.slice(0, longest - 1)}…` : name, 'end');
    for (const [value, told] of this.y.names ? [] : this.rows) {
      line(left, right, this.y(value), this.y(value), 'grid-line');
      text(left - 6, this.y(value) + 4, told, 'end');
    }
    const percent = xaxis.tickformat === '.0%';
    for (const [value, told] of ticks(this.x.domain, Math.max(2, Math.min(6, (right - left) / 64)), { percent, whole: !percent && this.isWhole() })) {
      if (percent) line(this.x(value), this.x(value), top, bottom, 'grid-line');
      text(this.x(value), this.height - 7, told, 'middle');
    }
    if (zero) line(left, right, this.y(0), this.y(0), 'zero-line');
    for (const { value } of levels.filter(({ value }) => this.isLevel(value))) line(left, right, this.y(value), this.y(value), 'level-line');
    for (const step of noted) if (this.isSeen(step)) line(this.x(step), this.x(step), top, bottom, 'noted-line');
    for (const step of marks) if (this.isSeen(step)) line(this.x(step), this.x(step), top, bottom, 'chosen-line');
  }

  isLevel(value) {
    return value >= this.y.domain[0] && value <= this.y.domain[1];
  }

  isWhole() {
    return this.traces.every((trace) => trace.x.every(Number.isInteger));
  }

  isSeen(value) {
    return value >= this.x.domain[0] && value <= this.x.domain[1];
  }

  drawMarks() {
    const frame = shape('svg', { x: this.left - 4, y: 0, width: this.width - RIGHT - this.left + 8, height: this.height, viewBox: `${this.left - 4} 0 ${this.width - RIGHT - this.left + 8} ${this.height}` });
    this.traces.forEach((trace, place) => frame.append(marksOf(trace, this.traces[place - 1], this.x, this.y)));
    this.guide = shape('line', { class: 'guide', y1: TOP, y2: this.height - BOTTOM, visibility: 'hidden' });
    this.box = shape('rect', { class: 'zoom-box', y: TOP, height: this.height - BOTTOM - TOP, width: 0 });
    frame.append(this.guide, this.box);
    this.svg.append(frame);
  }

  legend() {
    const shown = this.layout.showlegend ? this.traces.filter((trace) => trace.name && trace.showlegend !== false) : [];
    const keys = shown.map((trace) => {
      const key = tag('span', 'key-of');
      key.append(paint(tag('i', `swatch ${trace.fill ? 'wide' : trace.mode === 'markers' ? 'point' : ''}`), trace.role), trace.name);
      return key;
    });
    const levels = (this.layout.levels || []).map(({ value, name }) => {
      const key = tag('span', 'key-of');
      key.append(tag('i', 'swatch level'), this.isLevel(value) ? name : `${name} (${value > this.y.domain[1] ? 'above' : 'below'} the frame)`);
      return key;
    });
    if (!keys.length && !levels.length) return [];
    const list = tag('div', 'keys');
    list.append(...keys, ...levels);
    return [list];
  }

  listen() {
    const at = (event) => event.clientX - this.svg.getBoundingClientRect().left;
    this.svg.addEventListener('pointermove', (event) => (this.start == null ? this.tell(event) : this.drag(at(event))));
    this.svg.addEventListener('pointerleave', () => this.untell());
    this.svg.addEventListener('dblclick', () => this.onZoom?.(null));
    if (!this.onZoom) return;
    this.svg.addEventListener('pointerdown', (event) => {
      if (event.pointerType !== 'mouse' || event.button) return;
      this.start = at(event);
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener('pointerup', (event) => {
      const ends = [this.start, at(event)];
      this.start = null;
      this.box.setAttribute('width', 0);
      if (ends[0] != null && Math.abs(ends[0] - ends[1]) > 8) this.onZoom(ends.sort((a, b) => a - b).map(this.x.invert));
    });
  }

  drag(now) {
    this.box.setAttribute('x', Math.min(this.start, now));
    this.box.setAttribute('width', Math.abs(this.start - now));
  }

  /** Tell the values at the step under the pointer, or the point nearest to it. */
  tell(event) {
    const frame = this.svg.getBoundingClientRect();
    const [left, top] = [event.clientX - frame.left, event.clientY - frame.top];
    const found = this.layout.hovermode === 'closest' ? this.nearest(left, top) : this.column(left);
    if (!found) return this.untell();
    this.guide.setAttribute('x1', found.at);
    this.guide.setAttribute('x2', found.at);
    this.guide.setAttribute('visibility', this.layout.hovermode === 'closest' ? 'hidden' : 'visible');
    this.tip.replaceChildren(tag('b', '', found.head), ...found.rows.map(([trace, text]) => paint(tag('div', 'told-row', text), trace.role)));
    this.tip.hidden = false;
    const room = this.width - this.tip.offsetWidth - 4;
    this.tip.style.left = `${Math.max(0, Math.min(room, found.at + 12 > room ? found.at - this.tip.offsetWidth - 12 : found.at + 12))}px`;
    return undefined;
  }

  untell() {
    this.tip.hidden = true;
    this.guide.setAttribute('visibility', 'hidden');
  }

  points() {
    return this.traces.filter(isShown).flatMap((trace) => trace.x.flatMap((value, place) =>
      (value == null || trace.y[place] == null || (!this.names && !this.isSeen(value)) ? [] : [{ trace, place, value, at: this.x(value), up: this.y(trace.y[place]) }])));
  }

  column(left) {
    const all = this.points();
    if (!all.length) return null;
    const { value, at } = all.reduce((best, point) => (Math.abs(point.at - left) < Math.abs(best.at - left) ? point : best));
    const rows = all.filter((point) => point.value === value).map(({ trace, place }) => [trace, this.row(trace, place)]);
    return { at, head: `${this.layout.step || 'step'} ${figure(value)}`, rows };
  }

  nearest(left, top) {
    const far = (point) => (point.at - left) ** 2 + (point.up - top) ** 2;
    const best = this.points().reduce((near, point) => (near && far(near) <= far(point) ? near : point), null);
    if (!best || far(best) > 40 ** 2) return null;
    const { trace, place } = best;
    const place2 = this.names ? `${trace.y[place]}: ${figure(best.value)}` : `${figure(best.value)}, ${figure(trace.y[place])}`;
    return { at: best.at, head: trace.name || '', rows: [[trace, trace.text ? `${trace.text[place]}: ${place2}` : place2]] };
  }

  row(trace, place) {
    const reach = trace.error_y?.array[place];
    return `${trace.name ? `${trace.name}: ` : ''}${figure(trace.y[place])}${reach ? ` ± ${figure(reach)}` : ''}${trace.told ? ` ${trace.told[place]}` : ''}`;
  }
}
