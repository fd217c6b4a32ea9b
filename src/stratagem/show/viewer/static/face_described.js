// Described games: open pieces and the pot, and a row for each seat with its hand, actions, chips and payoff.
import { html } from './preact-htm.js';
import { count, number, short, signed, visible } from './data.js';
import { drawn } from './faces.js';
import { Seat } from './parts.js';

function Piece({ item, face }) {
  return html`<span class=${`piece ${face == null ? 'down' : ''}`} title=${visible(item)}>${face == null ? '?' : visible(face)}</span>`;
}

function Hand({ pieces }) {
  return pieces.length ? pieces.map((one) => html`<${Piece} ...${one} />`) : html`<span class="dim">–</span>`;
}

function amount(value, unit) {
  return value == null ? '–' : count(value, visible(unit));
}

function tell({ seats, open, pot }, { unit }) {
  const rows = seats.map((one, seat) => {
    const hand = one.hand.map((piece) => piece.face ?? 'a hidden one').join(' ') || 'nothing';
    return `Seat ${seat} holds ${hand}, played ${one.actions.map((action) => action.word).join(', ') || 'nothing yet'}`;
  });
  const middle = open.length ? ` Open: ${open.map((piece) => piece.face).join(' ')}.` : '';
  return visible(`${rows.join('. ')}.${middle}${pot ? ` Pot ${amount(pot, unit)}.` : ''}`);
}

function DescribedFace({ frame, episode }) {
  const { rounds, unit } = episode.board;
  const [put, paid] = [frame.seats.some((one) => one.put), frame.seats.some((one) => one.gain != null)];
  return html`<div class="described" role="group" aria-label=${tell(frame, episode.board)}>
    <p class="middle">${rounds > 1 && html`<span class="dim">Round ${frame.round + 1}</span>`}
      ${frame.open.length > 0 && html`<span>Open <${Hand} pieces=${frame.open} /></span>`}
      ${frame.pot > 0 && html`<span>Pot <b>${amount(frame.pot, unit)}</b></span>`}</p>
    <div class="scroll" tabindex="0"><table><thead><tr><th>Seat</th><th>Holds</th><th>Actions</th>${put && html`<th>In the pot</th>`}${paid && html`<th>Payoff</th>`}</tr></thead>
    <tbody>${frame.seats.map((one, seat) => html`<tr key=${seat} class=${`${frame.to_act.includes(seat) ? 'now' : ''} ${one.out ? 'out' : ''}`}>
      <th scope="row"><${Seat} seat=${seat} /> <span class="name">${short(episode.players[seat] ?? '')}</span>${frame.to_act.includes(seat) && html` <span class="dim">to act</span>`}</th>
      <td><${Hand} pieces=${one.hand} /></td>
      <td>${one.actions.length ? one.actions.map(({ name, word }) => html`<span class="did">${name && html`<span class="dim">${visible(name)} </span>`}${visible(word)}</span>`) : html`<span class="dim">–</span>`}${one.out && html`<span class="dim">out</span>`}</td>
      ${put && html`<td>${number(one.put, 2)}</td>`}${paid && html`<td class=${one.gain > 0 ? 'good' : one.gain < 0 ? 'bad' : ''}>${signed(one.gain)}</td>`}</tr>`)}</tbody></table></div>
  </div>`;
}

export const { mount, render, unmount } = drawn(DescribedFace);
