// Liar's dice: the two hidden dice, and the bids one after another.
import { html } from './preact-htm.js';
import { short } from './data.js';
import { Die } from './dice.js';
import { drawn } from './faces.js';
import { liarsDice } from './moves.js';
import { Seat } from './parts.js';

const WILD = 6;

function LiarsDiceFace({ frame, episode }) {
  const { dice, bids, called } = frame;
  const last = bids[bids.length - 1];
  const count = last ? dice.filter((die) => die === last[1] || die === WILD).length : 0;
  const spelt = bids.map(([number, face], place) => `seat ${place % 2} bids ${number} of ${face}`).join(', ') || 'no bid yet';
  return html`<div class="dice" role="img" aria-label=${`Seat 0 has ${dice[0] ?? 'a hidden die'}, seat 1 has ${dice[1] ?? 'a hidden die'}; ${spelt}${called == null ? '' : `; seat ${called} calls liar`}`}>
    ${dice.map((die, seat) => html`<figure><svg viewBox="0 0 96 96" width="96" height="96"><${Die} value=${die} marked=${called != null && last && (die === last[1] || die === WILD)} /></svg>
      <figcaption><${Seat} seat=${seat} />${short(episode.players[seat])}</figcaption></figure>`)}</div>
  <ol class="bids">${bids.map(([number, face], place) => html`<li class=${place === bids.length - 1 ? 'now' : ''}><${Seat} seat=${place % 2} />
    ${number} × <svg viewBox="0 0 96 96" width="26" height="26" role="img" aria-label=${face}><${Die} value=${face} /></svg></li>`)}
    ${called != null && html`<li class="now"><${Seat} seat=${called} /><b>liar</b></li>`}</ol>
  <p class="betting">${called != null && last ? html`<span>The dice show ${count} of face ${last[1]}, sixes count as every face: <b>${count >= last[0] ? 'the bid holds' : 'the bid was a lie'}</b>.</span>`
    : !last && html`<span class="dim">The dice are thrown. Sixes count as every face.</span>`}</p>`;
}

export const { mount, render, unmount } = drawn(LiarsDiceFace, liarsDice);
