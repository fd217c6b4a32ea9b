// Goofspiel: both hands, the prizes, and who took them.
import { html } from './preact-htm.js';
import { short } from './data.js';
import { drawn } from './faces.js';
import { goofspiel } from './moves.js';

const [WIDTH, STEP] = [52, 66];

function Card({ x, y, value, kind }) {
  return html`<g class=${kind}><rect class="card" x=${x} y=${y} width=${WIDTH} height="72" rx="7" /><text class="rank" x=${x + WIDTH / 2} y=${y + 46} text-anchor="middle">${value}</text></g>`;
}

function settled(frame) {
  return frame.prizes.slice(0, frame.hands[0].length ? -1 : undefined);
}

/** The seats that took the prizes between two frames, null for nobody; the last two prizes go in one turn. */
function takers(frame, before) {
  const prizes = settled(frame).slice(settled(before).length);
  const all = prizes.reduce((sum, prize) => sum + prize, 0);
  return prizes.map((prize) => {
    const seat = frame.points.findIndex((points, place) => [prize, all].includes(points - before.points[place]));
    return seat < 0 ? null : seat;
  });
}

function GoofspielFace({ frame, before, episode, position }) {
  const cards = episode.frames[0].hands[0];
  const took = [];
  for (let place = 1; place <= position; place += 1) took.push(...takers(episode.frames[place], episode.frames[place - 1]));
  const middle = (seat) => (seat === 1 ? 30 : 242);
  const spent = (seat) => (before ? before.hands[seat].filter((card) => !frame.hands[seat].includes(card)) : []);
  const told = frame.hands.map((hand, seat) => `Seat ${seat} holds ${hand.join(', ') || 'no card'} and has ${frame.points[seat]} points`).join('. ');
  return html`<svg class="goof" viewBox=${`0 0 ${Math.max(400, 16 + cards.length * STEP)} 346`} role="img" aria-label=${`${told}. Prizes: ${frame.prizes.join(', ')}.`}>
    ${[1, 0].map((seat) => html`<g class=${`s${seat}`}>
      <text class="name" x="8" y=${seat === 1 ? 18 : 338}>${short(episode.players[seat])} · ${frame.points[seat]} ${frame.points[seat] === 1 ? 'point' : 'points'}</text>
      ${cards.map((card, place) => html`<${Card} x=${8 + place * STEP} y=${middle(seat)} value=${card}
        kind=${frame.hands[seat].includes(card) ? 'held' : spent(seat).includes(card) ? 'spent now' : 'spent'} />`)}</g>`)}
    <text class="dim" x="8" y="128">Prizes</text>
    ${frame.prizes.map((prize, place) => html`<${Card} x=${8 + place * STEP} y=${138} value=${prize}
      kind=${place < took.length ? (took[place] == null ? 'prize split' : `prize s${took[place]}`) : 'prize open'} />`)}
  </svg>`;
}

export const { mount, render, unmount } = drawn(GoofspielFace, goofspiel);
