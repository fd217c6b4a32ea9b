// Poker with few cards: the private cards, the open card, the bets, and the chips.
import { html } from './preact-htm.js';
import { short, signed, visible } from './data.js';
import { drawn } from './faces.js';
import { kuhnPoker, leducPoker } from './moves.js';
import { kuhn } from './states.js';
import { Seat } from './parts.js';

const PLACES = [{ card: 236, chips: 196, name: 346 }, { card: 26, chips: 156, name: 16 }];

function Card({ x, y, rank }) {
  return html`<rect class="card" x=${x} y=${y} width="64" height="88" rx="8" />
    <text class="rank" x=${x + 32} y=${y + 57} text-anchor="middle">${rank ?? '?'}</text>`;
}

function Chips({ count, seat }) {
  const step = Math.min(22, 88 / Math.max(1, count - 1));
  return html`<g class=${`chips s${seat}`}>${Array.from({ length: count }, (_, place) =>
    html`<g><circle cx=${260 + place * step} cy=${PLACES[seat].chips} r="11" /><circle class="rim" cx=${260 + place * step} cy=${PLACES[seat].chips} r="7" /></g>`)}
    ${count > 5 && html`<text class="count" x="374" y=${PLACES[seat].chips + 5} text-anchor="end">${count}</text>`}</g>`;
}

function Hand({ seat, frame, turn, name }) {
  const place = PLACES[seat];
  const row = turn && turn.decisions.find((one) => one.seat === seat);
  const said = row && (row.action == null ? 'no legal reply' : visible(row.action));
  const paid = turn && turn.payoffs && turn.payoffs[seat];
  return html`<g class=${`hand ${frame.folded === seat ? 'folded' : ''}`}>
    <text class="name" x="200" y=${place.name} text-anchor="middle">${name}${frame.opener === seat ? ' · opens' : ''}</text>
    <${Card} x=${168} y=${place.card} rank=${frame.cards[seat]} />
    ${said && html`<g class="bubble"><rect x="24" y=${place.card + 28} width="120" height="32" rx="16" /><text x="84" y=${place.card + 49} text-anchor="middle">${said.slice(0, 14)}</text></g>`}
    ${paid != null && turn.payoffs && html`<text class=${`won ${paid > 0 ? 'good' : paid < 0 ? 'bad' : ''}`} x="252" y=${place.card + 49}>${signed(paid)} ${Math.abs(paid) === 1 ? 'chip' : 'chips'}</text>`}
  </g>`;
}

function CardsFace({ frame, turn, episode }) {
  const pot = frame.chips[0] + frame.chips[1];
  const betting = frame.bets.flat().map((bet) => `seat ${bet.seat} ${bet.word}`).join(', ') || 'no bet yet';
  const [first, second] = [...frame.cards].map((card) => card ?? 'a hidden card');
  const told = `${frame.hand == null ? '' : `Hand ${frame.hand + 1}. `}Seat 0 has ${first}, seat 1 has ${second}${frame.open ? `, the open card is ${frame.open}` : ''}. ${betting}. Pot ${pot}.`;
  return html`<svg class="poker" viewBox="0 0 400 356" role="img" aria-label=${told}>
    <rect class="table" x="8" y="72" width="384" height="208" rx="104" />
    <text class="pot" x="84" y="180" text-anchor="middle">Pot ${pot}</text>
    ${frame.open && html`<${Card} x=${168} y=${132} rank=${frame.open} />`}
    <${Chips} count=${frame.chips[1]} seat=${1} /><${Chips} count=${frame.chips[0]} seat=${0} />
    ${[1, 0].map((seat) => html`<${Hand} key=${seat} seat=${seat} frame=${frame} turn=${turn} name=${short(episode.players[seat])} />`)}
  </svg>
  ${frame.bets.some((bets) => bets.length) ? frame.bets.filter((bets) => bets.length).map((bets, index) => html`<p class="betting">${frame.bets.length > 1 && html`<span class="dim">Round ${index + 1}</span>`}
    ${bets.map((bet) => html`<span><${Seat} seat=${bet.seat} />${bet.word}</span>`)}</p>`)
    : html`<p class="betting"><span class="dim">Cards are dealt, each seat has put 1 chip in the pot.</span></p>`}`;
}

export const { mount, render, unmount } = drawn(CardsFace, (frame, board, ...rest) => ({ kuhn_poker: kuhnPoker, leduc_poker: leducPoker }[board.game] || kuhn)(frame, board, ...rest));
