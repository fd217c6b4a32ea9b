// One run: its status, its checks, its curves, and its recipe.
import { html, useEffect, useState } from './preact-htm.js';
import { Chart } from './chart.js';
import { Copy } from './copy.js';
import { api, count, link, number, useJson, useVersion, visible } from './data.js';
import { Export } from './export.js';
import { Notes } from './notes.js';
import { Sections, pageOf } from './report.js';
import { live } from './source.js';
import { Waiting } from './parts.js';

const FIRST = [/exact\/exploitability$/, /^checkpoint_metric$/, /^[^/]+\/payoff$/, /validation\//, /illegal_rate$/, /^loss$/, /^entropy$/];
const SHOWN = 12;

function rank(name) {
  const place = FIRST.findIndex((pattern) => pattern.test(name));
  return place < 0 ? FIRST.length : place;
}

function Curves({ curves, best, worse, noted }) {
  const [text, setText] = useState('');
  const [all, setAll] = useState(false);
  if (!Object.keys(curves).length) return html`<section aria-labelledby="curves"><h2 id="curves">Metrics</h2><p class="dim">No metrics have been logged yet.</p></section>`;
  const names = Object.keys(curves).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const found = names.filter((name) => name.toLowerCase().includes(text.toLowerCase()));
  const shown = all || text ? found : found.slice(0, SHOWN);
  return html`<section aria-labelledby="curves">
    <div class="head"><h2 id="curves">Metrics</h2>
      <input type="search" placeholder="Filter, such as payoff" aria-label="Part of a metric's name" value=${text} onInput=${(event) => setText(event.target.value)} /></div>
    <p class="dim">Value by step${best != null ? html`; the dashed green line is the best checkpoint, step ${best}${worse}` : ''}${noted.length > 0 && '; red lines are the first findings of checks'}. Drag over steps to see them larger.</p>
    <div class="plots">${shown.map((name) => html`<${Chart} key=${name} name=${name} curve=${curves[name]} best=${/^sft[-/]/.test(name) ? null : best} noted=${/^sft[-/]/.test(name) ? [] : noted} />`)}</div>
    ${found.length === 0 && html`<p class="dim">No metric has this in its name.</p>`}
    ${shown.length < found.length && html`<button class="more" onClick=${() => setAll(true)}>Show all ${found.length} metrics</button>`}
  </section>`;
}

/** Links to the pages of the report; it is made of the whole run, so it is asked for when the rest is there. */
function Report({ name }) {
  const [due, setDue] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), 300);
    return () => clearTimeout(timer);
  }, []);
  const { data, error } = useJson(due ? api('report', { run: name }) : '');
  return html`<section aria-labelledby="report"><h2 id="report">Report</h2>
    ${error ? html`<p class="problem">${visible(error)}</p>` : data ? html`<${Sections} run=${name} sections=${data.sections} />` : html`<p class="dim"><a href=${pageOf(name)}>Summary</a></p>`}</section>`;
}

function Commands({ run }) {
  const commands = [['watch', run.path], ['report', run.path], ...(['failed', 'interrupted'].includes(run.state) ? [['train', run.path, '--resume']] : [])];
  return html`<section aria-labelledby="commands"><h2 id="commands">In the terminal</h2>${commands.map((words) => html`<${Copy} key=${words[0]} words=${['stratagem', ...words]} />`)}</section>`;
}

export function Run({ query }) {
  const { name } = query;
  const { data: run, error, address } = useJson(api('run', { name }), useVersion(`run:${name}`));
  if (error || !run || address !== api('run', { name })) return html`<${Waiting} error=${error} />`;
  if (run.state === 'damaged') return html`<h1>${visible(name)}</h1><p class="problem">${visible(run.sentence)}</p>`;
  const worse = run.start_is_best ? ', no better than the start' : '';
  const tiles = [['Algorithm', run.algorithm], ['Seed', run.seed], ...(run.sft_steps ? [['Steps of SFT', run.sft_steps], ['Step after SFT', run.step]] : [['Step', run.step]]),
    ['Best step', `${number(run.best_step)}${run.best_step != null && run.sft_steps ? `, @${run.sft_steps + run.best_step}` : ''}${worse}`], ['Checkpoint metric, last step', number(run.score)],
    ...Object.entries(run.exploitability).map(([game, value]) => [`Exploitability, ${game}, last step`, number(value)])];
  const findings = Object.entries(run.findings);
  const noted = [...new Set(findings.filter(([, finding]) => finding.level === 'fault' && finding.step != null).map(([, finding]) => finding.step))];
  return html`<h1>${visible(name === '.' ? 'This run' : name)} <span class=${`state ${run.state}`}>${run.state}</span></h1>
    ${run.sentence && html`<p class="problem">${visible(run.sentence)}</p>`}
    <dl class="tiles">${tiles.map(([title, value]) => html`<div><dt>${visible(title)}</dt><dd>${visible(value)}</dd></div>`)}</dl>
    <p class="links">${run.record != null && html`<a href=${link('/games', { record: run.record, order: 'newest' })}>Its games</a>`}
      ${run.record != null && html`<a href=${link('/checks', { record: run.record })}>Checks of its record</a>`}
      ${run.policy && html`<a href=${link('/policy', { run: name, ...run.policy })}>Its policy</a>`}
      <a href=${pageOf(name)}>Its report</a></p>
    ${findings.length > 0 && html`<section aria-labelledby="checks"><h2 id="checks">Checks</h2><ul class="plain">${findings.map(([check, finding]) =>
      html`<li><span class=${`badge ${finding.level === 'fault' ? 'bad' : ''}`}>${visible(finding.level)}</span> <b>${visible(check)}</b>, ${count(finding.count, 'time')}${finding.step == null ? '' : ', first at '}${finding.step == null ? '' : run.record == null || finding.shard == null ? `step ${finding.step}` : html`<a href=${link('/decisions', { record: run.record, step: finding.shard })}>step ${finding.step}</a>`}: ${visible(finding.first)}</li>`)}</ul></section>`}
    <${Curves} curves=${run.curves} best=${run.best_step} worse=${worse} noted=${noted} />
    <${Notes} key=${`note ${name}`} run=${run} />
    <${Report} key=${`report ${name}`} name=${name} />
    ${live && run.record != null && html`<${Export} key=${`export ${name}`} record=${run.record} label="Export the run as one file" />`}
    ${run.path && html`<${Commands} run=${run} />`}
    <section><h2>Recipe</h2><details><summary>All settings</summary><pre>${visible(run.settings)}</pre></details>
      <p>Begun ${visible(run.begun)} by</p><pre>${visible(run.command)}</pre></section>
    ${run.unreadable.map((sentence) => html`<p class="problem">${visible(sentence)}</p>`)}`;
}
