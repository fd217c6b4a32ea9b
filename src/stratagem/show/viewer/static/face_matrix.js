// Repeated matrix games: the table of payoffs, and the history of joint actions.
import { html } from './preact-htm.js';
import { number, short, visible } from './data.js';
import { drawn } from './faces.js';
import { matrix } from './states.js';
import { History, Seat } from './parts.js';

function MatrixFace({ frame, before, turn, episode }) {
  const [rows, columns] = frame.labels;
  const last = before && frame.moves.length > before.moves.length ? frame.moves[frame.moves.length - 1] : null;
  return html`<div class="matrix"><div class="scroll" tabindex="0"><table><caption>Payoffs of <${Seat} seat=${0} /> ${short(episode.players[0])} (rows) and <${Seat} seat=${1} /> ${short(episode.players[1])} (columns)</caption>
    <thead><tr><td></td>${columns.map((label, column) => html`<th class=${last && last[1] === column ? 'chosen s1' : ''}>${visible(label)}</th>`)}</tr></thead>
    <tbody>${rows.map((label, row) => html`<tr><th class=${last && last[0] === row ? 'chosen s0' : ''}>${visible(label)}</th>
      ${columns.map((_, column) => html`<td class=${last && last[0] === row && last[1] === column ? 'cell now' : 'cell'}>
        <span class="p0">${number(frame.payoffs[row][column][0], 2)}</span><span class="p1">${number(frame.payoffs[row][column][1], 2)}</span></td>`)}</tr>`)}</tbody></table></div>
    ${turn && !last && html`<p class="problem">A reply was illegal, so this round does not count.</p>`}
    <${History} label=${`${frame.moves.length} rounds counted: ${frame.moves.map(([a, b]) => `${visible(rows[a])} and ${visible(columns[b])}`).join('; ')}`} counts=${last}
      tracks=${frame.labels.map((labels, seat) => ({ seat, steps: frame.moves.map((pair) => [`a${pair[seat] % 4}`, visible(labels[pair[seat]]).slice(0, 1), visible(labels[pair[seat]])]) }))}>
      ${frame.moves.length === 0 && html`<p class="dim">No round has been played.</p>`}<//></div>`;
}

export const { mount, render, unmount } = drawn(MatrixFace, matrix);
