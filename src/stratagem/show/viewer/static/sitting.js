// A seat at a table: what its person sees, the questions, and how the game ended. Pages of the operator and of guests.
import { html, useEffect, useMemo, useState } from './preact-htm.js';
import { useKeys } from './keys.js';
import { Board } from './board.js';
import { Question } from './choices.js';
import { api, grouped, link, number, short, signed, useJson, visible } from './data.js';
import { post } from './jobs.js';
import { ask } from './source.js';
import { Seat } from './parts.js';

const PAUSE = 350;
const BETWEEN = 600;

/** All that a place at a table was told; the state of the page follows from it. A link of a table needs no `id`. */
export function useTable(id = '') {
  const [state, setState] = useState({ events: [], open: true, error: '' });
  useEffect(() => {
    const events = [];
    let timer = null;
    let stopped = false;
    let before = '';
    const look = async () => {
      try {
        const { data, error } = await ask(api('table', { id, seen: events.length }));
        if (error) throw new Error(error);
        if (stopped) return;
        events.push(...data.events);
        const now = JSON.stringify([data.open, data.links]);
        if (data.events.length || now !== before) setState({ ...data, events: [...events], error: '' });
        before = now;
        if (data.open) timer = setTimeout(look, PAUSE);
      } catch (error) {
        const told = error instanceof SyntaxError ? 'This link is no longer good.' : error.message === 'Failed to fetch' ? 'The server does not answer.' : error.message;
        if (!stopped) setState((old) => ({ ...old, open: false, error: told }));
      }
    };
    look();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [id]);
  return state;
}

/** The events so far: what others do comes one after another, and the second skips the pauses. */
function usePaced(events) {
  const [seen, setSeen] = useState(0);
  const [skipped, setSkipped] = useState(-1);
  const waits = seen < events.length;
  const turn = events.filter((one) => one.event === 'taken').length;
  const is_quick = skipped === turn || matchMedia('(prefers-reduced-motion: reduce)').matches;
  useEffect(() => {
    if (!waits) return undefined;
    const next = events.findIndex(({ event }, place) => place >= seen && (event === 'end' || (event === 'moved' && events[place - 1].event !== 'taken')));
    if (!seen || next < 0 || is_quick) return setSeen(events.length);
    if (next > seen) return setSeen(next);
    const timer = setTimeout(() => setSeen(seen + 1), BETWEEN);
    return () => clearTimeout(timer);
  }, [seen, waits, is_quick]);
  return [events.slice(0, seen), waits && !is_quick && (() => setSkipped(turn))];
}

/** A board, and a situation in words. */
export function Sight({ drawn, players, text }) {
  const episode = useMemo(() => drawn && { ...drawn, players, rounds: [] }, [drawn]);
  return html`${episode && html`<${Board} key=${episode.module} episode=${episode} position=${episode.turns.length} />`}
    <pre class="sight" aria-live="polite">${visible(text)}</pre>`;
}

function Course({ events }) {
  const told = events.filter((one) => one.event === 'taken' || one.event === 'round');
  if (!told.length) return null;
  return html`<section class="course" aria-label="Course"><h2>So far</h2><ol>${told.map((one) => (one.event === 'taken'
    ? html`<li>You played <b class="action">${visible(one.action)}</b></li>` : html`<li class="dim">The round paid you ${signed(one.payoff)}</li>`))}</ol></section>`;
}

/** What each move lost against the best one; the link leads to the turn. */
function Moves({ end, unit }) {
  const { data } = useJson(api('decisions', { record: end.record, episode: end.episode, order: 'regret', limit: 200 }));
  if (!data) return html`<p class="loading">Computing regrets …</p>`;
  if (!data.decisions.length) return data.why_no_regret ? html`<p class="dim">No regrets: ${visible(data.why_no_regret)}</p>` : null;
  const rows = [...data.decisions].sort((one, other) => one.place - other.place || one.seat - other.seat);
  return html`<table class="moves"><caption>Regret of each move</caption><thead><tr><th class="left">Turn</th><th class="left">Player</th><th class="left">Move</th><th>Regret</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${`${row.place} ${row.seat}`}>
      <th><a href=${link('/replay', { record: end.record, id: end.episode, turn: row.place, seat: `${row.seat}.${row.attempt}` })}>${row.place}</a></th>
      <td class="left"><${Seat} seat=${row.seat} said /> ${row.player.startsWith('human@') ? 'you' : short(row.player.replace(/^run:.*\//, 'run:'))}</td><td class="left"><span class="action">${row.action == null ? 'no legal move' : visible(row.action)}</span></td>
      <td>${row.regret < 5e-4 ? '0' : number(row.regret)}</td></tr>`)}</tbody></table>
    <p class="dim">Regret: what the best move would have gained where the others play an equilibrium, in ${visible(unit)}.</p>`;
}

/** The end: a guest is told the own payoff alone. */
function Over({ end, begun }) {
  if (!end.payoffs) return html`<section class="over" role="status"><h2>The game is over</h2><p>It paid you <b>${signed(end.payoff)}</b>.</p></section>`;
  const own = end.payoffs[begun.seat];
  const other = Math.max(...end.payoffs.filter((_, seat) => seat !== begun.seat));
  return html`<section class="over" role="status"><h2>${end.payoffs.length < 2 ? 'The game is over' : own > other ? 'You won' : own < other ? 'You lost' : 'A draw'}</h2>
    <ul class="players">${begun.players.map((name, seat) => html`<li key=${seat}><${Seat} seat=${seat} /><span class="name">${short(name)}${seat === begun.seat ? ' (you)' : ''}</span><b>${signed(end.payoffs[seat])}</b></li>`)}</ul>
    <p><a class="button main" href=${link('/replay', { record: end.record, id: end.episode })}>Look at the whole game</a></p>
    <${Moves} end=${end} unit=${begun.unit} />
    <p class="dim">The replay shows every turn, and what the models thought and said. It is in the record ${visible(end.record)}.</p></section>`;
}

export function Gone({ events }) {
  return events.filter((one) => one.event === 'gone').map((one) => html`<p class="problem" role="status">Seat ${one.seat} has left. The game waits when it is that seat's turn.</p>`);
}

/** The page of a seat; `leave` is the name of its button, and `left` is called afterwards. */
export function Sitting({ id = '', state, leave, left, invitations = null, other = null, after = null }) {
  const { open, error } = state;
  const [events, skip] = usePaced(state.events);
  useKeys({ ' ': skip, Escape: skip });
  const [sending, setSending] = useState(0);
  const [failed, setFailed] = useState('');
  const find = (name) => events.filter((one) => one.event === name).pop();
  const [begun, ask, end] = ['begun', 'ask', 'over'].map(find);
  const broken = find('failed') || find('left');
  const answered = ask && events.some((one) => one.event === 'taken' && one.number === ask.number);
  const refusals = ask ? events.filter((one) => one.event === 'refused' && one.number === ask.number) : [];
  const mark = ask ? ask.number * 1000 + refusals.length : 0;
  const act = async (name, body) => {
    setFailed('');
    try {
      await post(name, id ? { ...body, id } : body);
    } catch (failure) {
      setSending(0);
      setFailed(failure.message);
      throw failure;
    }
  };
  const send = (text) => {
    setSending(mark);
    act('reply', { number: ask.number, text }).catch(() => {});
  };
  const go = () => act('leave', {}).then(left, () => {});
  const [latest, shown] = ['situation', 'drawn'].map((part) => events.findLast((one) => part in one) || {});
  const problem = error || (broken && broken.sentence);
  if (problem) return html`<h1>Play</h1><p class="problem" role="alert">${visible(problem)}</p>${other}`;
  if (!begun) return html`<h1>Play</h1><p class="loading">${open ? 'The game begins …' : 'This game was left.'}</p>`;
  const thinking = !end && (!ask || answered);
  return html`<div class="head title"><h1>${visible(begun.game)} <small>seat ${begun.seat}, against ${grouped(begun.players.filter((_, seat) => seat !== begun.seat))}</small></h1>
      ${!end && open && html`<button onClick=${go}>${leave}</button>`}</div>
    <div class="sitting">
      <section aria-label="What you see"><h2>${find('end') ? 'How it ended' : 'What you see'}</h2><${Sight} drawn=${shown.drawn} players=${begun.players} text=${latest.situation} />
        <details><summary>Rules</summary><pre>${visible(begun.rules)}</pre></details></section>
      <div>${end ? html`<${Over} end=${end} begun=${begun} />${after}`
        : html`<section class="turn" aria-label="Your turn"><h2>${thinking ? 'The others decide …' : 'Your turn'}</h2>
          ${skip && html`<button onClick=${skip}>Skip</button>`}
          ${!thinking && html`<${Question} key=${ask.number} choices=${ask.choices} send=${send} off=${sending === mark} refused=${refusals.length ? refusals[refusals.length - 1].sentence : ''} />`}
          ${failed && html`<p class="problem" role="alert">${visible(failed)}</p>`}<${Gone} events=${events} /></section>`}
        ${!end && invitations}
        <${Course} events=${events} /></div>
    </div>`;
}
