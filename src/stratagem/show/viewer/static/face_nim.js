// Nim: the piles, with what has been taken as empty circles.
import { html } from './preact-htm.js';
import { drawn } from './faces.js';
import { nim } from './moves.js';

const SIZE = 40;

function NimFace({ frame, before, episode }) {
  const begun = episode.frames[0].piles;
  const width = 90 + Math.max(...begun, 1) * SIZE;
  return html`<svg class="nim" viewBox=${`0 0 ${width} ${begun.length * (SIZE + 12) + 8}`} role="img" aria-label=${`Piles: ${frame.piles.join(', ')}`}>
    ${begun.map((size, pile) => html`<g>
      <text x="8" y=${pile * (SIZE + 12) + 34}>Pile ${pile + 1}</text>
      ${Array.from({ length: size }, (_, place) => html`<circle class=${place < frame.piles[pile] ? 'left' : before && place < before.piles[pile] ? 'taken' : 'gone'}
        cx=${90 + place * SIZE} cy=${pile * (SIZE + 12) + 28} r="15" />`)}</g>`)}
  </svg>`;
}

export const { mount, render, unmount } = drawn(NimFace, nim);
