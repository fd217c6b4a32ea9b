// The episodes of a record, searched by a filter that the address holds.
import { html } from './preact-htm.js';
import { api, count, go, link, number, short, signed, useJson, useVersion, visible } from './data.js';
import { Export } from './export.js';
import { listed } from './found.js';
import { Id } from './names.js';
import { counted, PAGE, Pager, Passed, Records, Seat, Select, useTyped, Waiting } from './parts.js';
import { live } from './source.js';

const OUTCOMES = ['won', 'lost', 'drawn', 'unfinished'];

/** Label that says whose outcome is meant. */
const outcomeOf = (query, data) => (query.player ? 'Outcome for this player' : data.first ? `Outcome for ${short(data.first)}` : 'Outcome for the first player');

function Search({ value, set }) {
  const typed = useTyped(value, (text) => set({ text }), 250);
  return html`<label class="search">Search<input type="search" name="text" placeholder="Id or player" ...${typed} /></label>`;
}

function Filters({ query, data, set, library }) {
  const outcomes = Object.fromEntries(OUTCOMES.filter((name) => name in data.outcomes).map((name) => [name, data.outcomes[name]]));
  return html`<form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
    <${Records} library=${library} query=${query} path="/games" />
    <${Select} title="Game" name="game" value=${query.game} options=${counted(data.games, 'all games')} set=${set} />
    <${Select} title="Player" name="player" value=${query.player} options=${counted(data.players, 'all players')} set=${set} />
    ${query.player && html`<${Select} title="Against" name="opponent" value=${query.opponent} options=${counted(data.players, 'anybody')} set=${set} />`}
    <${Select} title=${outcomeOf(query, data)} name="outcome" value=${query.outcome} options=${counted(outcomes, 'all outcomes')} set=${set} />
    <${Select} title="Purpose" name="purpose" value=${query.purpose} options=${counted(data.purposes, 'all purposes')} set=${set} />
    <${Search} value=${query.text || ''} set=${set} />
    <label class="check"><input type="checkbox" name="illegal" checked=${query.illegal === '1'} onChange=${(event) => set({ illegal: event.target.checked })} />
      With illegal replies (${number(data.illegal)})</label>
    <label class="check"><input type="checkbox" name="order" checked=${query.order === 'newest'} onChange=${(event) => set({ order: event.target.checked ? 'newest' : '' })} />
      Newest first</label>
  </form>`;
}

/** An episode; branches of one have its id above them. */
function Row({ row, before, query, list, place }) {
  const illegal = row.num_illegal.reduce((sum, one) => sum + one, 0);
  const to = (id, ...where) => html`<a href=${listed(query.record, id, ...where)}><${Id} id=${id} game=${row.game.includes('(') && row.game} /></a>`;
  return html`${row.parent && !(before && before.parent === row.parent) && html`<tr><td class="left dim" colspan="6">Branches of ${to(row.parent)}</td></tr>`}<tr>
    <th>${to(row.id, list, place)}</th>
    <td class="left seats">${row.players.map((name, seat) => html`<div><${Seat} seat=${seat} said />${short(name)}<b>${signed(row.payoffs[seat])}</b></div>`)}</td>
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
  if (error || !data) return html`<${Waiting} error=${error} />`;
  const game = Object.keys(data.games);
  const list = Object.keys(filter).some((name) => name !== 'record') && link('', filter).slice(2);
  return html`<h1>${game.length === 1 ? visible(game[0]) : 'Games'} <small>${visible(record === '.' ? '' : record)}</small></h1>
    <${Filters} query=${query} data=${data} set=${set} library=${library} />
    <div class="head"><${Passed} data=${data} noun="episode" path="/games" record=${record} />
      ${data.folded > 0 && html`<a href=${link('/games', { record, purpose: 'warm_up' })}>${count(data.folded, 'shared beginning')}</a>`}
      ${Object.keys(data.players).length > 2 && html`<a href=${link('/pairs', { record })}>Paired deals</a>`}
      ${live && html`<${Export} key=${record} record=${record} label="Export as one file" />`}</div>
    ${data.found === 0 ? html`<p class="empty">No episode passes this filter.</p>` : html`
    <div class="scroll"><table class="episodes"><thead><tr><th>Episode</th><th class="left">Players and returns</th><th title=${outcomeOf(query, data)}>Outcome</th><th>Decisions</th><th>Illegal</th><th class="wide">Purpose</th></tr></thead>
      <tbody>${data.episodes.map((row, place) => html`<${Row} key=${row.id} row=${row} before=${data.episodes[place - 1]} query=${query} list=${list} place=${offset + place} />`)}</tbody></table></div>
    <${Pager} path="/games" query=${filter} offset=${offset} size=${PAGE} found=${data.found} />`}`;
}
