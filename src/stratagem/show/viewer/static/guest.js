// The page of a link to one table: a seat, or a place to observe. It asks for nothing else.
import { html, render, useState } from './preact-htm.js';
import { Observing } from './observing.js';
import { Sitting, useTable } from './sitting.js';

function Guest() {
  const state = useTable();
  const [left, setLeft] = useState(false);
  if (left) return html`<h1>Play</h1><p role="status">You have left. Nobody can sit down at your seat by your link any more.</p>`;
  if (state.role === 'observer') return html`<${Observing} state=${state} />`;
  return html`<${Sitting} state=${state} leave="Leave" left=${() => setLeft(true)} />`;
}

const root = document.getElementById('page');
root.replaceChildren();
render(html`<main><${Guest} /></main>`, root);
