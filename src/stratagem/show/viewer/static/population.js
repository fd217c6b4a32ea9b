// Populations: the cross-play of records, leagues and tournaments as a heat map, and ratings with their intervals.
import { html } from './preact-htm.js';
import { Cycles, Descent, Mixture } from './meta_game.js';
import { Picture, reading } from './picture.js';
import { api, count, go, link, number, rounded, shortIn, useJson, useVersion, visible } from './data.js';
import { Name } from './names.js';
import { Table } from './table.js';
import { Waiting } from './parts.js';

const KINDS = { league: 'league', tournament: 'tournament', record: 'record' };

function Cell({ cell, href, least, most, row, column }) {
  if (!cell || cell.mean == null) return html`<td class="heat none" aria-label=${`${row} against ${column}: no games`}>–</td>`;
  const size = most > least ? (cell.mean - least) / (most - least) : 0.5;
  const text = rounded(cell.mean);
  const told = `${row} against ${column}: ${text}${cell.se ? ` ±${rounded(cell.se)}` : ''}, n ${cell.n}`;
  return html`<td class=${`heat ${size < 0.5 ? 'low' : 'high'}`} style=${{ '--share': `${Math.round(Math.abs(size - 0.5) * 200)}%` }} title=${told}>
    ${href ? html`<a href=${href} aria-label=${`${told}; see the games`}>${text}</a>` : text}${cell.se ? html`<small>±${rounded(cell.se)}</small>` : ''}</td>`;
}

function Matrix({ data }) {
  const means = data.payoff.flat().filter((cell) => cell && cell.mean != null).map((cell) => cell.mean);
  const centre = data.null ?? (Math.min(...means) + Math.max(...means)) / 2;
  const far = Math.max(...means.map((mean) => Math.abs(mean - centre)));
  const games = (row, column) => data.met[row][column] && link('/games', { record: data.met[row][column], player: data.recorded[row], opponent: data.recorded[column] });
  const exact = data.payoff.flat().some((cell) => cell?.exact);
  return html`<p class="caption wide-text">Payoff of the row against the column. Unit: ${visible(data.unit)}. n: deals of a cell, told under the pointer. Interval: ± is a standard error over deals${exact ? '; without it the figure is exact or has one deal' : ''}. Chance level: ${data.null == null ? 'not known' : `${number(data.null)}, among equal players`}.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Matrix of payoffs"><table class="heat-map">
    <thead><tr><td></td>${data.players.map((name, at) => html`<th scope="col" title=${visible(name)}>${at + 1}</th>`)}</tr></thead>
    <tbody>${data.payoff.map((line, row) => html`<tr><th scope="row">${row + 1}. <${Name} name=${shortIn(data.game, data.players[row])} /></th>
      ${line.map((cell, column) => html`<${Cell} cell=${cell} href=${games(row, column)} least=${centre - far} most=${centre + far} row=${shortIn(data.game, data.players[row])} column=${shortIn(data.game, data.players[column])} />`)}</tr>`)}</tbody></table></div>`;
}

function Ratings({ data }) {
  if (data.ratings.length) {
    const names = data.ratings.map((one) => shortIn(data.game, one.name));
    const intervals = { type: 'bar', y: names, base: data.ratings.map((one) => one.low), x: data.ratings.map((one) => one.high - one.low), width: 0.34, role: 'chosen faint', hoverinfo: 'skip' };
    const centres = { y: names, x: data.ratings.map((one) => one.elo), mode: 'markers', role: 'chosen', marker: { size: 9 }, text: data.ratings.map((one) => `${Math.round(one.low)} to ${Math.round(one.high)}`) };
    const least = Math.min(...data.ratings.map((one) => one.games));
    const facts = reading({ unit: 'Elo, 400 points for odds of 10 to 1', n: `at least ${number(Math.round(least))} deals a player`, interval: '95 %, the bar', chance: '1500, the mean' });
    const layout = { yaxis: { type: 'category', autorange: 'reversed' }, hovermode: 'closest', marks: [1500] };
    return html`<section aria-labelledby="ratings"><h2 id="ratings">Ratings</h2><${Picture} height=${36 + 28 * names.length} title="Elo by maximum likelihood" traces=${[intervals, centres]} layout=${layout} facts=${facts} />
      <${Table} rows=${data.ratings.map((one) => [shortIn(data.game, one.name), Math.round(one.elo), `${Math.round(one.low)} … ${Math.round(one.high)}`, number(Math.round(one.games))])} heads=${['Player', 'Elo', '95 % interval', 'Deals']} /></section>`;
  }
  if (!data.means) return null;
  return html`<section aria-labelledby="ratings"><h2 id="ratings">Mean against all others</h2>
    <${Table} heads=${['Player', 'Mean', 'Standard error']} rows=${data.players.map((name, at) => [shortIn(data.game, name), number(data.means[at].mean), data.means[at].exact ? 'exact' : number(data.means[at].se)])} /></section>`;
}

function One({ query }) {
  const address = api('population', query);
  const { data, error, address: answered } = useJson(address, useVersion());
  if (!data || error || answered !== address) return html`<${Waiting} error=${answered === address && error} />`;
  return html`${data.left_out > 0 && html`<p class="dim">The ${data.players.length} players with the most games; ${count(data.left_out, 'other')} left out.</p>`}
    <section aria-labelledby="cross-play"><h2 id="cross-play">Cross-play</h2><${Matrix} data=${data} /></section>
    <${Ratings} data=${data} /><${Mixture} data=${data} /><${Cycles} data=${data} /><${Descent} data=${data} />`;
}

const key = (one) => JSON.stringify([one.kind, one.name, one.game]);

export function Population({ query }) {
  const { data, error } = useJson(api('populations'), useVersion());
  if (error || !data) return html`<${Waiting} error=${error} />`;
  const all = data.populations;
  if (!all.length) return html`<h1>Population</h1><p class="empty">There is no cross-play here: a league, a file of <code>stratagem tournament --out</code>, or a record of games between players.</p>`;
  const wanted = { kind: query.kind, name: query.name, game: query.game };
  const now = all.find((one) => key(one) === key(wanted)) || (query.kind ? wanted : all[0]);
  const choose = (event) => go(link('/population', (({ kind, name, game }) => ({ kind, name, game }))(all[Number(event.target.value)])));
  return html`<h1>Population <small>${visible(now.game)}, ${KINDS[now.kind] || ''} ${visible(now.name === '.' ? '' : now.name)}</small></h1>
    ${all.length > 1 && html`<form class="filters" onSubmit=${(event) => event.preventDefault()}><label>Cross-play of<select name="population" onChange=${choose}>
      ${all.map((one, at) => html`<option value=${at} selected=${key(one) === key(now)}>${KINDS[one.kind]} ${visible(one.name)}: ${visible(one.game)}, ${count(one.players, 'player')}</option>`)}</select></label></form>`}
    <${One} query=${{ kind: now.kind, name: now.name, game: now.game }} />`;
}
