// Data of the server, and the state that a link holds.
import { useEffect, useState } from './preact-htm.js';
import { ask, base, live } from './source.js';

/** The part of the address after `#`: a path and a query. */
export function place() {
  const [path, query] = location.hash.replace(/^#/, '').split('?');
  return { path: path || '/', query: Object.fromEntries(new URLSearchParams(query || '')) };
}

/** A link to a page; empty values are left out. */
export function link(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== '' && value != null && value !== false);
  const text = new URLSearchParams(kept.map(([name, value]) => [name, value === true ? '1' : String(value)])).toString();
  return `#${path}${text ? `?${text}` : ''}`;
}

/** Go to a page; with `quiet` the step back skips the page before. */
export function go(address, quiet = false) {
  if (quiet) {
    history.replaceState(null, '', address);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = address;
}

export function usePlace() {
  const [now, setNow] = useState(place());
  const [first] = useState(location.hash);
  useEffect(() => {
    const read = () => setNow(place());
    addEventListener('hashchange', read);
    if (location.hash !== first) read();  // it changed after the first drawing and before anybody listened
    return () => removeEventListener('hashchange', read);
  }, []);
  return now;
}

const versions = new Map();
const watchers = new Set();

/** Listen to changes of files; the state of the connection is told to the watchers too. */
export function listen() {
  if (!live) return;
  const source = new EventSource('/api/live');
  source.addEventListener('changed', (event) => {
    for (const name of JSON.parse(event.data)) versions.set(name, (versions.get(name) || 0) + 1);
    versions.set('', (versions.get('') || 0) + 1);
    watchers.forEach((watch) => watch());
  });
  source.onopen = () => tell(true);
  source.onerror = () => tell(false);
}

let connected = true;
function tell(state) {
  connected = state;
  watchers.forEach((watch) => watch());
}

/** The number of changes of a run or a record; of anything where no name is given. */
export function useVersion(name = '') {
  const [, redraw] = useState(0);
  useEffect(() => {
    const watch = () => redraw((count) => count + 1);
    watchers.add(watch);
    return () => watchers.delete(watch);
  }, []);
  return versions.get(name) || 0;
}

export function useConnected() {
  useVersion();
  return connected;
}

/** What the server says; the answer before stays until the next is there. */
export function useJson(address, version = 0) {
  const [answer, setAnswer] = useState({ data: null, error: '', address: '' });
  useEffect(() => {
    if (!address) return undefined;
    const stop = new AbortController();
    ask(address, { signal: stop.signal })
      .then((told) => setAnswer({ ...told, address }))
      .catch((error) => {
        if (error.name !== 'AbortError') setAnswer((old) => ({ ...old, error: 'The server does not answer.', address }));
      });
    return () => stop.abort();
  }, [address, version]);
  return answer;
}

export function api(name, query) {
  return `${base}api/${name}${link('', query).slice(1)}`;
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** A text with every invisible character spelt; it comes from anybody. */
export function visible(text) {
  return String(text ?? '').replace(UNSEEN, (character) =>
    character === '\n' || character === '\t' ? character : `\\u{${character.codePointAt(0).toString(16)}}`);
}

/** A number as people read it. */
export function number(value, digits = 3) {
  if (value == null) return '–';
  const size = Math.abs(value);
  const text = Number.isInteger(value) ? size.toLocaleString('en')
    : size < 0.001 || size >= 1e6 ? size.toExponential(2) : size.toFixed(size >= 100 ? 1 : digits);
  return value < 0 ? `−${text}` : text;
}

export function signed(value) {
  if (value == null) return '–';
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${number(Math.abs(value), 2)}`;
}

/** The name of a player without its version. */
export function short(name) {
  return visible(name.replace(/@[^@]*$/, '') || name);
}

/** The name of a player of a known game: without its version, and without the name of the game before it. */
export function shortIn(game, name) {
  const own = `${game.split('(')[0]}/`;
  return short(name.startsWith(own) ? name.slice(own.length) : name);
}

/** A number to so many digits and never in powers of ten, for a table in which sizes are compared. */
export function rounded(value, digits = 2) {
  return value == null ? '–' : number(Math.round(value * 10 ** digits) / 10 ** digits, digits);
}

/** The name of a seat, where seats are known by names, and its player. */
export function sitter(names, seat, player) {
  return names && names[seat] ? `${visible(names[seat])}, ${short(player)}` : short(player);
}

/** Players by name, each once with the number of its seats. */
export function grouped(players) {
  const counts = new Map();
  for (const name of players) counts.set(name, (counts.get(name) || 0) + 1);
  return [...counts].map(([name, seats]) => (seats > 1 ? `${seats} × ${short(name)}` : short(name))).join(', ');
}

export function count(value, noun, plural = `${noun}s`) {
  return `${number(value)} ${value === 1 ? noun : plural}`;
}
