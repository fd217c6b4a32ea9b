// The meta-game of a population: the mixture that no member beats, cycles of three, and lines of descent.
import { html } from './preact-htm.js';
import { Picture, reading } from './picture.js';
import { count, number, rounded, shortIn, visible } from './data.js';
import { Table } from './table.js';

const percent = (value) => `${(value * 100).toFixed(1)} %`;
const edge = (one) => `${one.mean > 0 ? '+' : ''}${rounded(one.mean, 3)}${one.exact ? '' : one.se == null ? ' ±?' : ` ±${rounded(one.se, 3)}`}`;

const placed = (data, place) => shortIn(data.game, data.players[place]);

export function Mixture({ data }) {
  const known = data.nash.map((one, at) => one && { ...one, name: placed(data, at), at }).filter(Boolean).sort((a, b) => b.share - a.share);
  if (!known.length) return html`<section aria-labelledby="mixture"><h2 id="mixture">Nash mixture</h2><p class="dim">Too few players met one another: a mixture needs games of every pair.</p></section>`;
  const bars = known.some((one) => one.low != null);
  const shown = known.filter((one) => one.share > 0.0005 || one.high > 0.0005);
  const names = shown.map((one) => one.name);
  const centres = { y: names, x: shown.map((one) => one.share), mode: 'markers', role: 'chosen', marker: { size: 9 }, text: shown.map((one) => (bars ? `${percent(one.low)} to ${percent(one.high)}` : 'exact')) };
  const intervals = { type: 'bar', y: names, base: shown.map((one) => one.low), x: shown.map((one) => one.high - one.low), width: 0.34, role: 'chosen faint', hoverinfo: 'skip' };
  const facts = reading({ unit: 'share of the mixture', n: count(known.length, 'player'), interval: bars ? '95 %, the bar, over matrices drawn anew from the standard errors' : 'none, the payoffs are exact', chance: `${percent(1 / known.length)}, all alike` });
  const layout = { yaxis: { type: 'category', autorange: 'reversed' }, xaxis: { tickformat: '.0%', range: [0, 1.05] }, hovermode: 'closest', marks: [1 / known.length] };
  const [others, absent] = [known.length - shown.length, data.nash.length - known.length];
  return html`<section aria-labelledby="mixture"><h2 id="mixture">Nash mixture</h2>
    <p class="wide-text">Draw a player for each game with these shares, and no member wins against the mixture on average. ${others > 0 && `The other ${others === 1 ? 'player has' : `${others} players have`} no share. `}${absent > 0 && `${count(absent, 'player')} did not meet all others, and ${absent === 1 ? 'is' : 'are'} not in it.`}</p>
    <${Picture} height=${44 + 28 * names.length} title="Share in the mixture" traces=${bars ? [intervals, centres] : [centres]} layout=${layout} facts=${facts} still />
    ${data.alpha_rank && html`<details><summary>Shares by alpha-rank, too</summary><${Table} heads=${['Player', 'Nash', 'alpha-rank']}
      rows=${data.players.map((name, at) => [placed(data, at), data.nash[at] ? percent(data.nash[at].share) : '–', data.alpha_rank[at] == null ? '–' : percent(data.alpha_rank[at])])} /></details>`}</section>`;
}

export function Cycles({ data }) {
  if (!data.triples) return null;
  const surely = (p) => (p <= 0.05 ? html`<b class="good">sure</b>` : html`<span class="dim">may be chance</span>`);
  return html`<section aria-labelledby="cycles"><h2 id="cycles">Cycles</h2>
    <p class="wide-text">${data.num_cycles === 0 ? `None of the ${count(data.triples, 'triple')} is a cycle, in which each beats the next.`
    : html`In ${number(data.num_cycles)} of ${count(data.triples, 'triple')} each beats the next; <b>${data.num_sure || 'none'}</b> of these cycles ${data.num_sure === 1 ? 'is' : 'are'} sure.`} <span class="dim">If every game were a coin toss, a quarter would be cycles.</span></p>
    ${data.cycles.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Cycles"><table class="cycles"><thead><tr><th>Each beats the next</th><th>by</th><th>p</th></tr></thead>
      <tbody>${data.cycles.map((one) => html`<tr><th>${one.players.map((place) => html`<span>${placed(data, place)}</span>`)}</th>
        <td>${one.margins.map((margin) => html`<div>${edge(margin)}</div>`)}</td><td>${one.p < 0.001 ? '< .001' : number(one.p)}<div>${surely(one.p)}</div></td></tr>`)}</tbody></table></div>
    <p class="caption">Unit: ${visible(data.unit)}, half the difference of payoffs. ± is a standard error over deals. p: least sure of the three, one-sided Student’s t, with Holm’s correction over all triples.${data.cycles.length < data.num_cycles ? ` The surest ${data.cycles.length} are listed.` : ''}</p>`}</section>`;
}

export function Descent({ data }) {
  if (!data.lines.length) return null;
  return html`<section aria-labelledby="descent"><h2 id="descent">Descent</h2>
    <p class="caption wide-text">Checkpoints of each learner in their order. Between two stands what the later wins from the earlier. Unit: ${visible(data.unit)}, half the difference of payoffs. ± is a standard error over deals. Chance level: 0, equal players.</p>
    <ul class="lines">${data.lines.map((line) => html`<li><h3>${visible(line.name)}${line.role && line.role !== line.name ? html` <span class="dim">${visible(line.role)}</span>` : ''}</h3>
      <ol>${line.places.map((place, at) => html`<li>${at > 0 && html`<span class=${`gain ${!line.gains[at] ? 'dim' : line.gains[at].mean < 0 ? 'bad' : 'good'}`}>${line.gains[at] ? edge(line.gains[at]) : 'not met'}<span aria-hidden="true"> →</span></span>`}<b>${placed(data, place)}</b></li>`)}</ol></li>`)}</ul></section>`;
}
