// The conversation of a replay: what was said so far, and what became of each promise and request.
import { html } from './preact-htm.js';
import { link, visible } from './data.js';
import { Seat } from './parts.js';

const WORDS = { state: 'statement', move: 'promise', ask: 'request' };
const REQUEST = { kept: 'met', broken: 'refused' };

/** A promise is open up to the turn that decides it; one that bound no decision is void at the end. */
function outcome(bound, kind, position, last) {
  const decided = bound.position == null ? position === last : bound.position <= position;
  if (!decided) return 'open';
  return (kind === 'ask' && REQUEST[bound.outcome]) || bound.outcome;
}

function Outcome({ bound, message, position, last, query }) {
  const said = outcome(bound, message.kind, position, last);
  const whose = message.kind === 'ask' ? html`<${Seat} seat=${bound.seat} said /> ` : '';
  const how = said === 'broken' && bound.breach ? `broken (${bound.breach})` : said;
  const word = html`<b class=${`outcome ${said}`}>${how}</b>`;
  if (bound.position == null) return html`<span>${whose}${word}</span>`;
  return html`<span>${whose}<a href=${link('/replay', { ...query, turn: bound.position, seat: '' })} title=${`Decided in turn ${bound.position}: ${visible(bound.action)}`}>${word}</a></span>`;
}

export function Conversation({ episode, position, query }) {
  const all = episode.conversation || [];
  if (!all.length) return null;
  const last = episode.turns.length;
  const said = all.filter((message) => message.position <= position);
  return html`<div class="conversation"><h3>Conversation</h3>
    ${!said.length && html`<p class="dim">Nothing was said so far.</p>`}
    <ol class="messages" aria-label="Conversation">${said.map((message) => html`<li aria-current=${message.position === position ? 'step' : null}>
      <a class="turn" href=${link('/replay', { ...query, turn: message.position, seat: '' })} aria-label=${`Said in turn ${message.position}`}>${message.position}</a>
      <${Seat} seat=${message.seat} said />${message.to != null && html`<span class="dim">to </span><${Seat} seat=${message.to} said />`}
      <q>${visible(message.text)}</q>
      ${WORDS[message.kind] && html`<small class="dim">${WORDS[message.kind]}</small>`}
      ${message.truth && html`<b class=${`outcome ${message.truth}`}>${message.truth}</b>`}
      ${message.bound.map((bound) => html`<${Outcome} bound=${bound} message=${message} position=${position} last=${last} query=${query} />`)}
    </li>`)}</ol></div>`;
}
