// Parts that several pages or faces have: what waits, a seat, its history, a choice, a text that is typed, pages of a list.
import { html, useEffect, useRef, useState } from './preact-htm.js';
import { count, go, link, number, visible } from './data.js';

/** In place of an answer that is not there: its error, or that it is on its way. */
export function Waiting({ error }) {
  return error ? html`<p class="problem">${visible(error)}</p>` : html`<p class="loading">Loading …</p>`;
}

/** The number of a seat in its colour; `said` names it for who hears the page. */
export function Seat({ seat, said, title }) {
  return html`<span class=${`seat s${seat % 7}`} title=${title} aria-label=${said ? `seat ${seat}` : null}>${seat}</span>`;
}

/** Steps of a game by seat, up to the last, which is marked if it counts; each is its kind, its text and its title. */
export function History({ label, tracks, counts = true, children }) {
  const strip = useRef(null);
  const length = tracks[0].steps.length;
  useEffect(() => {
    strip.current.scrollLeft = strip.current.scrollWidth;
  }, [length]);
  return html`<div class="history" ref=${strip} tabindex="0" role="img" aria-label=${label}>
    ${tracks.map(({ seat, title, steps }) => html`<div class="track">${seat != null && html`<${Seat} seat=${seat} title=${title} />`}${steps.map(([kind, text, told], place) =>
      html`<span class=${`step ${kind} ${counts && place === length - 1 ? 'now' : ''}`} title=${told}>${text}</span>`)}</div>`)}${children}</div>`;
}

/** A choice of `options`, texts by value; one that offers nothing but all is left out. */
export function Select({ title, name, value, options, set }) {
  const entries = Object.entries(options);
  if (entries.length < 3 && !value && '' in options) return null;
  return html`<label>${title}<select name=${name} onChange=${(event) => set({ [name]: event.target.value })}>
    ${entries.map(([option, told]) => html`<option value=${option} selected=${option === (value || '')}>${visible(told)}</option>`)}
    ${value && !(value in options) && html`<option value=${value} selected>${visible(value)}</option>`}</select></label>`;
}

/** Options from their numbers; the first is all of them. */
export function counted(counts, all) {
  return Object.fromEntries([['', all], ...Object.entries(counts).map(([name, size]) => [name, `${name} (${number(size)})`])]);
}

export const alike = (values) => Object.fromEntries(values.map((value) => [value, value]));

/** The choice of another record for a page, where there are several. */
export function Records({ library, query, path }) {
  const options = Object.fromEntries(library.records.map((record) => [record.name, `${record.name} (${number(record.episodes)})`]));
  return library.records.length > 1 && html`<${Select} title="Record" name="record" value=${query.record} options=${options} set=${(change) => go(link(path, change))} />`;
}

/** The attributes of a field whose text is taken over after a pause. */
export function useTyped(value, take, pause) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => take(text), pause);
    return () => clearTimeout(timer);
  }, [text]);
  return { value: text, onInput: (event) => setText(event.target.value) };
}

/** How many of all passed a filter, with a link that clears it. */
export function Passed({ data, noun, path, record }) {
  return html`<p role="status">${data.found === data.total ? count(data.total, noun) : `${number(data.found)} of ${count(data.total, noun)}`}</p>
    ${data.found < data.total && html`<a href=${link(path, { record })}>Clear the filter</a>`}`;
}

/** Rows of a page of a list of episodes, decisions or pairs. */
export const PAGE = 50;

/** Links to the pages of a list before and after this one. */
export function Pager({ path, query, offset, size, found }) {
  const to = (start) => link(path, { ...query, offset: start });
  return found > size && html`<nav class="pager" aria-label="Pages of the list">
    ${offset > 0 && html`<a href=${to(Math.max(0, offset - size))}>Previous</a>`}
    <span>${number(offset + 1)} to ${number(Math.min(offset + size, found))}</span>
    ${offset + size < found && html`<a href=${to(offset + size)}>Next</a>`}</nav>`;
}
