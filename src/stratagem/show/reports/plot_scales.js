// Scales of a picture: from data to pixels, and round numbers on an axis.

/** The least and the greatest finite number. */
export function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** A range with a margin on both sides, so that nothing lies on the frame. */
export function padded([low, high], share) {
  const margin = low === high ? Math.abs(low) * 0.1 || 1 : (high - low) * share;
  return [low - margin, high + margin];
}

/** A linear scale, and its inverse. */
export function linear([low, high], [from, to]) {
  const scale = (value) => from + ((value - low) / (high - low)) * (to - from);
  scale.invert = (pixel) => low + ((pixel - from) / (to - from)) * (high - low);
  scale.domain = [low, high];
  return scale;
}

/** A scale of names, from the first to the last. */
export function categorical(names, [from, to]) {
  const step = (to - from) / Math.max(1, names.length);
  const scale = (name) => from + step * (names.indexOf(name) + 0.5);
  scale.names = names;
  scale.step = Math.abs(step);
  return scale;
}

/** Round numbers over a range with their texts; `whole` leaves out fractions. */
export function ticks([low, high], wanted, { percent = false, whole = false } = {}) {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = (whole ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10]).map((factor) => factor * power).find((size) => size >= raw * (1 - 1e-9));
  if (whole) step = Math.max(1, Math.round(step));
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found.map((value) => [value, tickText(value, step, percent)]);
}

function tickText(value, step, percent) {
  const scale = percent ? 100 : 1;
  const [size, unit] = [value * scale, step * scale];
  const digits = Math.max(0, -Math.floor(Math.log10(unit) + 1e-9));
  const exact = Math.abs(unit * 10 ** digits - Math.round(unit * 10 ** digits)) < 1e-6 ? digits : digits + 1;
  const text = Math.abs(size) >= 1e6 || (size !== 0 && exact > 6) ? size.toExponential(1) : size.toFixed(exact);
  return `${Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−')}${percent ? ' %' : ''}`;
}

/** A number as people read it. */
export function figure(value) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9) return value.toLocaleString('en').replace('-', '−');
  const text = size < 0.001 || size >= 1e6 ? value.toExponential(2) : value.toFixed(size >= 100 ? 1 : 3);
  return text.replace('-', '−');
}
