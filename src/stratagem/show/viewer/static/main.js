// The frame of all pages, and the choice of one by the address.
import { html, render, useEffect } from './preact-htm.js';
import { link, listen, useConnected, useJson, usePlace, useVersion, api, visible } from './data.js';
import { live } from './source.js';
import { VIEWS } from './views.js';

function Unnamed({ path }) {
  const [, what] = VIEWS[path].names;
  return html`<h1>Nothing is chosen</h1><p class="empty">${path === '/runs' ? 'This page draws runs over one another. Tick them in the table of the ' : `This address names no ${what}. Choose one in the `}
    <a href=${link('/')}>overview</a>${path === '/runs' ? ', and press Compare.' : '.'}</p>`;
}

function Shown({ path, query, library }) {
  const { Page, names } = VIEWS[path];
  if (names && !query[names[0]] && query.line == null) return html`<${Unnamed} path=${path} />`;
  return html`<${Page} query=${query} library=${library} />`;
}

function Navigation({ path, query, library }) {
  const shown = Object.entries(VIEWS).filter(([, { title, needs, offline }]) => title && (live || offline) && (!needs || needs.some((kind) => library[kind].length > 0)));
  const record = (view) => view.names && (query.record || library.records[0].name);
  return html`<nav aria-label="Pages">${shown.map(([to, view]) =>
    html`<a key=${to} href=${link(to, { record: record(view) })} aria-current=${[path, VIEWS[path].under].includes(to) ? 'page' : null}>${view.title}</a>`)}</nav>`;
}

function App() {
  const { path: asked, query } = usePlace();
  const path = Object.hasOwn(VIEWS, asked) ? asked : '/';
  const { data: library, error } = useJson(api('library'), useVersion());
  const connected = useConnected();
  useEffect(() => {
    if (path !== '/replay') scrollTo(0, 0);
  }, [path]);
  useEffect(() => {
    const { title, tab } = VIEWS[path];
    if (live) document.title = `${title || tab} · Stratagem`;  // an exported file has the title of its games
  }, [path]);
  const skip = (event) => {
    event.preventDefault();  // the part of the address after # names the page
    document.querySelector('main').focus();
  };
  if (!library) return html`<main><p class=${error ? 'problem' : 'loading'}>${error || 'Loading …'}</p></main>`;
  return html`
    <header class="top">
      <a class="skip" href=${'#'} onClick=${skip}>Skip to the page</a>
      <a class="brand" href=${link('/')}><img src="/static/icon.svg" alt="" width="24" height="24" />${visible(library.folder)}</a>
      <${Navigation} path=${path} query=${query} library=${library} />
      ${!connected && html`<span class="offline" role="status">not connected</span>`}
    </header>
    <main tabindex="-1"><${Shown} path=${path} query=${query} library=${library} /></main>`;
}

listen();
const root = document.getElementById('page');
root.replaceChildren();
render(html`<${App} />`, root);
