// The episodes of a record, searched by a filter that the address holds.
import { html, useEffect, useState } from './preact-htm.js';
import { api, count, go, link, number, short, signed, useJson, useVersion, visible } from './data.js';
import { Export } from './export.js';
import { Id } from './names.js';
import { live } from './source.js';

const PAGE = 50;
const OUTCOMES = ['won', 'lost', 'drawn', 'unfinished'];

/** Label that says whose outcome is meant. */
const outcomeOf = (query, data) => (query.player ? 'Outcome for this player' : data.first ? `Outcome for ${short(data.first)}` : 'Outcome for the first player');

function Choice({ title, name, value, counts, all, set }) {
  const options = Object.entries(counts);
  if (options.length < 2 && !value) return null;
  return html`<label>${title}<select name=${name} onChange=${(event) => set({ [name]: event.target.value })}>
    <option value="" selected=${!value}>${all}</option>
    ${options.map(([option, number]) => html`<option value=${option} selected=${option === value}>${visible(option)} (${number})</option>`)}
    ${value && !(value in counts) && html`<option value=${value} selected>${visible(value)} (0)</option>`}
  </select></label>`;
}

function Search({ value, set }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => set({ text }), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<label class="search">Search<input type="search" name="text" placeholder="Id or player" value=${text} onInput=${(event) => setText(event.target.value)} /></label>`;
}

function Filters({ query, data, set, library }) {
  const outcomes = Object.fromEntries(OUTCOMES.filter((name) => name in data.outcomes).map((name) => [name, data.outcomes[name]]));
  const records = Object.fromEntries(library.records.map((record) => [record.name, record.episodes]));
  return html`<form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
    ${library.records.length > 1 && html`<label>Record<select name="record" onChange=${(event) => go(link('/games', { record: event.target.value }))}>
      ${Object.entries(records).map(([name, number]) => html`<option value=${name} selected=${name === query.record}>${visible(name)} (${number})</option>`)}</select></label>`}
    <${Choice} title="Game" name="game" all="all games" value=${query.game} counts=${data.games} set=${set} />
    <${Choice} title="Player" name="player" all="all players" value=${query.player} counts=${data.players} set=${set} />
    ${query.player && html`<${Choice} title="Against" name="opponent" all="anybody" value=${query.opponent} counts=${data.players} set=${set} />`}
    <${Choice} title=${outcomeOf(query, data)} name="outcome" all="all outcomes" value=${query.outcome} counts=${outcomes} set=${set} />
    <${Choice} title="Purpose" name="purpose" all="all purposes" value=${query.purpose} counts=${data.purposes} set=${set} />
    <${Search} value=${query.text || ''} set=${set} />
    <label class="check"><input type="checkbox" name="illegal" checked=${query.illegal === '1'} onChange=${(event) => set({ illegal: event.target.checked })} />
      With illegal replies (${number(data.illegal)})</label>
    <label class="check"><input type="checkbox" name="order" checked=${query.order === 'newest'} onChange=${(event) => set({ order: event.target.checked ? 'newest' : '' })} />
      Newest first</label>
  </form>`;
}

function Row({ row, query }) {
  const illegal = row.num_illegal.reduce((sum, one) => sum + one, 0);
  const address = link('/replay', { record: query.record, id: row.id });
  return html`<tr>
    <th><a href=${address}><${Id} id=${row.id} game=${row.game.includes('(') && row.game} /></a></th>
    <td class="left seats">${row.players.map((name, seat) => html`<div><span class=${`seat s${seat % 7}`} aria-label=${`seat ${seat}`}>${seat}</span>${short(name)}<b>${signed(row.payoffs[seat])}</b></div>`)}</td>
    <td><span class=${`outcome ${row.outcome}`}>${row.outcome}</span></td>
    <td>${number(row.num_decisions.reduce((sum, one) => sum + one, 0))}</td>
    <td class=${illegal ? 'bad' : 'dim'}>${illegal}</td>
    <td class="wide">${visible(row.purpose)}</td></tr>`;
}

export function Games({ query, library }) {
  const record = query.record || '';
  const { offset: text, ...filter } = query;
  const offset = Number(text) || 0;
  const { data, error } = useJson(api('episodes', { ...filter, record, offset, limit: PAGE }), useVersion(`record:${record}`));
  const set = (change) => go(link('/games', { ...filter, ...change }), true);
  if (error) return html`<p class="problem">${visible(error)}</p>`;
  if (!data) return html`<p class="loading">Loading …</p>`;
  const game = Object.keys(data.games);
  const last = Math.min(offset + PAGE, data.found);
  return html`<h1>${game.length === 1 ? visible(game[0]) : 'Games'} <small>${visible(record === '.' ? '' : record)}</small></h1>
    <${Filters} query=${query} data=${data} set=${set} library=${library} />
    <div class="head"><p role="status">${data.found === data.total ? count(data.total, 'episode') : `${number(data.found)} of ${count(data.total, 'episode')}`}</p>
      ${data.found < data.total && html`<a href=${link('/games', { record })}>Clear the filter</a>`}
      ${Object.keys(data.players).length > 2 && html`<a href=${link('/pairs', { record })}>Paired deals</a>`}
      ${live && html`<${Export} key=${record} record=${record} label="Export as one file" />`}</div>
    ${data.found === 0 ? html`<p class="empty">No episode passes this filter.</p>` : html`
    <div class="scroll"><table class="episodes"><thead><tr><th>Episode</th><th class="left">Players and returns</th><th title=${outcomeOf(query, data)}>Outcome</th><th>Decisions</th><th>Illegal</th><th class="wide">Purpose</th></tr></thead>
      <tbody>${data.episodes.map((row) => html`<${Row} key=${row.id} row=${row} query=${query} />`)}</tbody></table></div>
    ${data.found > PAGE && html`<nav class="pager" aria-label="Pages of the list">
      ${offset > 0 && html`<a href=${link('/games', { ...filter, offset: Math.max(0, offset - PAGE) })}>Previous</a>`}
      <span>${number(offset + 1)} to ${number(last)}</span>
      ${last < data.found && html`<a href=${link('/games', { ...filter, offset: offset + PAGE })}>Next</a>`}</nav>`}`}`;
}
