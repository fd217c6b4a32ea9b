// Overview: the runs of the folder, its records, and the pages of audits and reports.
import { html, useState } from './preact-htm.js';
import { Sparkline } from './chart.js';
import { count, link, number, short, visible } from './data.js';

const COLUMNS = {
  run: (row) => row.name,
  state: (row) => row.state,
  since: (row) => row.since || '',
  step: (row) => row.step ?? -1,
  best: (row) => row.best_step ?? -1,
  exploitability: (row) => exact(row) ?? Infinity,
  score: (row) => row.score ?? -Infinity,
};

function exact(row) {
  return Object.values(row.exploitability || {})[0];
}

function Runs({ runs }) {
  const [order, setOrder] = useState({ by: 'run', down: false });
  const [text, setText] = useState('');
  const key = COLUMNS[order.by];
  const found = runs.filter((row) => row.name.toLowerCase().includes(text.toLowerCase()));
  const rows = [...found].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (order.down ? -1 : 1));
  const heads = [['run', 'Run'], ['state', 'Status'], ['since', 'Since (UTC)'], ['step', 'Step'], ['best', 'Best step'],
    ['exploitability', 'Exploitability'], ['score', 'Checkpoint metric']];
  return html`<section aria-labelledby="runs">
    <div class="head"><h2 id="runs">Runs</h2>
      ${runs.length > 6 && html`<input type="search" placeholder="Name" aria-label="Name of a run" value=${text}
        onInput=${(event) => setText(event.target.value)} />`}</div>
    <div class="scroll"><table class="runs">
      <thead><tr>${heads.map(([name, title]) => html`<th class=${['since', 'best'].includes(name) ? 'wide' : ''} aria-sort=${order.by === name ? (order.down ? 'descending' : 'ascending') : 'none'}>
        <button onClick=${() => setOrder({ by: name, down: order.by === name && !order.down })}>${title}${order.by === name ? (order.down ? ' ↓' : ' ↑') : ''}</button></th>`)}
        <th class="wide">Course</th></tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${row.name}>
        <th><a href=${link('/run', { name: row.name })}>${visible(row.name === '.' ? 'this run' : row.name)}</a></th>
        <td><span class=${`state ${row.state}`} title=${visible(row.sentence)}>${row.state}</span></td>
        ${row.state === 'damaged' ? html`<td class="left" colspan="6">${visible(row.sentence)}</td>` : html`
        <td class="wide">${visible((row.since || '').replace('T', ' ').slice(0, 16))}</td>
        <td>${row.sft_steps ? `${row.sft_steps}+` : ''}${row.step}</td>
        <td class="wide">${number(row.best_step)}</td>
        <td>${Object.entries(row.exploitability).map(([game, value]) => html`<div>${number(value)} <small>${visible(game)}</small></div>`)}</td>
        <td>${number(row.score)}</td>
        <td class="wide">${row.curve && html`<${Sparkline} curve=${row.curve} name=${row.curve.metric} />`}</td>`}
      </tr>`)}</tbody></table></div></section>`;
}

function Records({ records }) {
  return html`<section aria-labelledby="records"><h2 id="records">Recorded games</h2>
    <ul class="cards">${records.map((record) => html`<li key=${record.name} class="card">
      <a class="title" href=${link('/games', { record: record.name })}>${visible(record.name === '.' ? 'this record' : record.name)}</a>
      ${record.sentence ? html`<p class="problem">${visible(record.sentence)}</p>` : html`
      <p>${count(record.episodes, 'episode')} of ${record.games.slice(0, 3).map(visible).join(', ')}${record.games.length > 3 ? ' …' : ''}</p>
      <p class="dim">${record.players.slice(0, 4).map(short).join(', ')}${record.players.length > 4 ? ` and ${record.players.length - 4} more` : ''}</p>`}
    </li>`)}</ul></section>`;
}

function Pages({ pages }) {
  const kinds = { 'card.html': 'Card of the audit', 'report.html': 'Report of the run' };
  return html`<section aria-labelledby="pages"><h2 id="pages">Pages</h2>
    <ul class="cards">${pages.map((name) => {
      const [folder, file] = [name.slice(0, name.lastIndexOf('/')), name.slice(name.lastIndexOf('/') + 1)];
      return html`<li key=${name} class="card"><a class="title" href=${`/pages/${name.split('/').map(encodeURIComponent).join('/')}`} target="_blank" rel="noopener">${kinds[file]}</a>
        <p class="dim">${folder === '.' ? 'in this folder' : visible(folder)}</p></li>`;
    })}</ul></section>`;
}

export function Home({ library }) {
  return html`<h1>Overview</h1>
    ${library.runs.length > 0 && html`<${Runs} runs=${library.runs} />`}
    ${library.records.length > 0 && html`<${Records} records=${library.records} />`}
    ${library.pages.length > 0 && html`<${Pages} pages=${library.pages} />`}`;
}
