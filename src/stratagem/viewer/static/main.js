// The frame of all pages, and the choice of one by the address.
import { html, render, useEffect } from './preact-htm.js';
import { link, listen, useConnected, useJson, usePlace, useVersion, api, visible } from './data.js';
import { Checks } from './checks.js';
import { Decisions } from './decisions.js';
import { Games } from './games.js';
import { Home } from './home.js';
import { Overlay } from './overlay.js';
import { Pairs } from './pairs.js';
import { Play } from './play.js';
import { Population } from './population.js';
import { Policy } from './policy.js';
import { Replay } from './replay.js';
import { Report } from './report.js';
import { Run } from './run.js';
import { live } from './source.js';

// what a page shows, by its address: the part of the query that names it, and where it is chosen
const NAMED = {
  '/games': ['record', 'record'], '/decisions': ['record', 'record'], '/checks': ['record', 'record'], '/pairs': ['record', 'record'],
  '/replay': ['id', 'episode'], '/run': ['name', 'run'], '/report': ['run', 'run'], '/runs': ['runs', 'run'],
};

function Unnamed({ path }) {
  const [, what] = NAMED[path];
  return html`<h1>Nothing is chosen</h1><p class="empty">${path === '/runs' ? 'This page draws runs over one another. Tick them in the table of the ' : `This address names no ${what}. Choose one in the `}
    <a href=${link('/')}>overview</a>${path === '/runs' ? ', and press Compare.' : '.'}</p>`;
}

function Page({ path, query, library }) {
  if (NAMED[path] && !query[NAMED[path][0]] && query.line == null) return html`<${Unnamed} path=${path} />`;
  if (path === '/games') return html`<${Games} query=${query} library=${library} />`;
  if (path === '/decisions') return html`<${Decisions} query=${query} library=${library} />`;
  if (path === '/checks') return html`<${Checks} query=${query} library=${library} />`;
  if (path === '/policy') return html`<${Policy} query=${query} />`;
  if (path === '/replay') return html`<${Replay} query=${query} />`;
  if (path === '/play') return html`<${Play} query=${query} />`;
  if (path === '/run') return html`<${Run} name=${query.name || ''} />`;
  if (path === '/report') return html`<${Report} query=${query} library=${library} />`;
  if (path === '/runs') return html`<${Overlay} query=${query} />`;
  if (path === '/pairs') return html`<${Pairs} query=${query} />`;
  if (path === '/population') return html`<${Population} query=${query} />`;
  return html`<${Home} library=${library} query=${query} />`;
}

function App() {
  const { path, query } = usePlace();
  const { data: library, error } = useJson(api('library'), useVersion());
  const connected = useConnected();
  useEffect(() => {
    if (path !== '/replay') scrollTo(0, 0);
  }, [path]);
  if (!library) return html`<main><p class=${error ? 'problem' : 'loading'}>${error || 'Loading …'}</p></main>`;
  return html`
    <header class="top">
      <a class="brand" href=${link('/')}><img src="/static/icon.svg" alt="" width="24" height="24" />${visible(library.folder)}</a>
      <nav aria-label="Pages">
        <a href=${link('/')} aria-current=${['/', '/run', '/runs', '/report'].includes(path) ? 'page' : null}>Overview</a>
        ${library.records.length > 0 && html`<a href=${link('/games', { record: query.record || library.records[0].name })}
          aria-current=${['/games', '/replay', '/pairs'].includes(path) ? 'page' : null}>Games</a>`}
        ${live && library.records.length > 0 && html`
        <a href=${link('/decisions', { record: query.record || library.records[0].name })} aria-current=${path === '/decisions' ? 'page' : null}>Decisions</a>
        <a href=${link('/checks', { record: query.record || library.records[0].name })} aria-current=${path === '/checks' ? 'page' : null}>Checks</a>`}
        ${live && html`<a href=${link('/policy')} aria-current=${path === '/policy' ? 'page' : null}>Policy</a>`}
        ${live && library.records.length + library.runs.length > 0 && html`<a href=${link('/population')} aria-current=${path === '/population' ? 'page' : null}>Population</a>`}
        ${live && html`<a href=${link('/play')} aria-current=${path === '/play' ? 'page' : null}>Play</a>`}
      </nav>
      ${!connected && html`<span class="offline" role="status">not connected</span>`}
    </header>
    <main><${Page} path=${path} query=${query} library=${library} /></main>`;
}

listen();
const root = document.getElementById('page');
root.replaceChildren();
render(html`<${App} />`, root);
