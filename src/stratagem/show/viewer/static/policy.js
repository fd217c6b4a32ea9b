// A policy by information set: beside an equilibrium, with the best response and the regret.
import { html, useEffect, useState } from './preact-htm.js';
import { api, count, go, link, number, short, useJson, visible } from './data.js';
import { JobState, useJob } from './jobs.js';
import { alike, Pager, Seat, Select, Waiting } from './parts.js';

const PAGE = 10;
const ORDERS = { regret: 'largest regret', leak: 'largest leak', reach: 'most reached', game: 'order of the game' };

function percent(p) {
  return p > 0 && p < 0.001 ? '< 0.1 %' : `${(p * 100).toFixed(p > 0 && p < 0.0995 ? 1 : 0)} %`;
}

/** A figure of a payoff; what is rounding alone is 0. */
function chips(value) {
  return number(Math.abs(value) < 5e-7 ? 0 : value);
}

/** The subjects of a folder as one list, each with the query that leads to it. */
function known(subjects) {
  const runs = subjects.runs.map((row) => ({ title: `run ${row.run === '.' ? '' : row.run}`, game: row.game, run: row.run, steps: row.steps }));
  const records = subjects.records.map((row) => ({ title: `${short(row.player)} in ${row.record === '.' ? 'this record' : row.record}`, game: row.game, record: row.record, player: row.player }));
  const players = subjects.players.map((player) => ({ title: player, player }));
  return { runs, records, players };
}

function same(one, query) {
  return !query.computed && (one.run || '') === (query.run || '') && (one.record || '') === (query.record || '') && (one.player || '') === (query.player || '');
}

function Sources({ subjects, query }) {
  const { runs, records, players } = known(subjects);
  const games = [...new Set([...runs, ...records].map((row) => row.game).concat(query.game || []))];
  const here = (rows) => rows.filter((row) => !row.game || row.game === query.game);
  const groups = [['Runs', here(runs)], ['Records', here(records)], ['Players', players]].filter(([, rows]) => rows.length);
  const every = groups.flatMap(([, rows]) => rows);
  const chosen = every.find((row) => same(row, query));
  const set = (change) => go(link('/policy', { ...query, offset: '', ...change }), true);
  const pick = (row) => go(link('/policy', { game: query.game, run: row.run, record: row.record, player: row.player, step: row.steps && row.steps[row.steps.length - 1], order: query.order }), true);
  return html`<form class="filters" onSubmit=${(event) => event.preventDefault()}>
    <${Select} title="Game" name="game" value=${query.game} options=${alike(games)} set=${(change) => go(link('/policy', change), true)} />
    <label>Policy of<select name="source" onChange=${(event) => pick(every[event.target.value])}>
      ${!chosen && html`<option value="" selected>choose one</option>`}
      ${groups.map(([title, rows]) => html`<optgroup label=${title}>${rows.map((row) => html`<option value=${every.indexOf(row)} selected=${row === chosen}>${visible(row.title)}</option>`)}</optgroup>`)}</select></label>
    ${chosen && chosen.steps && html`<${Select} title="After step" name="step" value=${query.step} options=${alike(chosen.steps)} set=${set} />`}
    <${Select} title="Order" name="order" value=${query.order || 'regret'} options=${ORDERS} set=${set} />
  </form>`;
}

/** Another player, such as the model of a checkpoint: its policy is computed in a process of its own. */
function Other({ query, subjects }) {
  const [player, setPlayer] = useState('');
  const state = useJob();
  const ask = (accepted = 0) => state.start('policy', { game: query.game, player, accepted });
  const done = state.job && state.job.state === 'done' && state.job.result.computed;
  useEffect(() => {
    if (done) go(link('/policy', { game: query.game, computed: done }));
  }, [done]);
  return html`<details class="legend" open=${!query.run && !query.player && !query.computed}><summary>Another player, such as a checkpoint</summary>
    <form class="filters ask" onSubmit=${(event) => { event.preventDefault(); if (player) ask(); }}>
      <label>Player<input type="text" list="models" value=${player} placeholder="run:runs/demo@best" onInput=${(event) => setPlayer(event.target.value)} /></label>
      <datalist id="models">${subjects.models.map((name) => html`<option value=${name} />`)}</datalist>
      <button disabled=${state.open || !player}>Compute its policy</button></form>
    <${JobState} state=${state} accept=${ask} verb="Compute" /></details>`;
}

function Audit({ audit, query }) {
  return html`<p class="note">Its audit: exploitability ${chips(audit.value)}, ${audit.lower === audit.upper ? 'exact' : `between ${chips(audit.lower)} and ${chips(audit.upper)}${audit.interval ? ` (${visible(audit.interval)})` : ''}`}, ${count(audit.n, 'reply', 'replies')}.
    ${audit.episode && html` <a href=${link('/replay', { record: query.record, id: audit.episode })}>The game that its exploiter won most in</a>`}</p>`;
}

function Action({ row, place, equilibrium }) {
  const p = row.policy[place];
  const told = row.equilibrium ? `, equilibrium ${percent(row.equilibrium[place])}` : '';
  return html`<li class=${row.answer === place ? 'answer' : ''} aria-label=${`${visible(row.actions[place])}: ${percent(p)}${told}${row.answer === place ? ', the best response' : ''}`}>
    <span class="action">${visible(row.actions[place])}${row.answer === place ? html` <span class="badge">best response</span>` : ''}</span>
    <span class="share" aria-hidden="true"><span class="own" style=${{ width: `${p * 100}%` }}></span>
      ${equilibrium && html`<span class="mark" style=${{ left: `${row.equilibrium[place] * 100}%` }}></span>`}</span>
    <span class="figures"><b>${percent(p)}</b>${equilibrium && html` <span class="dim">${percent(row.equilibrium[place])}</span>`}</span></li>`;
}

function InformationSet({ row, page, query, rank }) {
  const most = Math.max(...page.sets.map((one) => one.regret), 1e-12);
  const { order, offset, ...source } = query;
  return html`<li class="card set" key=${row.number}>
    <div class="situation"><span class="rank">${rank}</span><${Seat} seat=${row.seat} said />
      <p>${visible(row.situation)}</p><code>${visible(row.info_key)}</code>
      ${row.reach > 0 && html`<a href=${link('/replay', { ...source, line: row.number })}>Replay the exploiting line</a>`}</div>
    <ul class="actions" aria-label="Policy">${row.actions.map((_, place) => html`<${Action} key=${place} row=${row} place=${place} equilibrium=${row.equilibrium} />`)}</ul>
    <dl class="sums"><div><dt>Regret</dt><dd>${chips(row.regret)}<span class="share thin" aria-hidden="true"><span class="own bad" style=${{ width: `${Math.max(0, row.regret / most) * 100}%` }}></span></span></dd></div>
      ${row.leak != null && html`<div><dt>Leak</dt><dd>${chips(row.leak)}</dd></div>`}
      <div><dt>Reached</dt><dd>${percent(row.reach)}</dd></div>
      ${row.replies != null && html`<div><dt>Replies</dt><dd class=${row.replies ? '' : 'bad'}>${number(row.replies)}</dd></div>`}</dl>
  </li>`;
}

function Sets({ query, page }) {
  const offset = page.offset;
  const worst = offset === 0 && (query.order || 'regret') !== 'game';
  return html`<section aria-labelledby="sets"><h2 id="sets">${worst ? `Worst ${Math.min(PAGE, page.total)} information sets` : 'Information sets'} <small>${number(page.total)} in all, by ${ORDERS[query.order || 'regret']}</small></h2>
    <ol class="sets">${page.sets.map((row, place) => html`<${InformationSet} row=${row} page=${page} query=${query} rank=${offset + place + 1} />`)}</ol>
    <${Pager} path="/policy" query=${query} offset=${offset} size=${PAGE} found=${page.total} /></section>`;
}

function Answer({ query }) {
  const address = api('regrets', query);
  const { data: page, error, address: from } = useJson(address);
  if (error && from === address) return html`<p class="problem">${visible(error)}</p>`;
  if (!page || from !== address) return html`<p class="loading">Computing …</p>`;
  return html`
    <dl class="tiles"><div><dt>Exploitability, ${visible(page.unit)}</dt><dd>${chips(page.exploitability)}</dd></div>
      ${page.values.map((value, seat) => html`<div><dt>Value of seat ${seat}</dt><dd>${chips(value)}</dd></div>`)}
      ${page.replies != null && html`<div><dt>Replies counted</dt><dd>${number(page.replies)}</dd></div>`}</dl>
    ${page.audit && html`<${Audit} audit=${page.audit} query=${query} />`}
    ${query.computed && html`<p class="note">Policy of ${visible(page.title)}, computed on demand.</p>`}
    ${page.replies != null && html`<p class="note">The policy is the share of each action among recorded replies, so the exploitability is biased upwards.
      ${page.unseen > 0 && ` ${count(page.unseen, 'situation has', 'situations have')} no reply and count as even play.`}</p>`}
    <p class="legend-line"><span class="share sample" aria-hidden="true"><span class="own"></span></span> this policy at all seats
      ${page.equilibrium ? html`<span class="share sample" aria-hidden="true"><span class="mark"></span></span> ${visible(page.equilibrium)}` : html`<span class="dim">No equilibrium: ${visible(page.why_no_equilibrium)}</span>`}</p>
    <${Sets} query=${query} page=${page} />
    <details class="legend"><summary>What the figures mean</summary>
      <p><b>Regret</b>: probability that play reaches the situation, times what the seat gains there by its best response. All regrets add up to the exploitability.</p>
      <p><b>Leak</b>: what the exploiters of all seats lose if the equilibrium is played in this situation alone.</p>
      <p><b>Exploiting line</b>: the policy plays itself, and from this situation on its seat answers by its best response. Of a dozen deals that reach it, the one that pays most.</p></details>`;
}

export function Policy({ query }) {
  const { data: subjects, error } = useJson(api('subjects', { game: query.game }));
  if (error || !subjects) return html`<${Waiting} error=${error} />`;
  const first = [...known(subjects).runs, ...known(subjects).records];
  if (!query.game) {
    const start = first[0] || { game: 'kuhn', player: 'random' };
    go(link('/policy', { game: start.game, run: start.run, record: start.record, player: start.player, step: start.steps && start.steps[start.steps.length - 1] }), true);
    return null;
  }
  const chosen = query.run || query.player || query.computed;
  return html`<h1>Policy and regret</h1><${Sources} subjects=${subjects} query=${query} /><${Other} subjects=${subjects} query=${query} />
    ${chosen ? html`<${Answer} query=${query} />` : html`<p class="empty">Choose a policy.</p>`}`;
}
