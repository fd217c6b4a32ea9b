// Kuhn poker: the two cards, the betting, and the chips.
import { html } from './preact-htm.js';
import { short, signed, visible } from './data.js';

const WORDS = { P: 'pass', B: 'bet', C: 'call', F: 'fold' };
const PLACES = [{ card: 214, chips: 176, name: 318 }, { card: 26, chips: 148, name: 18 }];

function Chips({ count, seat }) {
  const y = PLACES[seat].chips;
  return html`<g class=${`chips s${seat}`} aria-hidden="true">${Array.from({ length: count }, (_, place) =>
    html`<g><circle cx=${250 + place * 22} cy=${y} r="11" /><circle class="rim" cx=${250 + place * 22} cy=${y} r="7" /></g>`)}</g>`;
}

function Seat({ seat, frame, turn, name }) {
  const place = PLACES[seat];
  const row = turn && turn.decisions.find((one) => one.seat === seat);
  const said = row && (row.action == null ? 'no legal reply' : visible(row.action));
  const folded = frame.line.endsWith('F') && (frame.opener + frame.line.length - 1) % 2 === seat;
  return html`<g class=${`hand ${folded ? 'folded' : ''}`}>
    <text class="name" x="200" y=${place.name} text-anchor="middle">${name}${frame.opener === seat ? ' · opens' : ''}</text>
    <rect class="card" x="168" y=${place.card} width="64" height="88" rx="8" />
    <text class="rank" x="200" y=${place.card + 57} text-anchor="middle">${frame.cards[seat]}</text>
    ${said && html`<g class="bubble"><rect x="24" y=${place.card + 28} width="120" height="32" rx="16" /><text x="84" y=${place.card + 49} text-anchor="middle">${said.slice(0, 14)}</text></g>`}
    ${turn && turn.payoffs && html`<text class=${`won ${turn.payoffs[seat] > 0 ? 'good' : 'bad'}`} x="252" y=${place.card + 54}>${signed(turn.payoffs[seat])} ${Math.abs(turn.payoffs[seat]) === 1 ? 'chip' : 'chips'}</text>`}
  </g>`;
}

export function KuhnFace({ frame, turn, episode }) {
  const pot = frame.chips[0] + frame.chips[1];
  const betting = [...frame.line].map((letter, place) => `seat ${(frame.opener + place) % 2} ${WORDS[letter]}`).join(', ') || 'no bet yet';
  const told = `Hand ${frame.hand + 1}. Seat 0 has ${frame.cards[0]}, seat 1 has ${frame.cards[1]}. ${betting}. Pot ${pot}.`;
  return html`<svg class="kuhn" viewBox="0 0 400 330" role="img" aria-label=${told}>
    <rect class="table" x="8" y="70" width="384" height="190" rx="95" />
    <text class="pot" x="60" y="168" text-anchor="middle">Pot ${pot}</text>
    <${Chips} count=${frame.chips[1]} seat=${1} /><${Chips} count=${frame.chips[0]} seat=${0} />
    ${[1, 0].map((seat) => html`<${Seat} key=${seat} seat=${seat} frame=${frame} turn=${turn} name=${short(episode.players[seat])} />`)}
  </svg>
  <p class="betting">${frame.line ? [...frame.line].map((letter, place) => html`<span><span class=${`seat s${(frame.opener + place) % 2}`}>${(frame.opener + place) % 2}</span>${WORDS[letter]}</span>`) : html`<span class="dim">Cards are dealt, each seat has put 1 chip in the pot.</span>`}</p>`;
}
