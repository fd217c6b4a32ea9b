// Marks of a picture in SVG: lines, bands, bars, points and error bars. A trace names its colour by role.

const NAMESPACE = 'http://www.w3.org/2000/svg';

/** Make an SVG element. */
export function shape(name, attributes = {}, text = '') {
  const node = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text) node.textContent = text;
  return node;
}

/** Give an element the colour of a role of the page's theme. */
export function paint(node, role) {
  node.style.setProperty('--paint', `var(--${(role || 'chosen').split(' ')[0]})`);
  return node;
}

const number = (value) => value.toFixed(1);

/** A path over the points, broken where there is no number. */
export function linePath(trace, x, y) {
  let text = '';
  let pen = 'M';
  trace.x.forEach((value, place) => {
    if (value == null || trace.y[place] == null) pen = 'M';
    else {
      text += `${pen}${number(x(value))} ${number(y(trace.y[place]))}`;
      pen = 'L';
    }
  });
  return text;
}

/** The area between two traces of the same steps. */
function bandPath(lower, upper, x, y) {
  const there = (trace) => trace.x.map((value, place) => [value, trace.y[place]]).filter(([, value]) => value != null);
  const way = [...there(upper), ...there(lower).reverse()];
  return way.map(([step, value], place) => `${place ? 'L' : 'M'}${number(x(step))} ${number(y(value))}`).join('') + (way.length ? 'Z' : '');
}

const SYMBOLS = {
  circle: (r) => `M${-r} 0A${r} ${r} 0 1 0 ${r} 0A${r} ${r} 0 1 0 ${-r} 0Z`,
  diamond: (r) => `M0 ${-r}L${r} 0L0 ${r}L${-r} 0Z`,
  square: (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
  'line-ns': (r) => `M0 ${-r}V${r}`,
};

function marker(trace, at, up) {
  const [name, open] = (trace.marker?.symbol || 'circle').split('-open');
  const hollow = open !== undefined || name === 'line-ns';
  const radius = (trace.marker?.size || 5) / 2;
  return shape('path', { d: SYMBOLS[name](radius), transform: `translate(${number(at)} ${number(up)})`, class: hollow ? 'mark hollow' : 'mark' });
}

function markers(trace, x, y) {
  return trace.x.flatMap((value, place) => (value == null || trace.y[place] == null ? [] : [marker(trace, x(value), y(trace.y[place]))]));
}

function errorBars(trace, x, y) {
  return trace.x.flatMap((value, place) => {
    const reach = trace.error_y.array[place];
    if (trace.y[place] == null || !reach) return [];
    const [at, top, end] = [x(value), y(trace.y[place] + reach), y(trace.y[place] - reach)].map(number);
    return [shape('path', { d: `M${at} ${top}V${end}M${at - 3} ${top}h6M${at - 3} ${end}h6`, class: 'error' })];
  });
}

function bars(trace, x, y) {
  const height = y.step * (trace.width || 0.7);
  return trace.x.map((value, place) => {
    const [from, to] = [trace.base[place], trace.base[place] + value].map(x);
    return shape('rect', { x: number(from), width: number(to - from), y: number(y(trace.y[place]) - height / 2), height: number(height), class: 'bar', rx: 3 });
  });
}

/** All marks of one trace; `before` is the trace before it, to which a band reaches. */
export function marksOf(trace, before, x, y) {
  const group = paint(shape('g', { class: `trace ${trace.role || ''}` }), trace.role);
  if (trace.type === 'bar') group.append(...bars(trace, x, y));
  else if (trace.fill) group.append(shape('path', { d: bandPath(before, trace, x, y), class: 'area' }));
  else if (trace.role !== 'edge') {
    const mode = trace.mode || 'lines+markers';
    if (mode.includes('lines')) group.append(shape('path', { d: linePath(trace, x, y), class: 'way' }));
    if (trace.error_y) group.append(...errorBars(trace, x, y));
    if (mode.includes('markers')) group.append(...markers(trace, x, y));
  }
  return group;
}
