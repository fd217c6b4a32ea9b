// Several runs over one another: bands over the seeds of a recipe, and the settings in which they differ.
import { html, useState } from './preact-htm.js';
import { Name } from './names.js';
import { Picture, reading } from './picture.js';
import { api, count, link, number, useJson, useVersion, visible } from './data.js';
import { Waiting } from './parts.js';

const SHOWN = 9;
const TOLD = 3;
const role = (place) => `rival-${(place % 6) + 1}`;

function labelOf(band, place) {
  const settings = Object.entries(band.label).map(([key, value]) => `${key} = ${value ?? 'unset'}`);
  return settings.length ? `${settings.slice(0, TOLD).join(', ')}${settings.length > TOLD ? ` and ${settings.length - TOLD} more` : ''}` : band.runs.length > 1 ? `${count(band.runs.length, 'seed')}` : band.runs[0] || `band ${place + 1}`;
}

/** A mean with its band. */
function banded(mean, name, place) {
  const told = mean.mean.map((_, at) => `[${number(mean.low[at])}, ${number(mean.high[at])}]`);
  const edge = { x: mean.steps, role: 'edge', hoverinfo: 'skip' };
  return [{ ...edge, y: mean.low }, { ...edge, y: mean.high, role: `${role(place)} faint`, fill: 'tonexty', showlegend: false },
    { x: mean.steps, y: mean.mean, name, role: role(place), mode: 'lines', told }];
}

function traces(metric, bands, single, places) {
  return bands.flatMap((band, at) => {
    const mean = band.means[metric];
    if (mean && !single) return banded(mean, labelOf(band, at), at);
    return Object.entries(band.curves[metric] || {}).map(([run, curve]) => ({
      x: curve.steps, y: curve.values, name: visible(run), role: role(single ? places[run] : at), mode: curve.steps.length > 40 ? 'lines' : 'lines+markers' }));
  });
}

/** Seeds of the bands, and runs that are drawn alone, such as "2 to 5 seeds a band and 1 run". */
function sizes(seeds, alone) {
  const [low, high] = [Math.min(...seeds), Math.max(...seeds)];
  const banded = seeds.length && `${low === high ? '' : `${low} to `}${count(high, 'seed')}${seeds.length > 1 ? ' a band' : ''}`;
  return [banded, alone > 0 && count(alone, 'run')].filter(Boolean).join(' and ');
}

function MetricPicture({ metric, bands, single, places }) {
  const drawn = traces(metric.name, bands, single, places);
  const means = single ? [] : bands.map((band) => band.means[metric.name]).filter(Boolean);
  const alone = bands.filter((band) => single || !band.means[metric.name]).reduce((sum, band) => sum + Object.keys(band.curves[metric.name] || {}).length, 0);
  const facts = reading({ unit: metric.unit, n: sizes(means.map((mean) => mean.n), alone),
    interval: means.length ? `95 % over seeds, Student’s t${alone ? '; none for a run alone' : ''}` : 'none, every run is drawn', chance: metric.chance == null ? 'not measured' : number(metric.chance) });
  const levels = metric.chance == null ? [] : [{ value: metric.chance, name: `chance ${number(metric.chance)}` }];
  return html`<${Picture} title=${metric.name} traces=${drawn} layout=${{ levels }} facts=${facts} />`;
}

function Legend({ bands, single, places }) {
  return html`<ul class="band-keys">${bands.map((band, at) => html`<li>
    ${single ? null : html`<i class="band-key" style=${{ '--paint': `var(--${role(at)})` }}></i>`}
    <span><b>${visible(labelOf(band, at))}</b> ${band.runs.map((run) => html`<a href=${link('/run', { name: run })}>${single && html`<i class="band-key" style=${{ '--paint': `var(--${role(places[run])})` }}></i>`}${visible(run)}</a> `)}</span></li>`)}</ul>`;
}

function Settings({ data, keys, title }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${title}><table class="differing">
    <thead><tr><th>Setting</th>${data.runs.map((run) => html`<th><a href=${link('/run', { name: run.name })}><${Name} name=${run.name} /></a></th>`)}</tr></thead>
    <tbody>${keys.map((key) => html`<tr><th><${Name} name=${key} /></th>${data.runs.map((run) => html`<td>${run.settings[key] == null ? html`<span class="dim">–</span>` : visible(run.settings[key])}</td>`)}</tr>`)}</tbody></table></div>`;
}

function Differing({ data }) {
  return html`${data.differing.length ? html`<${Settings} data=${data} keys=${data.differing} title="Settings that differ" />`
    : html`<p class="dim">All settings ${data.partial.length ? 'that every run has ' : ''}are the same.</p>`}
    ${data.partial.length > 0 && html`<details><summary>${count(data.partial.length, 'setting')} that only some of the runs have</summary>
      <${Settings} data=${data} keys=${data.partial} title="Settings that only some of the runs have" /></details>`}`;
}

export function Overlay({ query }) {
  const address = api('overlay', { runs: query.runs || '' });
  const { data, error, address: answered } = useJson(address, useVersion());
  const [text, setText] = useState('');
  const [all, setAll] = useState(false);
  const [single, setSingle] = useState(false);
  if (!data || error || answered !== address) return html`<${Waiting} error=${answered === address && error} />`;
  const places = Object.fromEntries(data.runs.map((run, at) => [run.name, at]));
  const main = data.metrics.filter((metric) => data.main.includes(metric.name));
  const rest = data.metrics.filter((metric) => !data.main.includes(metric.name));
  const found = [...main, ...rest].filter((metric) => metric.name.toLowerCase().includes(text.toLowerCase()));
  const shown = all || text ? found : found.slice(0, SHOWN);
  return html`<h1>${count(data.runs.length, 'run')} over one another</h1>
    ${Object.entries(data.broken).map(([run, sentence]) => html`<p class="problem">${visible(run)}: ${visible(sentence)}</p>`)}
    <section aria-labelledby="differing"><h2 id="differing">What differs</h2><${Differing} data=${data} /></section>
    <section aria-labelledby="curves"><div class="head"><h2 id="curves">Metrics</h2>
      <input type="search" placeholder="Filter, such as payoff" aria-label="Part of a metric's name" value=${text} onInput=${(event) => setText(event.target.value)} />
      ${data.bands.some((band) => band.runs.length > 1) && html`<label class="check"><input type="checkbox" checked=${single} onChange=${(event) => setSingle(event.target.checked)} />Every run for itself</label>`}</div>
      <${Legend} bands=${data.bands} single=${single} places=${places} />
      <div class="plots">${shown.map((metric) => html`<${MetricPicture} key=${metric.name} metric=${metric} bands=${data.bands} single=${single} places=${places} />`)}</div>
      ${found.length === 0 && html`<p class="dim">No metric has this in its name.</p>`}
      ${shown.length < found.length && html`<button class="more" onClick=${() => setAll(true)}>Show all ${found.length} metrics</button>`}</section>`;
}
