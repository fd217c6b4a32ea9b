// The words behind the decisions of a turn: prompts, and replies token by token.
import { html, useState } from './preact-htm.js';
import { api, count, go, link, number, short, signed, useJson, visible } from './data.js';
import { Prompt } from './prompt.js';
import { Blocks } from './tokens.js';
import { Seat } from './parts.js';

const KINDS = {
  sampled: 'sampled by the model',
  forced: 'the only legal token, not sampled',
  argmax: 'the most likely legal token, after an illegal reply',
};

function percent(p) {
  return p == null ? '–' : p >= 0.9995 ? '100 %' : p < 0.001 ? '< 0.1 %' : `${(p * 100).toFixed(1)} %`;
}

function sign(text) {
  return visible(text).replace(/\n/g, '↵\n').replace(/\t/g, '⇥');
}

function described(token, place, row) {
  const loss = row.advantage == null ? '' : token.kind === 'sampled' ? `; in the loss with weight 1, advantage ${signed(row.advantage)}` : '; not in the loss';
  const limits = token.outside ? '; it is outside the set of legal tokens' : token.kind === 'forced' ? '' : token.allowed == null ? '; any token was allowed'
    : `; ${token.allowed} ${token.allowed === 1 ? 'token was' : 'tokens were'} allowed`;
  return `Token ${place + 1}, id ${token.id}: ${KINDS[token.kind] || token.kind}${token.p == null ? '' : `, probability ${percent(token.p)}`}${limits}${loss}.`;
}

function Tokens({ call, row }) {
  const [held, setHeld] = useState(0);
  if (!call.tokens.length) return html`<div class="reply"><span class="plain">${sign(call.text)}</span></div>
    <p class="dim">This server told no tokens.</p>`;
  const told = call.tokens[Math.min(held, call.tokens.length - 1)];
  const known = call.tokens.some((token) => token.text != null);
  return html`${!known && html`<div class="reply"><span class="plain">${sign(call.text)}</span></div>
    <p class="dim">The tokenizer of ${visible(call.base)} is not on this machine, or does not give this text, so tokens are numbers.</p>`}
    <${Blocks} tokens=${call.tokens} label="Tokens of the reply" draw=${(token, place) => html`<span key=${place} role="listitem" tabindex="0"
      class=${`token ${token.kind} ${token.allowed != null && token.kind === 'sampled' ? 'masked' : ''} ${token.outside ? 'outside' : ''} ${place === held ? 'held' : ''}`}
      style=${token.p == null ? {} : { '--p': token.p.toFixed(3) }} aria-label=${`${visible(token.text ?? token.id)}. ${described(token, place, row)}`}
      onMouseEnter=${() => setHeld(place)} onFocus=${() => setHeld(place)} onClick=${() => setHeld(place)}
      >${token.text == null ? token.id : token.text === '' ? '∅' : sign(token.text)}</span>`} />
    <p class="told" aria-live="polite">${described(told, held, row)}
      ${told.others.length > 0 && html` Also allowed: ${told.others.map((text) => html`<code>${visible(text) || '(end)'}</code> `)}`}</p>`;
}

function Legend() {
  return html`<details class="legend"><summary>Colours and marks</summary><p>
    <span class="scale" aria-hidden="true"></span> probability of a token under its sampling distribution, from 0 to 100 %.
    <span class="token sampled masked">dotted</span> sampled from a limited set.
    <span class="token forced">grey</span> the only legal token, not sampled.
    <span class="token argmax">dashed</span> the most likely legal token, after an illegal reply.
    <span class="token sampled outside">red frame</span> sampled from outside the legal set, which is a defect.
    ∅ has no text of its own.</p></details>`;
}

function Call({ call, index, total, row }) {
  const settings = `${visible(call.base)}${call.adapter ? `, adapter ${visible(call.adapter)}` : ''}${call.version ? `, update ${call.version}` : ''}, temperature ${call.temperature}${
    call.top_p < 1 ? `, top_p ${call.top_p}` : ''}${call.top_k ? `, top_k ${call.top_k}` : ''}${call.min_p ? `, min_p ${call.min_p}` : ''}${
    call.sampler ? `, sampler ${visible(call.sampler)}` : ''}`;
  const joint = call.tokens.reduce((product, token) => (token.p == null ? product : product * token.p), 1);
  return html`<article class="call">
    ${total > 1 && html`<h3>Call ${index + 1} of ${total}</h3>`}
    <${Prompt} call=${call} />
    ${call.reasoning && html`<div class="message reasoning"><b>reasoning</b><div class="content">${visible(call.reasoning)}</div></div>`}
    <div class="message reply-box"><b>reply</b>${call.finish === 'error' || (call.finish !== 'done' && !call.tokens.length)
      ? html`<p class="problem">${visible(call.finish)}: ${visible(call.text)}</p>` : html`<${Tokens} call=${call} row=${row} />`}</div>
    <p class="small">${call.tokens.length > 0 && html`Probability of the whole reply ${percent(joint)}. `}${call.finish !== 'done' && `Ended by ${call.finish}. `}${count(call.num_prompt, 'prompt token')}, ${count(call.num_reply, 'reply token')}, ${number(call.ms, 1)} ms. ${settings}.</p>
  </article>`;
}

export function Words({ turn, query, episode }) {
  const spoken = turn ? turn.decisions.filter((row) => row.calls > 0) : [];
  const chosen = spoken.find((row) => `${row.seat}.${row.attempt}` === query.seat) || spoken[0];
  const address = chosen ? api('words', { record: query.record, id: query.id, turn: turn.turn, seat: chosen.seat, attempt: chosen.attempt }) : '';
  const { data, error, address: from } = useJson(address);
  const models = episode.turns.some((one) => one.decisions.some((row) => row.calls > 0));
  return html`<section class="words" aria-label="Words"><div class="head"><h2>Words</h2>
    ${spoken.length > 1 && html`<div class="tabs" role="tablist" aria-label="Decisions">${spoken.map((row) => html`<button role="tab" aria-selected=${row === chosen}
      onClick=${() => go(link('/replay', { ...query, seat: `${row.seat}.${row.attempt}` }), true)}><${Seat} seat=${row.seat} />${short(episode.players[row.seat])}${row.attempt ? `, attempt ${row.attempt + 1}` : ''}</button>`)}</div>`}</div>
    ${!chosen && html`<p class="empty">${!models ? 'No model played in this episode, or the record has no calls.' : turn ? 'No model decided in this turn.' : 'Step forward to a decision of a model.'}</p>`}
    ${chosen && chosen.advantage != null && html`<p class="small trained">Trained on: advantage <b>${signed(chosen.advantage)}</b>, with weight 1 on each sampled token.</p>`}
    ${chosen && chosen.parts.length > 0 && html`<ul class="plain small" aria-label="Worth of each order">${chosen.parts.map((part) => html`<li>${visible(part.slot)} ${visible(part.kind)} <b>${signed(part.reward)}</b></li>`)}</ul>`}
    ${chosen && error && html`<p class="problem">${visible(error)}</p>`}
    ${chosen && !error && data && from === address && html`<${Legend} />${data.calls.map((call, index) => html`<${Call} key=${`${address}${index}`} call=${call} index=${index} total=${data.calls.length} row=${chosen} />`)}`}
  </section>`;
}
