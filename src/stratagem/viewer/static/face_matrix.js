// Repeated matrix games: the table of payoffs, and the history of joint actions.
import { html, useEffect, useRef } from './preact-htm.js';
import { number, short, visible } from './data.js';
import { drawn } from './faces.js';

function MatrixFace({ frame, before, turn, episode }) {
  const [rows, columns] = frame.labels;
  const last = before && frame.moves.length > before.moves.length ? frame.moves[frame.moves.length - 1] : null;
  const strip = useRef(null);
  useEffect(() => {
    strip.current.scrollLeft = strip.current.scrollWidth;
  }, [frame.moves.length]);
  return html`<div class="matrix"><div class="scroll" tabindex="0"><table><caption>Payoffs of <span class="seat s0">0</span> ${short(episode.players[0])} (rows) and <span class="seat s1">1</span> ${short(episode.players[1])} (columns)</caption>
    <thead><tr><td></td>${columns.map((label, column) => html`<th class=${last && last[1] === column ? 'chosen s1' : ''}>${visible(label)}</th>`)}</tr></thead>
    <tbody>${rows.map((label, row) => html`<tr><th class=${last && last[0] === row ? 'chosen s0' : ''}>${visible(label)}</th>
      ${columns.map((_, column) => html`<td class=${last && last[0] === row && last[1] === column ? 'cell now' : 'cell'}>
        <span class="p0">${number(frame.payoffs[row][column][0], 2)}</span><span class="p1">${number(frame.payoffs[row][column][1], 2)}</span></td>`)}</tr>`)}</tbody></table></div>
    ${turn && !last && html`<p class="problem">A reply was illegal, so this round does not count.</p>`}
    <div class="history" ref=${strip} role="img" aria-label=${`${frame.moves.length} rounds counted: ${frame.moves.map(([a, b]) => `${visible(rows[a])} and ${visible(columns[b])}`).join('; ')}`}>
      ${[0, 1].map((seat) => html`<div class="track"><span class=${`seat s${seat}`}>${seat}</span>${frame.moves.map((pair, place) =>
        html`<span class=${`step a${pair[seat] % 4} ${last && place === frame.moves.length - 1 ? 'now' : ''}`} title=${visible(frame.labels[seat][pair[seat]])}>${visible(frame.labels[seat][pair[seat]]).slice(0, 1)}</span>`)}</div>`)}
      ${frame.moves.length === 0 && html`<p class="dim">No round has been played.</p>`}
    </div></div>`;
}

export const { mount, render, unmount } = drawn(MatrixFace);
