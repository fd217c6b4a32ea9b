// Legal actions as a person picks them: buttons, a form with a line for each slot, or a field for a text.
import { html, useEffect, useRef, useState } from './preact-htm.js';
import { number, visible } from './data.js';

const BUTTONS = 60;

/** Lines of a sheet: a select for each slot. */
export function SheetForm({ slots, fill, lines, change }) {
  const left = fill - lines.filter(Boolean).length;
  return html`<div class="sheet">${slots.map((slot, place) => html`<label key=${slot.name}><span>${visible(slot.name)}</span>
    <select value=${lines[place]} onChange=${(event) => change(lines.map((line, other) => (other === place ? event.target.value : line)))}>
      <option value="" selected=${!lines[place]}>${fill < slots.length ? 'none' : 'choose'}</option>
      ${lines[place] && !slot.options.includes(lines[place]) && html`<option value=${lines[place]} selected>${visible(lines[place])}</option>`}
      ${slot.options.map((option) => html`<option value=${option} selected=${option === lines[place]}>${visible(option)}</option>`)}
    </select></label>`)}</div>
    ${slots.some((slot) => slot.more > 0) && html`<p class="dim">Some slots have more options than are listed.</p>`}
    ${left !== 0 && html`<p class="dim">${left > 0 ? `${number(left)} to go.` : `${number(-left)} too many.`}</p>`}`;
}

/** A field for a reply in words; what was typed stays when it is refused. */
export function TextForm({ text, setText, send, label, off }) {
  return html`<form class="typed" onSubmit=${(event) => { event.preventDefault(); send(text); }}>
    <label><span>${label}</span><textarea rows="2" value=${text} onInput=${(event) => setText(event.target.value)}
      onKeyDown=${(event) => { if (event.key === 'Enter' && !event.shiftKey) { event.preventDefault(); send(text); } }}></textarea></label>
    <button class="main" disabled=${off || !text.trim()}>Send</button></form>`;
}

/** One question to a person; `send` gets the reply as a text. */
export function Question({ choices, send, off, refused }) {
  const [text, setText] = useState('');
  const [lines, setLines] = useState(choices.kind === 'sheet' ? choices.slots.map(() => '') : []);
  const box = useRef(null);
  useEffect(() => {  // the button of the last choice is gone, and with it the place of the keyboard
    if (document.activeElement === document.body) box.current.focus({ preventScroll: true });
  }, []);
  const listed = choices.actions || [];
  const heads = choices.heads || [];
  const ready = choices.kind === 'sheet' && lines.filter(Boolean).length === choices.fill;
  return html`<div class="question" tabindex="-1" ref=${box}>
    ${listed.length > 0 && listed.length <= BUTTONS && html`<div class="answers" role="group" aria-label="Your choices">${listed.map((action) =>
      html`<button type="button" key=${action} disabled=${off} onClick=${() => send(action)}>${visible(action)}</button>`)}</div>`}
    ${listed.length > BUTTONS && html`<label class="many"><span>Your choice, of ${number(choices.count ?? listed.length)}</span><select disabled=${off} onChange=${(event) => setText(event.target.value)}>
      <option value="">choose</option>${listed.map((action) => html`<option value=${action}>${visible(action)}</option>`)}</select></label>`}
    ${choices.kind === 'sheet' && html`<${SheetForm} slots=${choices.slots} fill=${choices.fill} lines=${lines} change=${setLines} />
      <button type="button" class="main" disabled=${off || !ready} onClick=${() => send(lines.filter(Boolean).join('\n'))}>Play these</button>`}
    ${heads.length > 0 && html`<p class="dim">A line of your own begins with ${heads.map((head) => html`<code>${visible(head.trim())}</code> `)}.</p>`}
    ${choices.kind === 'text' || refused || listed.length > BUTTONS ? html`<${TextForm} text=${text} setText=${setText} send=${send} off=${off} label=${choices.kind === 'text' ? 'A line of your own' : 'Or in words'} />`
      : html`<details class="words-too"><summary>Or in words</summary><${TextForm} text=${text} setText=${setText} send=${send} off=${off} label="Your reply" /></details>`}
    ${refused && html`<p class="problem" role="alert">${visible(refused)}</p>`}
  </div>`;
}
