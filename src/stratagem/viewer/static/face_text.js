// Any game without a face of its own: what each seat reads.
import { html } from './preact-htm.js';
import { short, visible } from './data.js';

export function TextFace({ frame, turn, episode }) {
  const moved = turn ? turn.decisions.map((row) => row.seat) : [];
  return html`<div class="views">${frame.situations.map((text, seat) => html`<figure key=${seat} class=${moved.includes(seat) ? 'moved' : ''}>
    <figcaption><span class=${`seat s${seat % 6}`}>${seat}</span>${short(episode.players[seat])} reads</figcaption><pre>${visible(text)}</pre></figure>`)}</div>`;
}
