// Above a replay that a list has led to: the flagged decision, or the episode, before and after this one.
import { html } from './preact-htm.js';
import { api, go, link, number, useJson } from './data.js';
import { flagged } from './decisions.js';
import { useKeys } from './keys.js';
import { PAGE } from './parts.js';

/** The rows of a list around one place; `text` holds the list's filter, and is empty where no list led here. */
function useAround(name, text, place) {
  const at = Math.trunc(Number(place)) || 0;
  const first = Math.max(0, at - 1);
  const filter = Object.fromEntries(new URLSearchParams(text || ''));
  const address = text ? api(name, { ...filter, offset: first, limit: 3 }) : '';
  const answer = useJson(address);
  const data = answer.address === address ? answer.data : null;  // the answer before is about other rows
  const row = (other) => (data && other >= first && data[name][other - first]) || null;
  return { at, filter, data, row, page: { ...filter, offset: (at - at % PAGE) || '' } };
}

export function Found({ query }) {
  const { at, filter, page, data, row } = useAround('decisions', query.found, query.at);
  const to = (place) => row(place) && flagged(filter.record, row(place), query.found, place);
  const [before, after] = [to(at - 1), to(at + 1)];
  useKeys(query.found ? { n: after && (() => go(after)), p: before && (() => go(before)) } : {});
  if (!query.found || !data) return null;
  return html`<nav class="pager found" aria-label="Flagged decisions">
    <a href=${link('/decisions', page)}>Flagged decision ${number(at + 1)} of ${number(data.found)}</a>
    ${before && html`<a href=${before}>Previous <kbd>p</kbd></a>`}
    ${after && html`<a href=${after}>Next flagged decision <kbd>n</kbd></a>`}</nav>`;
}

/** The link from a row of the list of episodes to its replay; a filtered list is kept, for the next episode of it. */
export function listed(record, id, list, place) {
  return link('/replay', { record, id, ...(list && { list, place }) });
}

/** Links to the episodes around one: those of the list that led here, or of the record where it has grown since. */
export function Episodes({ query, episode }) {
  const { at, page, data, row } = useAround('episodes', query.list, query.place);
  const stands = row(at) && row(at).id === episode.id;
  const to = (place, id) => (stands ? row(place) && listed(query.record, row(place).id, query.list, place) : id != null && listed(query.record, id));
  const [before, after] = [to(at - 1, episode.previous), to(at + 1, episode.next)];
  const waits = query.list && !data;
  useKeys(query.found || waits ? {} : { n: after && (() => go(after)), p: before && (() => go(before)) });
  const keys = (key) => !query.found && html` <kbd>${key}</kbd>`;
  return html`<nav class="pager" aria-label="Episodes">
    <a href=${link('/games', stands ? page : { record: query.record })}>${stands ? `Episode ${number(at + 1)} of ${number(data.found)} in the list` : 'All episodes'}</a>
    ${!waits && before && html`<a href=${before}>Previous episode${keys('p')}</a>`}
    ${!waits && after && html`<a href=${after}>Next episode${keys('n')}</a>`}</nav>`;
}
