// Demands on a pie: seat 0's share clockwise from the top, seat 1's against it; where they overlap there is no deal.
import { html } from './preact-htm.js';
import { short } from './data.js';
import { drawn } from './faces.js';
import { pie } from './states.js';
import { History } from './parts.js';

const [CX, CY, R] = [200, 120, 100];

/** A sector from one share of the circle to another, from the top clockwise. */
function sector(from, to) {
  if (to - from >= 1) return `M${CX} ${CY - R}a${R} ${R} 0 1 1 -0.01 0z`;
  const at = (share) => `${(CX + R * Math.sin(2 * Math.PI * share)).toFixed(2)} ${(CY - R * Math.cos(2 * Math.PI * share)).toFixed(2)}`;
  return `M${CX} ${CY}L${at(from)}A${R} ${R} 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(to)}z`;
}

function Pie({ pie, demands }) {
  const [first, second] = demands.map((demand) => demand / pie);
  const clash = first + second > 1 + 1e-9;
  return html`<circle class="rest" cx=${CX} cy=${CY} r=${R} />
    ${first > 0 && html`<path class="share s0" d=${sector(0, first)} />`}
    ${second > 0 && html`<path class="share s1" d=${sector(1 - second, 1)} />`}
    ${clash && html`<path class="clash" d=${sector(1 - second, first)} />`}`;
}

function PieFace({ frame, episode }) {
  const { pie, demands, rounds } = frame;
  const last = demands[demands.length - 1];
  const fits = ([first, second]) => first + second <= pie;
  const told = last ? `Round ${demands.length}: seat 0 demands ${last[0]}, seat 1 demands ${last[1]} of ${pie}: ${fits(last) ? 'deal' : 'no deal'}` : `A pie of ${pie}, no demand yet`;
  return html`<svg class="pie" viewBox="0 0 400 240" role="img" aria-label=${told}>
    ${last ? html`<${Pie} pie=${pie} demands=${last} />` : html`<circle class="rest" cx=${CX} cy=${CY} r=${R} />`}
    ${last && html`<text class="demand s1" x="56" y="110" text-anchor="middle">${last[1]}</text><text class="demand s0" x="344" y="110" text-anchor="middle">${last[0]}</text>`}
    <text class="name" x="344" y="136" text-anchor="middle">${short(episode.players[0]).slice(0, 14)}</text><text class="name" x="56" y="136" text-anchor="middle">${short(episode.players[1]).slice(0, 14)}</text>
  </svg>
  <p class="betting">${last ? html`<b class=${fits(last) ? 'good' : 'bad'}>${fits(last) ? 'Deal' : 'No deal'}</b><span>${last[0]} + ${last[1]} = ${last[0] + last[1]} of ${pie}</span>` : html`<span class="dim">A pie of ${pie}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}.</span>`}</p>
  <${History} label=${`Demands so far: ${demands.map((pair) => pair.join(' and ')).join('; ') || 'none'}`}
    tracks=${[0, 1].map((seat) => ({ seat, steps: demands.map((pair) => [fits(pair) ? 'a0' : 'a1', pair[seat]]) }))} />`;
}

export const { mount, render, unmount } = drawn(PieFace, pie);
