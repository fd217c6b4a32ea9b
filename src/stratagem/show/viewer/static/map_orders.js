// Orders of Diplomacy as arrows and marks on a map.
import { html } from './preact-htm.js';

const FAILED = ['bounce', 'no convoy', 'void', 'disrupted'];

/** Split orders such as `A PAR S A MAR - BUR` into their parts. */
export function readOrders(orders) {
  return orders.filter((one) => one.order !== 'WAIVE').map(({ power, order, codes }) => {
    const [kind, place, verb, ...rest] = order.split(' ');
    const words = rest.filter((word) => word !== 'VIA');
    const helped = 'SC'.includes(verb) ? words[1] : null;
    const dash = words.indexOf('-');
    const target = dash >= 0 ? words[dash + 1] : '-R'.includes(verb) ? words[0] : null;
    return { power, order, codes, unit: `${kind} ${place}`, place, verb, helped, target };
  });
}

function province(place) {
  return place.slice(0, 3);
}

function between([x, y], [u, v], share) {
  return [x + (u - x) * share, y + (v - y) * share];
}

/** A line that ends some pixels before its goal. */
function shortened(from, to, pixels) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  return between(from, to, Math.max(0.2, (length - pixels) / length));
}

function line(points) {
  return `M${points.map((point) => point.map((value) => value.toFixed(1)).join(' ')).join('L')}`;
}

/** The head of an arrow at the end of a line. */
function head(from, to) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const wing = (turn) => [to[0] - 12 * Math.cos(angle + turn), to[1] - 12 * Math.sin(angle + turn)];
  return `${line([wing(0.45), to, wing(-0.45)])}z`;
}

/** The way of a move: straight, or over the fleets that convoy it, the nearest first. */
function wayOf(move, orders, chart) {
  const way = [chart.at(move.place)];
  const fleets = move.unit[0] === 'A' ? orders.filter((one) => one.verb === 'C' && one.helped === move.place && province(one.target) === province(move.target)) : [];
  const rest = fleets.map((one) => chart.at(one.place));
  while (rest.length) {
    const [x, y] = way[way.length - 1];
    rest.sort((a, b) => Math.hypot(a[0] - x, a[1] - y) - Math.hypot(b[0] - x, b[1] - y));
    way.push(rest.shift());
  }
  const goal = chart.at(move.target);
  way.push(shortened(way[way.length - 1], goal, 15));
  return way;
}

function Move({ one, orders, chart, colour }) {
  const way = wayOf(one, orders, chart);
  const failed = one.codes.some((code) => FAILED.includes(code));
  const kind = `order move ${colour(one.power)} ${one.verb === 'R' ? 'retreat' : ''} ${failed ? 'failed' : ''}`;
  return html`<g class=${kind}><path class="halo" d=${line(way)} /><path class="shaft" d=${line(way)} /><path class="head" d=${head(way[way.length - 2], way[way.length - 1])} /></g>`;
}

/** Where a support or a convoy points: the middle of the move that it helps, or the unit that stays. */
function helpedPoint(one, orders, chart) {
  const from = chart.at(one.helped);
  if (!one.target) return shortened(chart.at(one.place), from, 17);
  const move = orders.find((other) => other.target && other.verb === '-' && province(other.place) === province(one.helped) && province(other.target) === province(one.target));
  const way = move ? wayOf(move, orders, chart) : [from, chart.at(one.target)];
  const last = Math.max(1, Math.floor(way.length / 2));
  return between(way[last - 1], way[last], 0.55);
}

function Help({ one, orders, chart, colour }) {
  const [from, to] = [chart.at(one.place), helpedPoint(one, orders, chart)];
  const kind = one.verb === 'C' ? 'convoy' : 'support';
  const lost = one.codes.some((code) => code === 'cut' || code === 'void' || code === 'dislodged');
  return html`<g class=${`order ${kind} ${colour(one.power)} ${lost ? 'failed' : ''}`}><path class="halo" d=${line([from, to])} /><path class="shaft" d=${line([from, to])} /><circle class="ring" cx=${to[0]} cy=${to[1]} r="4" /></g>`;
}

function Cross({ at, size = 6, kind }) {
  const [x, y] = at;
  return html`<path class=${`cross ${kind}`} d=${`M${x - size} ${y - size}l${2 * size} ${2 * size}M${x + size} ${y - size}l${-2 * size} ${2 * size}`} />`;
}

function Mark({ one, orders, chart, colour }) {
  const at = chart.at(one.place);
  if (one.verb === 'D') return html`<${Cross} at=${at} size=${13} kind="disband" />`;
  if (one.verb === 'H') return html`<circle class=${`hold ${colour(one.power)}`} cx=${at[0]} cy=${at[1]} r="16" />`;
  if (one.verb === 'B') return html`<g class=${`built ${colour(one.power)}`} transform=${`translate(${at[0]} ${at[1]})`}><path d=${one.unit[0] === 'A' ? 'M-10-9h20v18h-20z' : 'M-14-5h28l-6 12h-16z'} /><text y="5" text-anchor="middle">+</text></g>`;
  if (one.target && '-R'.includes(one.verb) && one.codes.some((code) => FAILED.includes(code))) {
    const way = wayOf(one, orders, chart);
    return html`<${Cross} at=${between(way[way.length - 2], way[way.length - 1], 0.72)} kind="bounce" />`;
  }
  if (!one.helped) return null;
  const middle = between(at, helpedPoint(one, orders, chart), 0.55);
  if (one.codes.includes('void')) return html`<text class="void" x=${middle[0]} y=${middle[1] + 6} text-anchor="middle">∅</text>`;
  return one.codes.includes('cut') || one.codes.includes('dislodged') ? html`<${Cross} at=${middle} size=${5} kind="cut" />` : null;
}

/** The lines below the units, or the marks above them. */
export function Orders({ orders, chart, colour, layer }) {
  const Part = layer === 'marks' ? Mark : null;
  return html`<g aria-hidden="true">${orders.map((one) => {
    const Drawn = Part || (one.target && '-R'.includes(one.verb) ? Move : one.helped ? Help : null);
    return Drawn && html`<${Drawn} key=${one.order} one=${one} orders=${orders} chart=${chart} colour=${colour} />`;
  })}</g>`;
}
