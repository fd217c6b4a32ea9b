// The table of runs: sorted and filtered by what the address holds.
import { html, useState } from './preact-htm.js';
import { Sparkline } from './chart.js';
import { count, go, link, number, visible } from './data.js';

const DAY = 86400;
const COLUMNS = {
  run: (row) => row.name,
  state: (row) => row.state,
  changed: (row) => row.changed || 0,
  step: (row) => (row.sft_steps || 0) + (row.step ?? -1),
  best: (row) => row.best_step ?? -1,
  figure: (row) => row.figures[0]?.last ?? Infinity,
  checks: (row) => (row.faults || 0) * 1000 + (row.notes || 0),
};
const HEADS = [['run', 'Run'], ['state', 'Status'], ['changed', 'Changed'], ['step', 'Step'], ['best', 'Best step'], ['figure', 'Main figure: start, best, last'], ['checks', 'Checks']];
const WIDE = ['changed', 'best', 'checks'];

/** A step after those of SFT, as `500+60`, whose sum is the label of the checkpoint. */
function stepText(row, step) {
  return row.sft_steps && step != null ? `${row.sft_steps}+${step}` : number(step);
}

function ago(seconds) {
  const past = Date.now() / 1000 - seconds;
  const [size, unit] = [[DAY, 'day'], [3600, 'hour'], [60, 'minute']].find(([size]) => past >= size) || [1, 'second'];
  return `${count(Math.max(0, Math.floor(past / size)), unit)} ago`;
}

function passes(row, query) {
  const text = (query.text || '').toLowerCase();
  const words = [row.name, row.note, ...row.tags].join('\n').toLowerCase();
  return words.includes(text) && (!query.state || row.state === query.state) && (!query.tag || row.tags.includes(query.tag))
    && (!query.new || (row.changed || 0) > Date.now() / 1000 - DAY);
}

function Figure({ figure }) {
  const values = [figure.start, figure.best, figure.last].map((value) => number(value));
  return html`<div class="figure" title=${figure.chance == null ? null : `chance ${number(figure.chance)}`}>
    <span class="course-of">${values[0]} → ${figure.best == null ? '' : html`<b>${values[1]}</b> → `}${values[2]}</span>
    <small>${visible(figure.name)}${figure.game && ` of ${visible(figure.game)}`}${figure.better === 'lower' ? ' ↓' : ' ↑'}</small></div>`;
}

function Row({ row, chosen, choose, query }) {
  return html`<tr>
    <td class="pick"><input type="checkbox" aria-label=${`Choose ${visible(row.name)}`} checked=${chosen} onChange=${(event) => choose(row.name, event.target.checked)} /></td>
    <th><a href=${link('/run', { name: row.name })}>${visible(row.name === '.' ? 'this run' : row.name)}</a>
      ${row.tags.map((tag) => html` <a class="tag" href=${link('/', { ...query, tag })}>${visible(tag)}</a>`)}
      ${row.note && html`<small class="note-start">${visible(row.note.split('\n')[0].slice(0, 90))}</small>`}</th>
    <td><span class=${`state ${row.state}`} title=${visible(row.sentence)}>${visible(row.state)}</span></td>
    ${row.state === 'damaged' ? html`<td class="left" colspan="6">${visible(row.sentence)}</td>` : html`
    <td class="wide" title=${visible(row.since)}>${ago(row.changed)}</td>
    <td title=${row.sft_steps ? `${row.sft_steps} steps of SFT, then ${row.step}` : null}>${stepText(row, row.step)}</td>
    <td class="wide" title=${row.start_is_best ? `No checkpoint was better; step ${row.best_step} comes next` : null}>${row.start_is_best ? 'start' : stepText(row, row.best_step)}</td>
    <td>${row.figures.slice(0, 2).map((figure) => html`<${Figure} key=${figure.metric} figure=${figure} />`)}</td>
    <td class="wide">${row.faults > 0 && html`<a class="badge bad" href=${link('/run', { name: row.name })}>${count(row.faults, 'fault')}</a> `}${row.notes > 0 && html`<a class="badge" href=${link('/run', { name: row.name })}>${count(row.notes, 'note')}</a>`}${!row.faults && !row.notes && '–'}</td>
    <td class="wide">${row.curve && html`<${Sparkline} curve=${row.curve} name=${row.curve.metric} />`}</td>`}
  </tr>`;
}

function Filters({ runs, query, set }) {
  const states = [...new Set(runs.map((row) => row.state))].sort();
  const tags = [...new Set(runs.flatMap((row) => row.tags))].sort();
  const fresh = runs.filter((row) => passes(row, { new: '1' })).length;
  const choice = (name, title, all, values) => values.length > 0 && html`<label>${title}<select name=${name} onChange=${(event) => set({ [name]: event.target.value })}>
    <option value="" selected=${!query[name]}>${all}</option>${values.map((value) => html`<option value=${value} selected=${value === query[name]}>${visible(value)}</option>`)}</select></label>`;
  return html`<form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
    <label>Search<input type="search" name="text" placeholder="Name, tag or note" value=${query.text || ''} onInput=${(event) => set({ text: event.target.value })} /></label>
    ${states.length > 1 && choice('state', 'Status', 'any status', states)}
    ${choice('tag', 'Tag', 'any tag', tags)}
    <label class="check"><input type="checkbox" name="new" checked=${query.new === '1'} onChange=${(event) => set({ new: event.target.checked })} />New since yesterday (${fresh})</label></form>`;
}

export function Runs({ runs, query }) {
  const [chosen, setChosen] = useState([]);
  const set = (change) => go(link('/', { ...query, ...change }), true);
  const by = query.sort in COLUMNS ? query.sort : 'run';
  const [key, down] = [COLUMNS[by], query.down === '1'];
  const rows = runs.filter((row) => passes(row, query)).sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (down ? -1 : 1));
  const choose = (name, on) => setChosen(on ? [...chosen, name] : chosen.filter((one) => one !== name));
  const overlaid = chosen.length ? chosen : rows.filter((row) => row.state !== 'damaged').map((row) => row.name).slice(0, 24);
  return html`<section aria-labelledby="runs">
    <div class="head"><h2 id="runs">Runs</h2><p role="status" class="dim">${rows.length === runs.length ? count(runs.length, 'run') : `${rows.length} of ${count(runs.length, 'run')}`}</p>
      ${overlaid.length > 1 && html`<a class="as-button" href=${link('/runs', { runs: JSON.stringify(overlaid) })}>Compare ${chosen.length ? `${chosen.length} chosen` : 'all shown'}</a>`}</div>
    ${runs.length > 1 && html`<${Filters} runs=${runs} query=${query} set=${set} />`}
    ${rows.length === 0 ? html`<p class="empty">No run passes this filter. <a href=${link('/')}>Clear the filter</a></p>` : html`
    <div class="scroll" tabindex="0" role="region" aria-label="Table of runs"><table class="runs">
      <thead><tr><td class="pick"></td>${HEADS.map(([name, title]) => html`<th class=${WIDE.includes(name) ? 'wide' : ''} aria-sort=${by === name ? (down ? 'descending' : 'ascending') : 'none'}>
        <button onClick=${() => set({ sort: name, down: by === name && !down })}>${title}${by === name ? (down ? ' ↓' : ' ↑') : ''}</button></th>`)}
        <th class="wide">Curve</th></tr></thead>
      <tbody>${rows.map((row) => html`<${Row} key=${row.name} row=${row} query=${query} chosen=${chosen.includes(row.name)} choose=${choose} />`)}</tbody></table></div>`}
  </section>`;
}
