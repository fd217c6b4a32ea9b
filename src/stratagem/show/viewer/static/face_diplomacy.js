// Diplomacy: the map of a phase, with units, owners of centres, and orders as arrows.
import { html, useEffect, useMemo, useRef, useState } from './preact-htm.js';
import { visible } from './data.js';
import { drawn } from './faces.js';
import { Orders, readOrders } from './map_orders.js';
import STANDARD from './map_standard.js';

const SEASONS = { S: 'Spring', F: 'Fall', W: 'Winter' };
const KINDS = { M: 'movement', R: 'retreats', A: 'adjustments' };

function spelt(phase) {
  return phase === 'COMPLETED' ? 'The end' : `${SEASONS[phase[0]]} ${phase.slice(1, -1)}, ${KINDS[phase.slice(-1)]}`;
}

/** What is fixed of a map: places, and how it finds that of a unit at a coast. */
function chartOf(board) {
  const places = board.map === 'standard' ? STANDARD.places : board.layout.places;
  return { ...board, size: board.map === 'standard' ? STANDARD.size : [1000, 1000], at: (name) => places[name] || places[name.slice(0, 3)], places };
}

/** Land, seas and borders, drawn again only where an owner changes. */
function Ground({ chart, owners, colour }) {
  const key = chart.centers.map((name) => owners[name] || '').join();
  return useMemo(() => {
    const shade = (name) => (owners[name] ? `land owned ${colour(owners[name])}` : 'land');
    const provinces = Object.keys(chart.places).filter((name) => name.length === 3);
    const ground = chart.map === 'standard' ? html`
      ${Object.entries(STANDARD.sea).map(([name, path]) => html`<path class="water" d=${path} />`)}
      ${Object.entries(STANDARD.land).map(([name, path]) => html`<path class=${shade(name)} d=${path} />`)}
      <path class="closed" d=${STANDARD.closed} /><path class="isle" d=${STANDARD.isles} />` : html`
      ${chart.layout.pairs.map(([one, other]) => html`<line class="border" x1=${chart.at(one)[0]} y1=${chart.at(one)[1]} x2=${chart.at(other)[0]} y2=${chart.at(other)[1]} />`)}
      ${provinces.map((name) => html`<circle class=${shade(name)} cx=${chart.at(name)[0]} cy=${chart.at(name)[1]} r="24" />`)}`;
    return html`<g aria-hidden="true">${ground}
      ${chart.centers.map((name) => html`<g class=${`centre ${owners[name] ? colour(owners[name]) : ''}`} transform=${`translate(${chart.at(name)[0] - 15} ${chart.at(name)[1] - 11})`}><circle r="4.6" /><circle class="dot" r="1.7" /></g>`)}
      ${provinces.map((name) => html`<text class="name" x=${chart.at(name)[0]} y=${chart.at(name)[1] + 22} text-anchor="middle">${name}</text>`)}</g>`;
  }, [chart, key]);
}

/** An army is a square and a fleet a hull; the letter is its power's. */
function Unit({ unit, power, at, colour, kind }) {
  const shape = unit[0] === 'A' ? 'M-10-9h20v18h-20z' : 'M-14-5h28l-6 12h-16z';
  return html`<g class=${`unit ${colour(power)} ${kind}`} transform=${`translate(${at[0]} ${at[1]})`}><title>${`${power}: ${unit}${kind ? `, ${kind}` : ''}`}</title>
    <path d=${shape} /><text y="4.5" text-anchor="middle">${power[0]}</text></g>`;
}

function Units({ chart, position, colour, out }) {
  const units = Object.entries(position.units).flatMap(([power, own]) => own.map((unit) => [power, unit, out.has(unit) ? 'dislodged' : '']));
  const left = Object.entries(position.dislodged).flatMap(([power, own]) => Object.keys(own).map((unit) => [power, unit, 'retreating']));
  return [...units, ...left].map(([power, unit, kind]) => {
    const [x, y] = chart.at(unit.slice(2));
    return html`<${Unit} key=${`${kind}${unit}`} unit=${unit} power=${power} colour=${colour} kind=${kind} at=${kind === 'retreating' ? [x + 15, y + 12] : [x, y]} />`;
  });
}

function Standing({ position, colour, order }) {
  return html`<ul class="standing" aria-label="Centres and units">${order.map((power) => html`<li><span class=${`flag ${colour(power)}`}>${power[0]}</span>
    <span class="power">${visible(power[0] + power.slice(1).toLowerCase())}</span><b>${(position.centers[power] || []).length}</b><span class="dim">${(position.units[power] || []).length} units</span></li>`)}</ul>`;
}

function Legend() {
  return html`<details class="legend"><summary>Marks</summary><p>Squares are armies, hulls are fleets, and the letter is the power's. A solid arrow moved; a dashed one bounced (×) or found no convoy.
    A thin line with a ring is a support: of a stay at the unit, of a move at the arrow. × on it: cut. ∅: void. A dotted line from a fleet is a convoy.
    A circle holds. A red frame was dislodged; it retreats along a dotted arrow, or is crossed out and disbands. + is a build.
    A province has the colour of the owner of its centre at the last count.</p></details>`;
}

function DiplomacyFace({ frame, position, episode }) {
  const [after, setAfter] = useState(false);
  const box = useRef(null);
  useEffect(() => {
    box.current.scrollLeft = (box.current.scrollWidth - box.current.clientWidth) / 2; // a phone begins in the middle
  }, []);
  const chart = useMemo(() => chartOf(episode.board), [episode]);
  const seat = (power) => episode.seat_names.indexOf(power);
  const colour = (power) => (seat(power) < 0 ? 'absent' : `s${seat(power) % 7}`);
  const shown = after && frame.result ? frame.result : frame.position;
  const orders = useMemo(() => readOrders(frame.orders), [frame]);
  const owners = Object.fromEntries(Object.entries(shown.centers).flatMap(([power, own]) => own.map((name) => [name, power])));
  const told = shown === frame.position ? orders : [];
  const out = new Set(told.filter((one) => one.codes.includes('dislodged')).map((one) => one.unit));
  const ranked = [...episode.board.powers].sort((a, b) => shown.centers[b].length - shown.centers[a].length || (a < b ? -1 : 1));
  const count = Object.values(shown.units).reduce((sum, own) => sum + own.length, 0);
  return html`<div class="diplomacy"><div class="head"><h3>${position === 0 ? 'Before the first orders' : spelt(frame.position.phase)}</h3>
      ${frame.result && html`<div class="tabs" role="group" aria-label="What the map shows">
        <button aria-pressed=${!after} onClick=${() => setAfter(false)}>Orders</button><button aria-pressed=${after} onClick=${() => setAfter(true)}>Result</button></div>`}</div>
    <div class="chart" ref=${box} tabindex="0" role="region" aria-label="Map"><svg viewBox=${`0 0 ${chart.size.join(' ')}`} role="img" aria-label=${`Map of ${spelt(shown.phase)} with ${count} units${told.length ? ` and ${told.length} orders, which the log tells` : ''}`}>
      <${Ground} chart=${chart} owners=${owners} colour=${colour} />
      <${Orders} orders=${told} chart=${chart} colour=${colour} layer="lines" />
      <${Units} chart=${chart} position=${shown} colour=${colour} out=${out} />
      <${Orders} orders=${told} chart=${chart} colour=${colour} layer="marks" />
    </svg></div>
    <${Standing} position=${shown} colour=${colour} order=${ranked} /><${Legend} /></div>`;
}

export const { mount, render, unmount } = drawn(DiplomacyFace);
