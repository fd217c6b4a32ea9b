// Curves as SVG.
import { html, useRef, useState } from './preact-htm.js';
import { number, visible } from './data.js';

function points(curve) {
  return curve.steps.map((step, place) => [step, curve.values[place]]);
}

function span(values) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return low === high ? [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1] : [low, high];
}

/** A path over the finite values, broken where there is none. */
function path(all, x, y) {
  let text = '';
  let pen = 'M';
  for (const [step, value] of all) {
    if (value == null) pen = 'M';
    else {
      text += `${pen}${x(step).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = 'L';
    }
  }
  return text;
}

/** Round numbers over an interval. */
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const found = [];
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found.map((value) => [value, Math.abs(value) >= 1e6 ? value.toExponential(1) : value.toFixed(Math.min(6, digits)).replace('-', '−')]);
}

export function Sparkline({ curve, name }) {
  const all = points(curve);
  const finite = all.filter(([, value]) => value != null);
  if (finite.length < 2) return null;
  const [low, high] = span(finite.map(([, value]) => value));
  const [from, to] = span(all.map(([step]) => step));
  const x = (step) => 2 + ((step - from) / (to - from)) * 116;
  const y = (value) => 26 - ((value - low) / (high - low)) * 24;
  const last = finite[finite.length - 1];
  return html`<svg class="spark" viewBox="0 0 120 28" width="120" height="28" role="img"
    aria-label=${`${visible(name)} from ${number(finite[0][1])} to ${number(last[1])}`}>
    <path d=${path(all, x, y)} /><circle cx=${x(last[0])} cy=${y(last[1])} r="2.4" /></svg>`;
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [420, 200, 52, 12, 10, 26];

/** One metric over the steps, with the value under the pointer. */
export function Chart({ name, curve, best }) {
  const [held, setHeld] = useState(null);
  const canvas = useRef(null);
  const all = points(curve);
  const finite = all.filter(([, value]) => value != null);
  if (!finite.length) return html`<figure class="plot"><figcaption>${visible(name)}</figcaption><p class="dim">No finite value in ${all.length} steps.</p></figure>`;
  const [low, high] = span(finite.map(([, value]) => value));
  const [from, to] = finite.length > 1 ? span(finite.map(([step]) => step)) : [finite[0][0] - 1, finite[0][0] + 1];
  const x = (step) => LEFT + ((step - from) / (to - from)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - ((value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const find = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const step = from + (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT) * (to - from);
    setHeld(finite.reduce((near, one) => (Math.abs(one[0] - step) < Math.abs(near[0] - step) ? one : near)));
  };
  const last = finite[finite.length - 1];
  const told = held || last;
  const whole = ticks(from, to, 5).map(([step]) => step).filter(Number.isInteger);
  return html`<figure class="plot">
    <figcaption>${visible(name)}<span class="value"><b>${number(told[1])}</b> at step ${told[0]}</span></figcaption>
    <svg ref=${canvas} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" onPointerMove=${find} onPointerLeave=${() => setHeld(null)}
      aria-label=${`${visible(name)}: ${number(finite[0][1])} at step ${finite[0][0]}, ${number(last[1])} at step ${last[0]}, between ${number(low)} and ${number(high)}, ${curve.points} values`}>
      ${ticks(low, high, 4).map(([value, told]) => html`<g class="tick"><line x1=${LEFT} x2=${WIDTH - RIGHT} y1=${y(value)} y2=${y(value)} />
        <text x=${LEFT - 6} y=${y(value) + 4} text-anchor="end">${told}</text></g>`)}
      ${whole.map((step) => html`<text class="tick" x=${x(step)} y=${HEIGHT - 8} text-anchor="middle">${step}</text>`)}
      ${best != null && best >= from && best <= to && html`<line class="best" x1=${x(best)} x2=${x(best)} y1=${TOP} y2=${HEIGHT - BOTTOM} />`}
      <path class="line" d=${path(all, x, y)} />
      ${finite.length < 30 && finite.map(([step, value]) => html`<circle class="dot" cx=${x(step)} cy=${y(value)} r="2.6" />`)}
      ${held && html`<circle class="held" cx=${x(held[0])} cy=${y(held[1])} r="4.5" />`}
    </svg></figure>`;
}
