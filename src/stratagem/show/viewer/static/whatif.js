// What if: a turn of a replay is played on with a change, beside the same turn as it was played.
import { html, useEffect, useState } from './preact-htm.js';
import { SheetForm } from './choices.js';
import { Alternatives, PlayOn, Teach } from './decision.js';
import { api, count, link, number, short, sitter, useJson, useVersion, visible } from './data.js';
import { JobState, useJob } from './jobs.js';
import { live } from './source.js';
import { Seat, Waiting } from './parts.js';

const TABS = { change: 'Change it', likely: 'How likely', teach: 'Teach this', play: 'Sit down here' };
const START = { actions: {}, players: {}, dice: 'recorded', seed: 0, count: 20 };

function figure(estimate) {
  if (estimate.exact) return `${number(estimate.mean)} exact`;
  return estimate.low == null ? number(estimate.mean) : `${number(estimate.mean)} [${number(estimate.low)}, ${number(estimate.high)}]`;
}

function Histogram({ labels, counts, seat }) {
  const most = Math.max(...counts.flat(), 1);
  const width = Math.min(56, 340 / labels.length);
  const bars = (arm) => labels.map((label, place) => html`<rect class=${arm ? 'after' : 'before'} x=${40 + place * width + (arm ? width / 2 : width * 0.08)} width=${width * 0.42}
    y=${110 - (counts[arm][place] / most) * 96} height=${(counts[arm][place] / most) * 96}><title>${`return ${label}: ${counts[arm][place]} ${arm ? 'changed' : 'as played'}`}</title></rect>`);
  const every = Math.ceil((8 * Math.max(...labels.map((label) => label.split(' to ')[0].length)) + 8) / width);
  const told = labels.map((label, place) => `${label}: ${counts[0][place]} as played, ${counts[1][place]} changed`).join('; ');
  return html`<svg class="outcomes" viewBox="0 0 390 134" role="img" aria-label=${`Returns of seat ${seat}. ${told}`}>
    <text x="34" y="20" text-anchor="end">${most}</text><text x="34" y="112" text-anchor="end">0</text><line class="axis" x1="38" x2="386" y1="110.5" y2="110.5" />
    ${bars(0)}${bars(1)}
    ${labels.map((label, place) => place % every === 0 && html`<text x=${40 + (place + 0.5) * width} y="128" text-anchor="middle">${label.split(' to ')[0]}</text>`)}</svg>`;
}

function Changes({ question }) {
  const told = [
    ...Object.entries(question.actions).map(([seat, action]) => `seat ${seat} plays ${visible(action).replace(/\n/g, ' / ')}`),
    ...Object.entries(question.players).map(([seat, player]) => `${short(player)} plays on in seat ${seat}`),
    ...(question.fresh ? [`other dice, seed ${question.seed}`] : []),
  ];
  return html`${told.join('; ')}`;
}

export function Result({ result }) {
  const sure = result.certain;
  return html`<div class="result">
    <p><b>What if, at turn ${result.question.turn + 1}: <${Changes} question=${result.question} />?</b>
      ${' '}${sure ? 'Nothing is random here, so one branch of each tells all.' : `${count(result.n, 'branch', 'branches')} each, paired by common dice. Figures are means with 95 % intervals (Student’s t).`}
      ${result.unfinished > 0 && html` ${count(result.unfinished, 'branch', 'branches')} did not finish.`}
      ${result.faulty > 0 && html` <b class="bad">In ${count(result.faulty, 'branch', 'branches')} a player failed to answer, so read the figures with care.</b>`}
      ${result.stand_ins.length > 0 && html` The recorded player of seat ${result.stand_ins.join(', ')} cannot be made here, so the named one plays it in both arms.`}</p>
    <p class="key"><span class="arm-mark before"></span>as played <span class="arm-mark after"></span>changed <span class="dim">Number of branches by return from this turn on, in ${visible(result.unit.replace(/ an? .*$/, ''))}</span></p>
    <div class="arms">${result.seats.map((row, seat) => html`<figure key=${seat}>
      <figcaption><${Seat} seat=${seat} /> ${sitter(result.seat_names, seat, result.players[0][seat])}${result.players[1][seat] !== result.players[0][seat] ? html` → ${short(result.players[1][seat])}` : ''}</figcaption>
      <${Histogram} labels=${row.labels} counts=${row.counts} seat=${seat} />
      <dl><div><dt>As played</dt><dd>${figure(row.original)}</dd></div><div><dt>Changed</dt><dd>${figure(row.changed)}</dd></div>
        <div><dt>Difference</dt><dd><b>${figure(row.difference)}</b>${row.p_value != null && html` <small>p ${row.p_value < 0.001 ? '< 0.001' : number(row.p_value)}, n ${result.n}</small>`}</dd></div></dl>
    </figure>`)}</div>
    <p><a href=${link('/games', { record: result.record, text: `changed/${result.question.episode}` })}>Look at the branches</a> <span class="dim">in the record ${visible(result.record)}</span></p></div>`;
}

function ActionPicker({ row, value, change }) {
  const { choices } = row;
  if (choices.kind === 'flat') return html`<label>Action<select aria-label=${`Action of seat ${row.seat}`} onChange=${(event) => change(event.target.value)}>
    <option value="" selected=${!value}>${row.action == null ? 'no legal reply' : visible(row.action)} (as played)</option>
    ${choices.actions.filter((action) => action !== row.action).map((action) => html`<option value=${action} selected=${action === value}>${visible(action)}</option>`)}</select></label>`;
  if (choices.kind === 'sheet') {
    const lines = value ? value.split('\u0000') : row.lines || choices.slots.map(() => '');
    return html`<details><summary>${value ? 'Other lines' : 'Lines as played'}</summary>
      <${SheetForm} slots=${choices.slots} fill=${choices.fill} lines=${lines} change=${(next) => change(next.join('\u0000'))} /></details>`;
  }
  return html`<label>Reply<input type="text" value=${value || ''} placeholder=${visible(row.action ?? 'no legal reply')} onInput=${(event) => change(event.target.value)} /></label>`;
}

function sent(actions) {
  const given = Object.entries(actions).filter(([, text]) => text);
  return Object.fromEntries(given.map(([seat, text]) => [seat, text.split('\u0000').filter(Boolean).join('\n')]));
}

function Form({ episode, query, position, set, form, state }) {
  const named = { ...position.stand_ins, ...form.players };
  const players = Object.fromEntries(Object.entries(named).filter(([, name]) => name.trim()));
  const ask = (accepted = 0) => state.start('whatif', { record: query.record, episode: episode.id, turn: position.turn, actions: sent(form.actions), players,
    dice: form.dice, seed: Number(form.seed) || 0, count: Number(form.count) || 1, accepted });
  const deciding = Object.fromEntries(position.seats.map((row) => [row.seat, row]));
  return html`<form class="ask" onSubmit=${(event) => { event.preventDefault(); ask(); }}>
    <div class="rows">${episode.players.map((name, seat) => html`<div class="row" key=${seat}><span class="who"><${Seat} seat=${seat} />${sitter(episode.seat_names, seat, name)}</span>
      ${deciding[seat] ? html`<${ActionPicker} row=${deciding[seat]} value=${form.actions[seat]} change=${(text) => set({ actions: { ...form.actions, [seat]: text } })} />` : html`<span class="dim">does not act</span>`}
      <label>Player from here on<input type="text" list="known" aria-label=${`Player of seat ${seat} from here on`} value=${named[seat] || ''} placeholder=${visible(position.players[seat])}
        onInput=${(event) => set({ players: { ...form.players, [seat]: event.target.value } })} /></label></div>`)}</div>
    <datalist id="known">${position.known.map((name) => html`<option value=${name} />`)}</datalist>
    <div class="settings">
      ${position.chance && html`<label>Dice of the game<select aria-label="Dice of the game" onChange=${(event) => set({ dice: event.target.value })}>
        <option value="recorded" selected=${form.dice === 'recorded'}>as recorded</option><option value="fresh" selected=${form.dice === 'fresh'}>other in each branch</option></select></label>`}
      <label>Seed<input type="number" min="0" value=${form.seed} onInput=${(event) => set({ seed: event.target.value })} /></label>
      <label>Branches<input type="number" min="1" max="1000" value=${form.count} onInput=${(event) => set({ count: event.target.value })} /></label>
      <button class="main" disabled=${state.open}>Play on</button>
    </div>
    <${JobState} state=${state} accept=${ask} verb="Play on" />
  </form>`;
}

function Earlier({ query, episode, shown }) {
  const { data } = useJson(api('whatifs', { record: query.record, id: episode.id }), useVersion());
  const [held, setHeld] = useState('');
  const others = (data ? data.whatifs : []).filter((one) => one.record !== (shown && shown.record));
  if (!others.length) return null;
  return html`<div class="earlier"><h3>Asked before about this episode</h3><ul>${others.map((one) => html`<li key=${one.record}>
    <button type="button" aria-expanded=${held === one.record} onClick=${() => setHeld(held === one.record ? '' : one.record)}>Turn ${one.question.turn + 1}: <${Changes} question=${one.question} /></button>
    ${held === one.record && html`<${Result} result=${one} />`}</li>`)}</ul></div>`;
}

function Panel({ episode, turn, query, tab }) {
  const [form, setForm] = useState(START);
  const set = (change) => setForm((old) => ({ ...old, ...change }));
  const state = useJob();
  const { data: position, error, address } = useJson(api('position', { record: query.record, id: query.id, turn: turn.turn }));
  useEffect(() => {
    set({ actions: {} });
    if (!state.open) state.clear();
  }, [turn.turn]);
  if (error || !position || position.turn !== turn.turn || !address) return html`<${Waiting} error=${error} />`;
  const result = state.job && state.job.state === 'done' ? state.job.result : null;
  if (tab === 'likely') return html`<${Alternatives} key=${turn.turn} position=${position} query=${query} episode=${episode} />`;
  if (tab === 'teach') return html`<${Teach} key=${turn.turn} position=${position} query=${query} episode=${episode} />`;
  if (tab === 'play') return html`<${PlayOn} key=${turn.turn} position=${position} query=${query} episode=${episode} />`;
  return html`<${Form} episode=${episode} query=${query} position=${position} form=${form} set=${set} state=${state} />
    ${result && html`<${Result} result=${result} />`}
    <${Earlier} query=${query} episode=${episode} shown=${result} />`;
}

/** Section below a replay; it asks the server for the turn only once it is opened. */
export function WhatIf({ episode, position, query }) {
  const [tab, setTab] = useState('');
  const turn = episode.turns[Math.max(0, position - 1)];
  if (!live || !turn || episode.face === 'none') return null;
  return html`<section class="whatif" aria-label="What if"><div class="head"><h2>What if, at turn ${Math.max(1, position)}</h2>
    <div class="tabs" role="tablist" aria-label="Questions about this turn">${Object.entries(TABS).map(([name, title]) => html`<button role="tab" key=${name} aria-selected=${tab === name} onClick=${() => setTab(tab === name ? '' : name)}>${title}</button>`)}</div></div>
    ${!tab && html`<p class="dim">Change an action, a player or the dice at this turn and play on; ask how likely the other actions were; correct one for training; or take a seat yourself.</p>`}
    ${tab && html`<${Panel} episode=${episode} turn=${turn} query=${query} tab=${tab} />`}</section>`;
}
