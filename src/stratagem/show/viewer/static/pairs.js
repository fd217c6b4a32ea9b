// Paired deals: two players, such as checkpoints, on the same deals; and one pair turn by turn with a diff of prompts.
import { html } from './preact-htm.js';
import { api, count, go, link, number, short, useJson, useVersion, visible } from './data.js';
import { alike, PAGE, Pager, Select, Waiting } from './parts.js';

const fixed = (value) => (value == null ? '–' : value.toFixed(2).replace('-', '−'));

function Difference({ prompt, players }) {
  if (!prompt) return html`<p class="dim">No model was asked at this seat.</p>`;
  const marks = { both: ' ', first: '−', second: '+' };
  return html`<h3>${prompt.same ? `The prompts are the same; that of turn ${prompt.turn + 1}` : `First prompts that differ, turn ${prompt.turn + 1}`}</h3>
    <pre class="difference" tabindex="0">${prompt.lines.map((line) => html`<span class=${`line ${line.in}`}>${marks[line.in]} ${visible(line.text)}${'\n'}</span>`)}</pre>
    <div class="replies">${players.map((name, at) => html`<div><h3>Reply of ${short(name)}</h3><pre>${visible(prompt.replies[at])}</pre></div>`)}</div>`;
}

function One({ query, back }) {
  const address = api('pair', { record: query.record, first: query.one, second: query.other, seat: query.seat });
  const { data, error, address: answered } = useJson(address);
  if (!data || error || answered !== address) return html`<${Waiting} error=${answered === address && error} />`;
  const episode = (id) => link('/replay', { record: query.record, id, turn: data.parted == null ? '' : data.parted + 1 });
  return html`<p><a href=${back}>All pairs</a></p>
    <section aria-labelledby="turns"><h2 id="turns">Turn by turn</h2>
      <p class="dim">${data.parted == null ? 'Both play the same.' : `They part at turn ${data.parted + 1}.`}</p>
      <div class="scroll" tabindex="0" role="region" aria-label="Actions by turn"><table class="turns"><thead><tr><th>Turn, seat</th>${[query.one, query.other].map((id, at) => html`<th><a href=${episode(id)}>${short(data.players[at])}</a></th>`)}</tr></thead>
      <tbody>${data.turns.map((row) => html`<tr class=${row.actions[0] === row.actions[1] ? '' : 'parted'}><th>${row.turn + 1}, seat ${row.seat}</th>
        ${row.actions.map((action) => html`<td class="left">${action == null ? html`<span class="dim">–</span>` : visible(action)}</td>`)}</tr>`)}</tbody></table></div></section>
    <section aria-labelledby="prompts"><h2 id="prompts">Prompts and replies of seat ${query.seat}</h2><${Difference} prompt=${data.prompt} players=${data.players} /></section>`;
}

function Gain({ data }) {
  if (!data.gain) return null;
  const ends = data.gain.low == null ? 'one deal' : `${number(data.gain.low)} … ${number(data.gain.high)}`;
  return html`<dl class="tiles"><div><dt>Payoff a round, second less first</dt><dd>${number(data.gain.mean)}</dd></div>
    <div><dt>95 % interval, Student’s t</dt><dd>${ends}</dd></div><div><dt>n</dt><dd>${count(data.deals, 'deal')}</dd></div><div><dt>Chance level</dt><dd>0, for equal players</dd></div></dl>`;
}

export function Pairs({ query }) {
  const { record = '', first, second, offset: text } = query;
  const offset = Number(text) || 0;
  const address = api('pairs', { record, first, second, offset, limit: PAGE });
  const { data, error } = useJson(address, useVersion(`record:${record}`));
  const set = (change) => go(link('/pairs', { record, first: first || data.first, second: second || data.second, ...change }));
  if (error || !data) return html`<${Waiting} error=${error} />`;
  const title = html`<h1>Paired deals <small>${visible(record === '.' ? '' : record)}</small></h1>`;
  if (!data.players.length) return html`${title}<p class="empty">No two players of this record sat at the same seat of the same deal against the same others. An evaluation of two checkpoints records such deals: <code>stratagem eval GAME --player run:RUN@start --player run:RUN --record FOLDER</code>.</p>`;
  const all = { record, first: data.first, second: data.second };
  if (query.one) return html`${title}<${One} query=${query} back=${link('/pairs', all)} />`;
  return html`${title}
    <form class="filters" onSubmit=${(event) => event.preventDefault()}><${Select} title="First" name="first" value=${data.first} options=${alike(data.players)} set=${set} />
      <${Select} title="Second" name="second" value=${data.second} options=${alike(data.players)} set=${set} /></form>
    <${Gain} data=${data} />
    ${data.found === 0 ? html`<p class="empty">These two have no deal in common.</p>` : html`<p class="dim" role="status">${count(data.found, 'pair')} of ${visible(data.first)} and ${visible(data.second)}, the largest differences first.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Pairs"><table><thead><tr><th>Pair</th><th class="left wide">Against</th><th>First</th><th>Second</th><th>Difference</th></tr></thead>
      <tbody>${data.pairs.map((row) => html`<tr><th><a href=${link('/pairs', { ...all, one: row.first, other: row.second, seat: row.seat })}>${visible(row.game)}, seat ${row.seat}: ${visible(row.first)}</a></th>
        <td class="left wide">${row.others.map(short).join(', ')}</td>${row.payoffs.map((pay) => html`<td>${fixed(pay)}</td>`)}<td>${fixed(row.payoffs[1] - row.payoffs[0])}</td></tr>`)}</tbody></table></div>
    <${Pager} path="/pairs" query=${all} offset=${offset} size=${PAGE} found=${data.found} />`}`;
}
