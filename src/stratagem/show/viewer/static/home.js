// Overview: the runs of the folder, its records, and the pages of audits and reports.
import { html } from './preact-htm.js';
import { count, link, short, visible } from './data.js';
import { Runs } from './runs_table.js';

function Records({ records }) {
  return html`<section aria-labelledby="records"><h2 id="records">Recorded games</h2>
    <ul class="cards">${records.map((record) => html`<li key=${record.name} class="card">
      <a class="title" href=${link('/games', { record: record.name })}>${visible(record.name === '.' ? 'this record' : record.name)}</a>
      ${record.sentence ? html`<p class="problem">${visible(record.sentence)}</p>` : html`
      <p>${count(record.episodes, 'episode')} of ${record.games.slice(0, 3).map(visible).join(', ')}${record.games.length > 3 ? ' …' : ''}</p>
      <p class="dim">${record.players.slice(0, 4).map(short).join(', ')}${record.players.length > 4 ? ` and ${record.players.length - 4} more` : ''}</p>`}
    </li>`)}</ul></section>`;
}

const page = (name) => ({ href: `/pages/${name.split('/').map(encodeURIComponent).join('/')}`, target: '_blank', rel: 'noopener' });
const inFolder = (folder) => (folder === '' ? 'in this folder' : visible(folder));

/** Each audit with its alarms and the records of its probes. */
function Audits({ audits }) {
  return html`<section aria-labelledby="audits"><h2 id="audits">Audits</h2>
    <ul class="cards">${audits.map((one) => html`<li key=${one.page} class="card"><a class="title" ...${page(one.page)}>${one.agent ? `Card of ${short(one.agent)}` : 'Card of the audit'}</a>
      ${one.figures > 0 && html`<p>${one.games.map(visible).join(', ')}</p><p class=${one.alarms.length ? 'bad' : 'good'}>${one.alarms.length ? html`${one.alarms.length} of ${count(one.figures, 'figure')} with an alarm: ${one.alarms.slice(0, 3).map(visible).join(', ')}${one.alarms.length > 3 ? ' …' : ''}` : `No alarm in ${count(one.figures, 'figure')}`}</p>`}
      <p class="dim">${inFolder(one.folder)}</p>
      ${one.records.length > 0 && html`<p>Games: ${one.records.map((name, place) => html`${place > 0 && ', '}<a href=${link('/games', { record: name })}>${visible(name.slice(name.lastIndexOf('/') + 1))}</a>`)}</p>`}</li>`)}</ul></section>`;
}

function Pages({ pages }) {
  return html`<section aria-labelledby="pages"><h2 id="pages">Pages</h2>
    <ul class="cards">${pages.map((name) => html`<li key=${name} class="card"><a class="title" ...${page(name)}>Report of the run</a>
      <p class="dim">${inFolder(name.slice(0, Math.max(0, name.lastIndexOf('/'))))}</p></li>`)}</ul></section>`;
}

/** What to look at first: a run whose policy is known has a worst move, and a model to sit down against. */
function Begin({ run }) {
  const { game, step } = run.policy;
  const policy = link('/policy', { game, run: run.name, step });
  return html`<section aria-labelledby="begin"><h2 id="begin">Look first at <small>${visible(run.name === '.' ? 'this run' : run.name)}</small></h2><ul class="cards">
    <li class="card"><a class="title" href=${policy}>Its worst move</a><p class="dim">Each situation of ${visible(game)}, how the model plays it, and the line of play that exploits it.</p></li>
    <li class="card"><a class="title" href=${link('/play', { game })}>A table to play at</a><p class="dim">Sit down at ${visible(game)} yourself. You choose who plays against you.</p></li>
    <li class="card"><a class="title" href=${link('/run', { name: run.name })}>Its training</a><p class="dim">Curves, what was better and what was worse, the settings.</p></li>
  </ul></section>`;
}

export function Home({ library, query }) {
  const known = library.runs.find((run) => run.state === 'finished' && run.policy);
  const audited = library.audits.flatMap((one) => one.records);
  const records = library.records.filter((record) => !audited.includes(record.name));
  return html`<h1>Overview</h1>
    ${known && html`<${Begin} run=${known} />`}
    ${library.runs.length > 0 && html`<${Runs} runs=${library.runs} query=${query} />`}
    ${library.audits.length > 0 && html`<${Audits} audits=${library.audits} />`}
    ${records.length > 0 && html`<${Records} records=${records} />`}
    ${library.pages.length > 0 && html`<${Pages} pages=${library.pages} />`}`;
}
