// Any game without a face of its own: what each seat reads, and what it has just done.
import { html } from './preact-htm.js';
import { short, visible } from './data.js';
import { drawn } from './faces.js';
import { Seat } from './parts.js';

function TextFace({ frame, turn, episode }) {
  const moved = (seat) => turn && turn.decisions.filter((row) => row.seat === seat);
  return html`<div class="views">${frame.situations.map((text, seat) => html`<figure key=${seat} class=${turn && moved(seat).length ? 'moved' : ''}>
    <figcaption><${Seat} seat=${seat} />${episode.seat_names[seat] ? `${visible(episode.seat_names[seat])}, ` : ''}${short(episode.players[seat])}
      ${frame.to_act && frame.to_act.includes(seat) && html`<span class="badge">to act</span>`}</figcaption>
    ${turn && moved(seat).map((row) => html`<p class="did">${row.action == null ? html`<i>no legal reply</i>` : visible(row.action)}</p>`)}
    <pre>${visible(text)}</pre></figure>`)}</div>`;
}

export const { mount, render, unmount } = drawn(TextFace);
