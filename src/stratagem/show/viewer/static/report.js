// The report of a run, a section a page: trees of tags from the server, built as elements here.
import { h, html } from './preact-htm.js';
import { Copy } from './copy.js';
import { Picture } from './picture.js';
import { api, link, useJson, useVersion, visible } from './data.js';
import { live } from './source.js';

export const pageOf = (run, section) => link('/report', { run, section });

const told = (node) => (typeof node === 'string' ? node : node.slice(2).map(told).join(''));

/** A picture of the report, drawn by the same code as in its file. */
function Figure({ given, parts }) {
  const part = (tag) => parts.find((node) => node[0] === tag);
  const texts = parts.filter((node) => node[0] === 'p').map(told);
  const kind = given.class.replace(/\bplot\b/, '').trim();
  return html`<${Picture} title=${told(part('figcaption') || '')} traces=${given.data.traces} layout=${given.data.layout} kind=${kind}
    caption=${texts.slice(0, -1).join(' ')} facts=${texts[texts.length - 1] || ''} label=${(part('div') || [])[1]?.['aria-label']} still=${kind === 'policy'} />`;
}

function built(node, run) {
  if (typeof node === 'string') return visible(node);
  const [tag, given, ...parts] = node;
  if (tag === 'figure' && given.data) return html`<${Figure} given=${given} parts=${parts} />`;
  const kept = given.href ? { ...given, href: pageOf(run, given.href.slice(1)) } : given;
  return h(tag, kept, ...parts.map((part) => built(part, run)));
}

/** Links to the sections of a report. */
export function Sections({ run, sections, now }) {
  return html`<nav class="sections" aria-label="Sections of the report">${sections.map((one) => html`<a href=${pageOf(run, one.name)}
    aria-current=${one.name === now ? 'page' : null}>${visible(one.title)}</a>`)}</nav>`;
}

export function Report({ query, library }) {
  const run = query.run || '';
  const asked = api('report', { run, section: query.section });
  const { data, error } = useJson(asked, useVersion(`run:${run}`));
  if (error) return html`<p class="problem">${visible(error)}</p><p><a href=${link('/run', { name: run })}>The run</a></p>`;
  if (!data) return html`<p class="loading">Reading the run …</p>`;
  const { section, sections } = data;
  const known = library.runs.find((one) => one.name === run);
  return html`<h1>Report <small><a href=${link('/run', { name: run })}>${visible(run === '.' ? 'this run' : run)}</a>${known && html` <span class=${`state ${known.state}`}>${visible(known.state)}</span>`}</small></h1>
    <${Sections} run=${run} sections=${sections} now=${section.name} />
    <section class="report" aria-labelledby="section"><h2 id="section">${visible(section.title)}</h2>
      ${section.shows && html`<p class="shows">${visible(section.shows)}</p>`}
      <div key=${section.name}>${section.body.map((node) => built(node, run))}</div></section>
    ${live && html`<section class="as-file"><p class="dim">${data.file ? html`As one file, as it was written last: <a href=${`/pages/${data.file.split('/').map(encodeURIComponent).join('/')}`} target="_blank" rel="noopener">report.html</a>. To write it again:` : 'As one file:'}</p>
      <${Copy} words=${['stratagem', 'report', data.path]} /></section>`}`;
}
