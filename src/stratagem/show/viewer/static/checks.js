// Checks of a record for defects that metrics do not show, with links to the decisions.
import { html } from './preact-htm.js';
import { api, count, link, useJson, useVersion, visible } from './data.js';
import { Records, Waiting } from './parts.js';

const MARKS = { fault: 'bad', passed: 'good', 'not checked': 'dim' };

function Check({ check, record }) {
  return html`<li class="card check-row" id=${`check-${check.name}`}>
    <div class="head"><span class=${`badge ${MARKS[check.state]}`}>${check.state}</span><h2>${check.question}</h2></div>
    <p>${visible(check.sentence)}${check.count > 1 ? ` ${count(check.count, 'defect')}.` : ''}</p>
    ${check.places.length > 0 && html`<ul class="plain places">${check.places.map((place) => html`<li key=${`${place.episode} ${place.place} ${place.seat}`}>
      <a href=${link('/replay', { record, id: place.episode, turn: place.place, seat: `${place.seat}.${place.attempt}` })}>${visible(place.episode)}, turn ${place.place}</a>${" "}<span class="dim">step ${place.step}</span>${" "}${visible(place.sentence)}</li>`)}</ul>`}
    ${check.count > check.places.length && check.places.length > 0 && html`<p class="dim">and ${check.count - check.places.length} more</p>`}</li>`;
}

export function Checks({ query, library }) {
  const record = query.record || '';
  const { data, error } = useJson(api('checks', { record }), useVersion(`record:${record}`));
  return html`<h1>Checks <small>${visible(record === '.' ? '' : record)}</small></h1>
    <form class="filters"><${Records} library=${library} query=${query} path="/checks" /></form>
    ${error || !data ? html`<${Waiting} error=${error} />` : html`
      <p class="dim" role="status">${count(data.checks.filter((check) => check.state === 'fault').length, 'fault')} in ${data.looked_at === data.shards ? count(data.shards, 'shard') : `${data.looked_at} of ${count(data.shards, 'shard')}, the first and the last among them`}.</p>
      <ul class="sets">${data.checks.map((check) => html`<${Check} key=${check.name} check=${check} record=${record} />`)}</ul>`}`;
}
