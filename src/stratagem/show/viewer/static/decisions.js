// The decisions of a record, searched by a filter that the address holds.
import { html } from './preact-htm.js';
import { api, go, link, number, short, signed, useJson, useVersion, visible } from './data.js';
import { counted, PAGE, Pager, Passed, Records, Seat, Select, useTyped, Waiting } from './parts.js';

const SURPRISES = { '': 'any', 0.5: 'at most 50 %', 0.1: 'at most 10 %', 0.01: 'at most 1 %', 0.001: 'at most 0.1 %' };
const ORDERS = { '': 'order of play', newest: 'newest first', surprise: 'least probable first', regret: 'largest regret first' };
const OUTCOMES = ['won', 'lost', 'drawn', 'unfinished'];

function Least({ value, set }) {
  const typed = useTyped(value || '', (regret) => set({ regret }), 400);
  return html`<label>Regret of at least<input type="number" name="regret" min="0" step="any" inputmode="decimal" placeholder="any" ...${typed} /></label>`;
}

function Filters({ query, data, set, library }) {
  const outcomes = Object.fromEntries(OUTCOMES.filter((name) => name in data.outcomes).map((name) => [name, data.outcomes[name]]));
  return html`<form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
    <${Records} library=${library} query=${query} path="/decisions" />
    <${Select} title="Game" name="game" value=${query.game} options=${counted(data.games, 'all games')} set=${set} />
    <${Select} title="Player" name="player" value=${query.player} options=${counted(data.players, 'all players')} set=${set} />
    <${Select} title="Outcome for the seat" name="outcome" value=${query.outcome} options=${counted(outcomes, 'all outcomes')} set=${set} />
    <${Select} title="Origin" name="how" value=${query.how} options=${counted(data.hows, 'all origins')} set=${set} />
    <${Select} title="Safety signal" name="signal" value=${query.signal} options=${Object.fromEntries([['', 'any'], ...data.signals.map((name) => [name, `${name} is not 0`])])} set=${set} />
    ${data.with_calls > 0 && html`<${Select} title="Probability of the reply" name="surprise" value=${query.surprise} options=${SURPRISES} set=${set} />`}
    <${Least} value=${query.regret} set=${set} />
    <${Select} title="Order" name="order" value=${query.order} options=${ORDERS} set=${set} />
    ${query.step && html`<label>Step<input type="number" name="step" min="0" value=${query.step} onChange=${(event) => set({ step: event.target.value })} /></label>`}
    <label class="check"><input type="checkbox" name="illegal" checked=${query.illegal === '1'} onChange=${(event) => set({ illegal: event.target.checked })} />
      Illegal replies (${number(data.illegal)})</label>
  </form>`;
}

/** The link from a row of the list to its replay; it keeps the search, for the next flagged decision. */
export function flagged(record, row, found, at) {
  return link('/replay', { record, id: row.episode, turn: row.place, seat: `${row.seat}.${row.attempt}`, found, at });
}

function Row({ row, query, found, at }) {
  const cut = row.episode.lastIndexOf('/') + 1;
  const said = row.action == null ? (row.said ? visible(row.said).slice(0, 80) : 'no reply') : visible(row.action);
  return html`<tr>
    <th><a href=${flagged(query.record, row, found, at)} aria-label=${`${visible(row.episode)}, turn ${row.place}`}><span class="prefix">${visible(row.episode.slice(0, cut))}</span>${visible(row.episode.slice(cut))}, turn ${row.place}</a></th>
    <td class="left seats"><div><${Seat} seat=${row.seat} said /><span class="name" title=${short(row.player)}>${short(row.player)}</span></div></td>
    <td class="left"><span class="action">${row.action == null ? html`<i class="bad">${said}</i>` : said.slice(0, 80)}</span></td>
    <td>${row.probability == null ? '–' : `${(row.probability * 100).toFixed(row.probability < 0.01 ? 2 : 1)} %`}</td>
    ${row.regret != null || query.regret || query.order === 'regret' ? html`<td>${number(row.regret)}</td>` : ''}
    <td class="wide">${row.advantage == null ? '–' : signed(row.advantage)}</td>
    <td class="wide">${signed(row.payoff)}</td>
    <td class="wide"><span class=${`outcome ${row.outcome}`}>${row.outcome}</span></td></tr>`;
}

export function Decisions({ query, library }) {
  const record = query.record || '';
  const { offset: text, ...filter } = query;
  const offset = Number(text) || 0;
  const { data, error } = useJson(api('decisions', { ...filter, record, offset, limit: PAGE }), useVersion(`record:${record}`));
  const set = (change) => go(link('/decisions', { ...filter, ...change }), true);
  if (error) return html`<p class="problem">${visible(error)}</p>
    <p><a href=${link('/decisions', { record })}>Clear the filter</a></p>`;
  if (!data) return html`<${Waiting} />`;
  const found = link('', filter).slice(2);
  const regret = query.regret || query.order === 'regret';
  return html`<h1>Decisions <small>${visible(record === '.' ? '' : record)}</small></h1>
    <${Filters} query=${query} data=${data} set=${set} library=${library} />
    <div class="head"><${Passed} data=${data} noun="decision" path="/decisions" record=${record} /></div>
    ${data.why_no_regret && html`<p class="note">${visible(data.why_no_regret)}</p>`}
    ${data.found === 0 ? html`<p class="empty">No decision passes this filter.</p>` : html`
    <div class="scroll"><table class="decisions"><thead><tr><th>Decision</th><th class="left">Seat</th><th class="left">Action</th><th>Probability</th>
      ${regret && html`<th>Regret</th>`}<th class="wide">Advantage</th><th class="wide">Reward</th><th class="wide">Outcome</th></tr></thead>
      <tbody>${data.decisions.map((row, place) => html`<${Row} key=${`${row.episode} ${row.place} ${row.seat} ${row.attempt}`} row=${row} query=${query} found=${found} at=${offset + place} />`)}</tbody></table></div>
    <${Pager} path="/decisions" query=${filter} offset=${offset} size=${PAGE} found=${data.found} />`}`;
}
