// A die with its pips, in a square of 96.
import { html } from './preact-htm.js';

const PIPS = { 1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8] };

export function Die({ value, marked }) {
  return html`<g class=${`die ${marked ? 'marked' : ''}`}><rect x="6" y="6" width="84" height="84" rx="16" />
    ${value === null && html`<text x="48" y="64" text-anchor="middle">?</text>`}${(PIPS[value] || []).map((pip) => html`<circle cx=${24 + (pip % 3) * 24} cy=${24 + Math.floor(pip / 3) * 24} r="8" />`)}</g>`;
}
