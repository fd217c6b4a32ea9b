// Public goods: who contributed, what each got from the pot, and who punished whom.
import { html } from './preact-htm.js';
import { number, short } from './data.js';
import { drawn } from './faces.js';
import { goods } from './states.js';
import { History, Seat } from './parts.js';

const [CX, CY, R] = [200, 116, 84];
const VERDICTS = ['spares everybody', 'punishes keepers', 'punishes contributors'];

function GoodsFace({ frame, episode }) {
  const { gave, punished, fine, multiplier, rounds } = frame;
  const last = gave[gave.length - 1];
  const seats = episode.players.length;
  const verdicts = punished.length === gave.length ? punished[punished.length - 1] : null;
  const given = last ? last.filter(Boolean).length : 0;
  const told = last ? `Round ${gave.length} of ${rounds}: ${last.map((one, seat) => `seat ${seat} ${one ? 'contributes' : 'keeps'}`).join(', ')}. Each gets ${number((multiplier * given) / seats, 2)} from the pot.` : 'No round has been played.';
  return html`<svg class="goods" viewBox="0 0 400 236" role="img" aria-label=${told}>
    <circle class="pot" cx=${CX} cy=${CY} r="46" /><text class="sum" x=${CX} y=${CY - 2} text-anchor="middle">${number(given)}</text>
    <text class="small" x=${CX} y=${CY + 18} text-anchor="middle">× ${number(multiplier, 2)} / ${seats}</text>
    ${episode.players.map((name, seat) => {
      const angle = (2 * Math.PI * (seat + 0.5)) / seats;
      const [x, y] = [CX + 1.5 * R * Math.sin(angle), CY - R * Math.cos(angle)];
      const [px, py] = [CX + 62 * Math.sin(angle) * 1.2, CY - 56 * Math.cos(angle)];
      return html`<g class=${`s${seat % 7}`}><circle class=${last && last[seat] ? 'coin given' : 'coin'} cx=${last && last[seat] ? px : x + (Math.sin(angle) >= 0 ? 26 : -26)} cy=${last && last[seat] ? py : y} r="9" />
        <circle class="who" cx=${x} cy=${y} r="14" /><text class="on" x=${x} y=${y + 5} text-anchor="middle">${seat}</text></g>`;
    })}
  </svg>
  <p class="betting">${last ? html`<span>${given} of ${seats} contribute, each gets <b>${number((multiplier * given) / seats, 2)}</b> from the pot.</span>` : html`<span class="dim">No round has been played.</span>`}</p>
  ${fine > 0 && last && html`<p class="betting">${verdicts
    ? html`<span>${verdicts.map((verdict, seat) => html`<${Seat} seat=${seat} /> ${VERDICTS[verdict]}${seat < seats - 1 ? ', ' : '.'}`)}</span>`
    : html`<span class="dim">Now all choose whom to punish; a fine is ${number(fine, 2)}.</span>`}</p>`}
  <${History} label=${`${gave.length} rounds: ${gave.map((row) => row.filter(Boolean).length).join(', ')} contributors`}
    tracks=${episode.players.map((name, seat) => ({ seat, title: short(name), steps: gave.map((row) => (row[seat] ? ['a0', 'C'] : ['a1', 'K'])) }))} />`;
}

export const { mount, render, unmount } = drawn(GoodsFace, goods);
