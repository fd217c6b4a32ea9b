// Questions about one recorded decision: how likely the other actions were, and what should have been played.
import { html, useState } from './preact-htm.js';
import { SheetForm } from './choices.js';
import { number, short, sitter, visible } from './data.js';
import { JobState, post, useJob } from './jobs.js';
import { sitDown } from './play.js';
import { Seat } from './parts.js';

function SeatTabs({ rows, seat, setSeat, episode }) {
  if (rows.length < 2) return html`<p class="who"><${Seat} seat=${seat} />${short(episode.players[seat])}</p>`;
  return html`<div class="tabs" role="tablist" aria-label="Seat">${rows.map((row) => html`<button type="button" role="tab" key=${row.seat} aria-selected=${row.seat === seat} onClick=${() => setSeat(row.seat)}>
    <${Seat} seat=${row.seat} />${sitter(episode.seat_names, row.seat, episode.players[row.seat])}</button>`)}</div>`;
}

function percent(p) {
  return p >= 0.9995 ? '100 %' : p > 0 && p < 0.001 ? '< 0.1 %' : `${(p * 100).toFixed(1)} %`;
}

function Bars({ result, played }) {
  return html`<ul class="likely" aria-label=${`Probabilities of ${result.player}`}>${result.actions.map((row) => html`<li key=${row.action} class=${row.action === played ? 'played' : ''}>
      <span class="action">${visible(row.action)}${row.action === played ? html` <span class="badge">played</span>` : ''}</span>
      <span class="track-bar" aria-hidden="true"><span style=${{ width: `${row.p * 100}%` }}></span></span><b>${percent(row.p)}</b></li>`)}</ul>
    <p class="dim">Probability of each action for ${short(result.player)} in this view.
      ${result.rest > 0 && ` Other actions together ${percent(result.rest)}.`}${result.unseen > 1e-9 && ` ${percent(result.unseen)} is not told by the server.`}${
      result.none > 1e-9 && ` No legal action ${percent(result.none)}.`}</p>`;
}

export function Alternatives({ position, query, episode }) {
  const [seat, setSeat] = useState(position.seats[0].seat);
  const [typed, setPlayer] = useState(null);
  const state = useJob();
  const row = position.seats.find((one) => one.seat === seat);
  const player = typed ?? position.stand_ins[seat] ?? '';
  const ask = (accepted = 0) => state.start('alternatives', { record: query.record, episode: episode.id, turn: position.turn, seat, player, accepted });
  const pick = (other) => {
    setSeat(other);
    if (!state.open) state.clear();
  };
  return html`<${SeatTabs} rows=${position.seats} seat=${seat} setSeat=${pick} episode=${episode} />
    <form class="ask" onSubmit=${(event) => { event.preventDefault(); ask(); }}><div class="settings">
      <label class="grow">Player<input type="text" list="known-players" value=${player} placeholder=${visible(position.players[seat])} onInput=${(event) => setPlayer(event.target.value)} /></label>
      <datalist id="known-players">${position.known.map((name) => html`<option value=${name} />`)}</datalist>
      <button class="main" disabled=${state.open}>Ask</button></div>
    <${JobState} state=${state} accept=${ask} verb="Ask" /></form>
    ${state.job && state.job.state === 'done' && html`<${Bars} result=${state.job.result} played=${row.action} />`}`;
}

export function Teach({ position, query, episode }) {
  const [seat, setSeat] = useState(position.seats[0].seat);
  const row = position.seats.find((one) => one.seat === seat);
  const [actions, setActions] = useState({});
  const [thought, setThought] = useState('');
  const [style, setStyle] = useState(row.style || 'plain');
  const [told, setTold] = useState({ done: null, error: '' });
  const lines = actions[seat] ? actions[seat].split('\u0000') : row.lines || [];
  const change = (text) => setActions({ ...actions, [seat]: text });
  const action = row.choices.kind === 'sheet' ? lines.filter(Boolean).join('\n') : actions[seat] || '';
  const teach = async (event) => {
    event.preventDefault();
    try {
      setTold({ done: await post('teach', { record: query.record, episode: episode.id, turn: position.turn, seat, action, thought, style }), error: '' });
    } catch (error) {
      setTold({ done: null, error: error.message });
    }
  };
  return html`<${SeatTabs} rows=${position.seats} seat=${seat} setSeat=${setSeat} episode=${episode} />
    <form class="ask" onSubmit=${teach}><div class="settings">
      ${row.choices.kind === 'flat' && html`<label>It should play<select onChange=${(event) => change(event.target.value)}><option value="" selected=${!action}>choose</option>
        ${row.choices.actions.map((one) => html`<option value=${one} selected=${one === action}>${visible(one)}</option>`)}</select></label>`}
      ${row.choices.kind === 'text' && html`<label class="grow">It should say<input type="text" value=${action} onInput=${(event) => change(event.target.value)} /></label>`}
      <label>Prompt style<select onChange=${(event) => setStyle(event.target.value)}>${position.styles.map((name) => html`<option value=${name} selected=${name === style}>${visible(name)}${name === row.style ? ' (as asked)' : ''}</option>`)}</select></label>
      <label class="grow">Reasoning before the action, if any<input type="text" value=${thought} onInput=${(event) => setThought(event.target.value)} /></label>
      <button class="main" disabled=${!action}>Add to the demonstrations</button></div>
      ${row.choices.kind === 'sheet' && html`<${SheetForm} slots=${row.choices.slots} fill=${row.choices.fill} lines=${lines} change=${(next) => change(next.join('\u0000'))} />`}
    </form>
    ${told.error && html`<p class="problem" role="alert">${visible(told.error)}</p>`}
    ${told.done && html`<div role="status"><p>Added. ${visible(told.done.file)} has ${number(told.done.examples)} ${told.done.examples === 1 ? 'example' : 'examples'}; a recipe learns from it by</p>
      <pre>[sft]${'\n'}file = "${visible(told.done.file)}"</pre></div>`}`;
}

export function PlayOn({ position, query, episode }) {
  const [seat, setSeat] = useState(position.seats[0].seat);
  const [players, setPlayers] = useState(position.stand_ins);
  const [error, setError] = useState('');
  const others = episode.players.map((name, other) => other).filter((other) => other !== seat);
  const sit = (event) => {
    event.preventDefault();
    const named = Object.fromEntries(others.filter((other) => (players[other] || '').trim()).map((other) => [other, players[other]]));
    sitDown({ record: query.record, episode: episode.id, turn: position.turn, seat, players: named }).catch((failure) => setError(failure.message));
  };
  return html`<form class="ask" onSubmit=${sit}><div class="settings">
      <label>Your seat<select onChange=${(event) => setSeat(Number(event.target.value))}>${episode.players.map((name, other) => html`<option value=${other} selected=${other === seat}>${other}: ${sitter(episode.seat_names, other, name)}</option>`)}</select></label>
      ${others.map((other) => html`<label key=${other}>${episode.seat_names && episode.seat_names[other] ? visible(episode.seat_names[other]) : `Seat ${other}`}<input type="text" list="others" value=${players[other] || ''} placeholder=${visible(position.players[other])} onInput=${(event) => setPlayers({ ...players, [other]: event.target.value })} /></label>`)}
      <datalist id="others">${position.known.map((name) => html`<option value=${name} />`)}</datalist>
      <button class="main">Sit down</button></div></form>
    <p class="dim">You decide from this turn on. Other seats that act at this turn play what they played. Later dice are new.</p>
    ${error && html`<p class="problem" role="alert">${visible(error)}</p>`}`;
}
