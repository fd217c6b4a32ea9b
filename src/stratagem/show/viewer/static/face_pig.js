// Pig: both scores on their way to the goal, the total of the turn, and the die.
import { html } from './preact-htm.js';
import { short } from './data.js';
import { Die } from './dice.js';
import { drawn } from './faces.js';
import { pig } from './moves.js';

const [LEFT, WIDTH] = [8, 384];

function PigFace({ frame, turn, episode }) {
  const { scores, total, mover, die, goal } = frame;
  const x = (points) => LEFT + (Math.min(points, goal) / goal) * WIDTH;
  const told = `Scores ${scores.join(' and ')} of ${goal}. Seat ${mover} is to move, with ${total} in this turn.${die ? ` The die shows ${die}.` : ''}`;
  const said = turn && turn.decisions[0].action;
  return html`<svg class="pig" viewBox="0 0 400 250" role="img" aria-label=${told}>
    ${scores.map((score, seat) => html`<g class=${`s${seat}`}>
      <text class="name" x=${LEFT} y=${28 + seat * 66}>${short(episode.players[seat])}</text>
      <text class="points" x="392" y=${28 + seat * 66} text-anchor="end">${score}${mover === seat && total > 0 ? ` + ${total}` : ''}</text>
      <rect class="lane" x=${LEFT} y=${38 + seat * 66} width=${WIDTH} height="18" rx="9" />
      ${mover === seat && total > 0 && html`<rect class="total" x=${LEFT} y=${38 + seat * 66} width=${x(score + total) - LEFT} height="18" rx="9" />`}
      ${score > 0 && html`<rect class="score" x=${LEFT} y=${38 + seat * 66} width=${Math.max(18, x(score) - LEFT)} height="18" rx="9" />`}
    </g>`)}
    ${die ? html`<g transform="translate(152 146)"><${Die} value=${die} marked=${die > 1} /></g>`
    : html`<text class="said" x="200" y="200" text-anchor="middle">${said === 'stop' ? 'The turn is over, its total counts.' : 'No die is thrown yet.'}</text>`}
    ${die === 1 && html`<text class="lost" x="266" y="198">The turn is lost.</text>`}
  </svg>`;
}

export const { mount, render, unmount } = drawn(PigFace, pig);
