// Above a replay that a search has led to: the flagged decision before and after this one.
import { html } from './preact-htm.js';
import { api, go, link, number, useJson } from './data.js';
import { flagged } from './decisions.js';
import { useKeys } from './keys.js';

export function Found({ query }) {
  const at = Math.trunc(Number(query.at)) || 0;
  const filter = Object.fromEntries(new URLSearchParams(query.found || ''));
  const address = query.found ? api('decisions', { ...filter, offset: Math.max(0, at - 1), limit: 3 }) : '';
  const answer = useJson(address);
  const data = answer.address === address ? answer.data : null;  // the answer before is about other rows
  const rows = data ? data.decisions : [];
  const first = Math.max(0, at - 1);
  const to = (place) => rows[place - first] && place >= 0 && flagged(filter.record, rows[place - first], query.found, place);
  const [before, after] = [at > 0 ? to(at - 1) : null, to(at + 1)];
  useKeys({ n: after && (() => go(after)), p: before && (() => go(before)) });
  if (!query.found || !data) return null;
  return html`<nav class="pager found" aria-label="Flagged decisions">
    <a href=${link('/decisions', filter)}>Flagged decision ${number(at + 1)} of ${number(data.found)}</a>
    ${before && html`<a href=${before}>Previous <kbd>p</kbd></a>`}
    ${after && html`<a href=${after}>Next flagged decision <kbd>n</kbd></a>`}</nav>`;
}
