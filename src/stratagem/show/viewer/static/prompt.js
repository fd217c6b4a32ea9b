// The messages of a prompt; lines that most prompts of its shard have are shaded.
import { html } from './preact-htm.js';
import { count, visible } from './data.js';

/** Runs of lines that are shared, or are not. */
function parts(content, shared) {
  const lines = content.split('\n');
  const found = [];
  lines.forEach((line, place) => {
    const state = Boolean(shared && shared[place]);
    const last = found[found.length - 1];
    if (last && last.shared === state) last.lines.push(line);
    else found.push({ shared: state, lines: [line] });
  });
  return found;
}

export function Prompt({ call }) {
  const roles = ['system', 'user', 'assistant'];
  const any = call.compared > 1;
  return html`${call.cut && html`<p class="problem cut">This prompt was cut: others of its shard end or begin with “${visible(call.cut)}”.</p>`}
    ${any && html`<p class="small">Shaded lines are in most of the ${count(call.compared, 'prompt')} of this shard.</p>`}
    ${call.messages.map((message, place) => html`<div class=${`message ${roles.includes(message.role) ? message.role : ''}`}>
      <b>${visible(message.role)}</b><div class="content">${any
    ? parts(message.content, call.shared[place]).map((part, index, all) => html`<span class=${part.shared ? 'common' : 'own-line'}>${visible(part.lines.join('\n'))}${index < all.length - 1 ? '\n' : ''}</span>`)
    : visible(message.content)}</div></div>`)}
    ${call.messages.length === 0 && html`<p class="dim">The prompt has no messages.</p>`}`;
}
