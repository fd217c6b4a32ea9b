// A command that can be copied.
import { html, useState } from './preact-htm.js';
import { visible } from './data.js';

/** A word of a shell command, in quotes where it needs them. */
export function quoted(word) {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

export function Copy({ words }) {
  const [done, setDone] = useState(false);
  const text = words.map(quoted).join(' ');
  if (text !== visible(text)) return null;
  const copy = () => navigator.clipboard.writeText(text).then(() => setDone(true), () => setDone(false));
  return html`<p class="copy small"><code>${text}</code><button type="button" onClick=${copy}>${done ? 'Copied' : 'Copy as command'}</button></p>`;
}
