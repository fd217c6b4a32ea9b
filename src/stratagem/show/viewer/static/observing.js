// The page of who observes a table: what is public until the end, and then the whole game.
import { html } from './preact-htm.js';
import { Board } from './board.js';
import { Conversation } from './conversation.js';
import { api, go, link, short, signed, useJson, usePlace, visible } from './data.js';
import { Log } from './log.js';
import { Gone, Sight } from './sitting.js';
import { Seat, Waiting } from './parts.js';

/** The whole game, turn by turn; the address holds the turn. */
function Whole() {
  const { data, error } = useJson(api('whole'));
  const { query } = usePlace();
  if (error || !data) return html`<${Waiting} error=${error} />`;
  const last = data.turns.length;
  const position = Math.max(0, Math.min(last, Math.trunc(Number(query.turn)) || 0));
  return html`<h1>${visible(data.game)} <small>the whole game</small></h1>
    <div class="replay"><section class="stage" aria-label="Board">
      <div class="head"><h2>${position ? `Turn ${position} of ${last}` : `Start of ${last} turns`}</h2></div>
      <${Board} key=${data.module} episode=${data} position=${position} />
      <div class="controls"><input class="scrub" type="range" min="0" max=${last} value=${position} aria-label="Turn" onInput=${(event) => go(link('/replay', { turn: event.target.value }), true)} /></div>
      <ul class="players" aria-label="Seats">${data.players.map((name, seat) => html`<li key=${seat}><${Seat} seat=${seat} /><span class="name">${short(name)}</span><b>${signed(data.payoffs[seat])}</b></li>`)}</ul>
      <${Conversation} episode=${data} position=${position} query=${query} />
    </section><${Log} episode=${data} position=${position} query=${{}} /></div>`;
}

export function Observing({ state }) {
  const { events, error } = state;
  const find = (name) => events.filter((one) => one.event === name).pop();
  const begun = find('begun');
  const broken = find('failed') || find('left');
  const problem = error || (broken && broken.sentence);
  if (problem) return html`<h1>Observe</h1><p class="problem" role="alert">${visible(problem)}</p>`;
  if (find('over')) return html`<${Whole} />`;
  if (!begun) return html`<h1>Observe</h1><p class="loading">The game begins …</p>`;
  const turns = events.filter((one) => one.event === 'turn');
  const turn = turns[turns.length - 1];
  const shown = events.findLast((one) => one.drawn);
  const rounds = events.filter((one) => one.event === 'round').length;
  const latest = events.filter((one) => one.situation).pop();
  return html`<div class="head title"><h1>${visible(begun.game)} <small>you observe</small></h1></div>
    <div class="sitting"><section aria-label="What is public"><h2>What is public</h2>
      ${begun.hides && html`<p>This game hides something from each seat. Until its end you see whose turn it is, and then the whole game.</p>`}
      ${!begun.hides && html`<${Sight} drawn=${shown && shown.drawn} players=${begun.players} text=${latest ? `Seat ${latest.seat} is told:\n${latest.situation}` : ''} />`}</section>
      <section class="turn" aria-label="Course"><h2>Course</h2>
        <ul class="players">${begun.players.map((name, seat) => html`<li key=${seat}><${Seat} seat=${seat} /><span class="name">${visible(name)}</span>${turn && turn.seat === seat ? ' was asked last' : ''}</li>`)}</ul>
        <p class="dim" role="status">Rounds that are over: ${rounds}.</p><${Gone} events=${events} /></section></div>`;
}
