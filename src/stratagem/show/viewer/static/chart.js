// Curves: small ones in tables, and the picture of one metric of one run.
import { html } from './preact-htm.js';
import { Picture, reading } from './picture.js';
import { count, number, visible } from './data.js';

function points(curve) {
  return curve.steps.map((step, place) => [step, curve.values[place]]);
}

function span(values) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return low === high ? [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1] : [low, high];
}

export function Sparkline({ curve, name }) {
  const all = points(curve).filter(([, value]) => value != null);
  if (all.length < 2) return null;
  const [low, high] = span(all.map(([, value]) => value));
  const [from, to] = span(all.map(([step]) => step));
  const x = (step) => 2 + ((step - from) / (to - from)) * 116;
  const y = (value) => 26 - ((value - low) / (high - low)) * 24;
  const last = all[all.length - 1];
  return html`<svg class="spark" viewBox="0 0 120 28" width="120" height="28" role="img"
    aria-label=${`${visible(name)} from ${number(all[0][1])} to ${number(last[1])}`}>
    <path d=${all.map(([step, value], place) => `${place ? 'L' : 'M'}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join('')} />
    <circle cx=${x(last[0])} cy=${y(last[1])} r="2.4" /></svg>`;
}

/** One metric over the steps, with the best checkpoint and the steps at which checks found something. */
export function Chart({ name, curve, best, noted = [] }) {
  const finite = points(curve).filter(([, value]) => value != null);
  if (!finite.length) return html`<figure class="plot"><figcaption>${visible(name)}</figcaption><p class="dim">No finite value in ${curve.points} steps.</p></figure>`;
  const [first, last] = [finite[0], finite[finite.length - 1]];
  const [low, high] = [Math.min(...finite.map(([, value]) => value)), Math.max(...finite.map(([, value]) => value))];
  const traces = [{ x: curve.steps, y: curve.values, role: 'chosen', mode: finite.length > 40 ? 'lines' : 'lines+markers' }];
  const layout = {
    marks: best != null && best >= first[0] && best <= last[0] ? [best] : [],
    noted: noted.filter((step) => step >= first[0] && step <= last[0]),
    levels: curve.chance == null ? [] : [{ value: curve.chance, name: `chance ${number(curve.chance)}` }],
  };
  const facts = reading({ unit: curve.unit, n: count(curve.points, 'step'), chance: curve.chance == null ? 'not measured' : number(curve.chance) });
  return html`<${Picture} title=${name} value=${html`<b>${number(last[1])}</b> at step ${last[0]}`} traces=${traces} layout=${layout} facts=${facts}
    label=${`${name}: ${number(first[1])} at step ${first[0]}, ${number(last[1])} at step ${last[0]}, between ${number(low)} and ${number(high)}, ${curve.points} values. ${facts}`} />`;
}
