// One episode, turn by turn: the board, the log, and the words behind the decisions.
import { html, useEffect, useMemo, useState } from './preact-htm.js';
import { Board } from './board.js';
import { api, count, go, link, short, signed, useJson, visible } from './data.js';
import { Log } from './log.js';
import { WhatIf } from './whatif.js';
import { Conversation } from './conversation.js';
import { Copy } from './copy.js';
import { Export } from './export.js';
import { Episodes, Found } from './found.js';
import { useKeys } from './keys.js';
import { Words } from './words.js';
import { Id } from './names.js';
import { live } from './source.js';
import { Seat, Waiting } from './parts.js';

const SPEEDS = [0.5, 1, 2, 4];
const PAUSE = 1200;

/** Position of the replay: 0 is the start, k is after turn k. The address holds it. */
function usePosition(query, last) {
  const position = Math.max(0, Math.min(last, Math.trunc(Number(query.turn)) || 0));
  const move = (to) => go(link('/replay', { ...query, turn: Math.max(0, Math.min(last, to)), seat: '' }), true);
  return [position, move];
}

const ICONS = {
  start: 'M5 4v16M19 4 8 12l11 8z', back: 'M17 4 6 12l11 8z', play: 'M7 4l12 8-12 8z', pause: 'M7 4v16M16 4v16',
  forward: 'M7 4l11 8-11 8z', end: 'M19 4v16M5 4l11 8-11 8z',
};

function Button({ icon, title, act, off }) {
  return html`<button class=${`icon ${icon}`} aria-label=${title} title=${title} disabled=${off} onClick=${act}>
    <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d=${ICONS[icon]} /></svg></button>`;
}

function Controls({ position, last, move, playing, play, speed, setSpeed }) {
  return html`<div class="controls">
    <div class="buttons">
      <${Button} icon="start" title="To the start (Home)" act=${() => move(0)} off=${position === 0} />
      <${Button} icon="back" title="Back (left arrow)" act=${() => move(position - 1)} off=${position === 0} />
      <${Button} icon=${playing ? 'pause' : 'play'} title=${playing ? 'Pause (space)' : 'Play (space)'} act=${play} off=${last === 0} />
      <${Button} icon="forward" title="Forward (right arrow)" act=${() => move(position + 1)} off=${position === last} />
      <${Button} icon="end" title="To the end (End)" act=${() => move(last)} off=${position === last} />
      <label class="speed"><span>Speed</span><select aria-label="Speed" onChange=${(event) => setSpeed(Number(event.target.value))}>
        ${SPEEDS.map((one) => html`<option value=${one} selected=${one === speed}>${one}×</option>`)}</select></label>
    </div>
    <input class="scrub" type="range" min="0" max=${last} value=${position} aria-label="Turn" aria-valuetext=${`turn ${position} of ${last}`}
      onInput=${(event) => move(Number(event.target.value))} />
  </div>`;
}

function Seats({ episode, position }) {
  const paid = episode.players.map(() => 0);
  episode.turns.slice(0, position).forEach((turn) => (turn.payoffs || []).forEach((pay, seat) => { paid[seat] += pay; }));
  return html`<ul class="players" aria-label="Seats">${episode.players.map((name, seat) => html`<li>
    <${Seat} seat=${seat} /><span class="name">${episode.seat_names[seat] ? html`<b>${visible(episode.seat_names[seat])}</b> ` : ''}${short(name)}</span><b title="Return so far">${signed(paid[seat])}</b></li>`)}</ul>`;
}

function Player({ episode, query }) {
  const last = episode.turns.length;
  const [position, move] = usePosition(query, last);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  useEffect(() => {
    if (!playing) return undefined;
    if (position === last) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => move(position + 1), PAUSE / speed);
    return () => clearTimeout(timer);
  }, [playing, position, speed]);
  const play = () => {
    if (!playing && position === last) move(0);
    setPlaying(!playing && last > 0);
  };
  const jump = (to) => {
    setPlaying(false);
    move(to);
  };
  useKeys({ ArrowLeft: () => jump(position - 1), ArrowRight: () => jump(position + 1), Home: () => jump(0), End: () => jump(last), ' ': play });
  const turn = position ? episode.turns[position - 1] : null;
  const told = turn ? `Turn ${position} of ${last}${episode.rounds.length > 1 ? `, round ${turn.round + 1}` : ''}` : `Start of ${count(last, 'turn')}`;
  return html`<div class=${`replay ${episode.face === 'diplomacy' ? 'spread' : ''}`}>
    <section class="stage" aria-label="Board">
      <div class="head"><h2>${told}</h2>${position === last && html`<span class="dim">${episode.finished ? 'end of the game' : 'play stopped here'}</span>`}</div>
      <${Board} key=${episode.module} episode=${episode} position=${position} />
      <${Controls} position=${position} last=${last} move=${jump} playing=${playing} play=${play} speed=${speed} setSpeed=${setSpeed} />
      <${Seats} episode=${episode} position=${position} />
      <${Conversation} episode=${episode} position=${position} query=${query} />
    </section>
    <${Log} episode=${episode} position=${position} query=${query} />
    <${Words} turn=${turn} query=${query} episode=${episode} />
    ${query.line == null && html`<${WhatIf} episode=${episode} position=${position} query=${query} />`}
  </div>`;
}

export function Replay({ query }) {
  const address = query.line == null ? api('episode', { record: query.record, id: query.id })
    : api('line', { game: query.game, run: query.run, step: query.step, record: query.record, player: query.player, computed: query.computed, set: query.line });
  const answer = useJson(address);
  const episode = useMemo(() => answer.data, [answer.data]);
  if (answer.error) return html`<p class="problem">${visible(answer.error)}</p><p><a href=${link('/games', { record: query.record })}>All episodes</a></p>`;
  if (!episode || answer.address !== address) return html`<${Waiting} />`;
  const to = (id) => link('/replay', { record: query.record, id });
  return html`<div class="head title"><h1>${visible(episode.game)} <small><${Id} id=${episode.id} game=${episode.game.includes('(') && episode.game} /></small></h1>
    ${query.line == null && html`<${Episodes} query=${query} episode=${episode} />`}</div>
    ${episode.parent && html`<p class="dim">Forked at turn ${episode.forked_at} from <a href=${to(episode.parent)}>${visible(episode.parent)}</a>.</p>`}
    <${Found} query=${query} />
    ${query.line != null && html`<p class="dim">Line of play that exploits a policy, computed now and not recorded. <a href=${link('/policy', { game: query.game, run: query.run, step: query.step, record: query.record, player: query.player, computed: query.computed })}>Back to the policy</a></p>`}
    <${Player} key=${episode.id} episode=${episode} query=${query} />
    ${live && query.line == null && html`<${Export} key=${episode.id} record=${query.record} episode=${episode.id} label="Export this game as one file" />`}
    ${episode.path && html`<${Copy} words=${['stratagem', 'show', episode.path, '--episode', episode.id]} />`}`;
}
