// The Resistance: roles, the team that is proposed, and every team before with its votes and FAIL cards.
import { html } from './preact-htm.js';
import { short } from './data.js';
import { drawn } from './faces.js';
import { resistance } from './states.js';
import { Seat } from './parts.js';

const PHASES = { propose: 'proposes a team', vote: 'All vote on the team.', mission: 'The team is on the mission.' };

function outcome(row) {
  if (row.fails == null) return html`<span class="dim">no mission</span>`;
  return html`<b class=${row.fails ? 'bad' : ''}>${row.fails ? `failed, ${row.fails} FAIL` : 'succeeded'}</b>`;
}

function ResistanceFace({ frame, episode }) {
  const { spies, hidden = [], phase, leader, team, past, over, sizes } = frame;
  const seats = episode.players.map((name, seat) => [seat, short(name)]);
  const went = past.filter((row) => row.fails != null);
  const failed = went.filter((row) => row.fails > 0).length;
  const now = over ? 'The game is over.' : phase === 'propose' ? `Seat ${leader} ${PHASES.propose}.` : PHASES[phase];
  return html`<div class="auction"><div class="scroll" tabindex="0"><table><caption>Teams: + is on the team, A approves, R rejects, L leads</caption>
    <thead><tr><th>Mission</th>${seats.map(([seat, name]) => html`<th><${Seat} seat=${seat} /> ${name}
      <div class="dim">${hidden.includes(seat) ? '?' : spies.includes(seat) ? 'spy' : 'resistance'}</div></th>`)}<th>Outcome</th></tr></thead>
    <tbody>${past.map((row, place) => html`<tr class=${place === past.length - 1 ? 'now' : ''}><th>${row.round + 1}</th>
      ${seats.map(([seat]) => html`<td class=${row.team.includes(seat) ? 'best' : ''}>${row.leader === seat ? 'L ' : ''}${row.team.includes(seat) ? '+ ' : ''}${row.approved_by.includes(seat) ? 'A' : 'R'}</td>`)}
      <td>${outcome(row)}</td></tr>`)}
    ${!over && phase === 'vote' && html`<tr class="open"><th>${went.length + 1}</th>${seats.map(([seat]) => html`<td class=${team.includes(seat) ? 'best' : ''}>${leader === seat ? 'L ' : ''}${team.includes(seat) ? '+' : ''}</td>`)}<td></td></tr>`}
    </tbody></table></div>
    <p class="betting"><span>${went.length - failed} missions succeeded, ${failed} failed, of ${sizes.length}. ${now}</span></p></div>`;
}

export const { mount, render, unmount } = drawn(ResistanceFace, resistance);
