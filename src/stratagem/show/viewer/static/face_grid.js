// Boards of squares: marks, discs and pawns.
import { html } from './preact-htm.js';
import { drawn } from './faces.js';
import { grid } from './moves.js';

const NAMES = { marks: { x: 'X', o: 'O' }, discs: { x: 'X', o: 'O' }, pawns: { b: 'black', w: 'white' } };
const SIZE = 48;

function Piece({ kind, cell, x, y }) {
  const [cx, cy, r] = [x + SIZE / 2, y + SIZE / 2, SIZE * 0.3];
  if (kind === 'pawns') return html`<g class=${`pawn ${cell}`}><circle cx=${cx} cy=${cy - r * 0.55} r=${r * 0.5} />
    <path d=${`M${cx - r * 0.75} ${cy + r}c0 -${r * 1.5} ${r * 1.5} -${r * 1.5} ${r * 1.5} 0z`} /></g>`;
  if (kind === 'discs') return html`<g class=${`disc ${cell}`}><circle cx=${cx} cy=${cy} r=${SIZE * 0.38} /><text x=${cx} y=${cy + 5} text-anchor="middle">${cell.toUpperCase()}</text></g>`;
  if (cell === 'x') return html`<path class="mark x" d=${`M${cx - r} ${cy - r}l${2 * r} ${2 * r}M${cx + r} ${cy - r}l${-2 * r} ${2 * r}`} />`;
  return html`<circle class="mark o" cx=${cx} cy=${cy} r=${r} />`;
}

function GridFace({ frame, before }) {
  const { columns, rows, cells, kind } = frame;
  const left = rows.some((label) => label) ? 26 : 4;
  const width = left + columns.length * SIZE + 4;
  const height = 26 + cells.length * SIZE + 4;
  const size = 15 / Math.min(440 / width, 440 / height); // boards of any number of squares are drawn about equally large
  const changed = (row, column) => before && before.cells[row][column] !== cells[row][column];
  const names = NAMES[kind];
  const told = cells.map((line, row) => `${rows[row]} ${line.map((cell) => names[cell.toLowerCase()] || 'empty').join(', ')}`).join('; ');
  return html`<svg class=${`grid ${kind}`} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${`Board. ${told}`}>
    ${columns.map((label, column) => html`<text x=${left + column * SIZE + SIZE / 2} y="18" font-size=${size} text-anchor="middle">${label}</text>`)}
    ${cells.map((line, row) => html`<g key=${row}><text x="13" y=${26 + row * SIZE + SIZE / 2 + size / 3} font-size=${size} text-anchor="middle">${rows[row]}</text>
      ${line.map((cell, column) => {
        const [x, y] = [left + column * SIZE, 26 + row * SIZE];
        return html`<g key=${column}><rect class=${`square ${(row + column) % 2 ? 'odd' : ''} ${changed(row, column) ? 'changed' : ''}`} x=${x + 1} y=${y + 1} width=${SIZE - 2} height=${SIZE - 2} rx="4" />
          ${cell !== '.' && html`<${Piece} kind=${kind} cell=${cell.toLowerCase()} x=${x} y=${y} />`}</g>`;
      })}</g>`)}
  </svg>`;
}

export const { mount, render, unmount } = drawn(GridFace, grid);
