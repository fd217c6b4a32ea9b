// Play: a person sits down at a game, sees the view of one seat, and answers.
import { html, useEffect, useMemo, useState } from './preact-htm.js';
import { Board } from './board.js';
import { Question } from './choices.js';
import { api, go, grouped, link, short, signed, useJson, visible } from './data.js';
import { post, priceText } from './jobs.js';

const PAUSE = 350;

/** Remember what a table was opened with, and the links of the other people. */
export function keep(table, body) {
  sessionStorage.setItem(`table:${table.id}`, JSON.stringify(body));
  sessionStorage.setItem(`others:${table.id}`, JSON.stringify(table.others));
}

function Links({ links }) {
  return html`<section class="invitations" aria-label="Other people"><h2>Other people</h2><p>Give each person the link of the seat. Who opens it sits there.</p>
    <ul>${links.map(([seat, id]) => html`<li key=${seat}>Seat ${seat}: <a href=${`/${link('/play', { table: id })}`} target="_blank" rel="noopener">${location.origin}/${link('/play', { table: id })}</a></li>`)}</ul></section>`;
}

/** All that a table has told; the state of the page follows from it. */
function useTable(id) {
  const [state, setState] = useState({ events: [], open: true, error: '' });
  useEffect(() => {
    const events = [];
    let timer = null;
    let stopped = false;
    const look = async () => {
      try {
        const response = await fetch(api('table', { id, seen: events.length }));
        const data = await response.json();
        if (!response.ok) throw new Error(data.error);
        if (stopped) return;
        events.push(...data.events);
        if (data.events.length || !data.open) setState({ ...data, events: [...events], error: '' });
        if (data.open) timer = setTimeout(look, PAUSE);
      } catch (error) {
        if (!stopped) setState((old) => ({ ...old, open: false, error: error.message === 'Failed to fetch' ? 'The server does not answer.' : error.message }));
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

/** The board of a game that hides nothing. */
function Sight({ ask, begun, text }) {
  const episode = useMemo(() => ask && ask.drawn && { ...ask.drawn, players: begun.players, turns: [], rounds: [] }, [ask && ask.number]);
  return html`${episode && html`<${Board} episode=${episode} position=${0} />`}
    <pre class="sight" aria-live="polite">${visible(text)}</pre>`;
}

function Course({ events }) {
  const told = events.filter((one) => one.event === 'taken' || one.event === 'round');
  if (!told.length) return null;
  return html`<section class="course" aria-label="Course"><h2>So far</h2><ol>${told.map((one) => (one.event === 'taken'
    ? html`<li>You played <b class="action">${visible(one.action)}</b></li>` : html`<li class="dim">The round paid you ${signed(one.payoff)}</li>`))}</ol></section>`;
}

function Over({ end, begun }) {
  const own = end.payoffs[begun.seat];
  const other = Math.max(...end.payoffs.filter((_, seat) => seat !== begun.seat));
  return html`<section class="over" role="status"><h2>${end.payoffs.length < 2 ? 'The game is over' : own > other ? 'You won' : own < other ? 'You lost' : 'A draw'}</h2>
    <ul class="players">${begun.players.map((name, seat) => html`<li key=${seat}><span class=${`seat s${seat % 7}`}>${seat}</span><span class="name">${short(name)}${seat === begun.seat ? ' (you)' : ''}</span><b>${signed(end.payoffs[seat])}</b></li>`)}</ul>
    <p><a class="button main" href=${link('/replay', { record: end.record, id: end.episode })}>Look at the whole game</a></p>
    <p class="dim">The replay shows all hidden cards, and what the models thought and said. It is recorded in ${visible(end.record)}.</p></section>`;
}

function Table({ id }) {
  const { events, open, error } = useTable(id);
  const [sending, setSending] = useState(0);
  const [failed, setFailed] = useState('');
  const find = (name) => events.filter((one) => one.event === name).pop();
  const [begun, ask, end, broken, price] = ['begun', 'ask', 'over', 'failed', 'priced'].map(find);
  const body = JSON.parse(sessionStorage.getItem(`table:${id}`) || 'null');
  const again = async (accepted) => {
    try {
      const next = { ...body, accepted };
      const table = await post('sit', next);
      keep(table, next);
      go(link('/play', { table: table.id }));
    } catch (failure) {
      setFailed(failure.message);
    }
  };
  const links = Object.entries(JSON.parse(sessionStorage.getItem(`others:${id}`) || '{}'));
  const answered = ask && events.some((one) => one.event === 'taken' && one.number === ask.number);
  const refusals = ask ? events.filter((one) => one.event === 'refused' && one.number === ask.number) : [];
  const mark = ask ? ask.number * 1000 + refusals.length : 0;
  const send = async (text) => {
    setSending(mark);
    setFailed('');
    try {
      await post('reply', { id, number: ask.number, text });
    } catch (failure) {
      setSending(0);
      setFailed(failure.message);
    }
  };
  const latest = events.filter((one) => one.situation).pop();
  if (error) return html`<h1>Play</h1><p class="problem">${visible(error)}</p><p><a href=${link('/play')}>Another game</a></p>`;
  if (price) return html`<h1>Play</h1><div class="job price"><p><b>Each decision of ${price.price.players.map(visible).join(' and ')}</b> takes ${priceText(price.price)}.</p>
    ${body && html`<button class="main" onClick=${() => again(true)}>Sit down at this price</button>`}</div>${failed && html`<p class="problem">${visible(failed)}</p>`}`;
  if (broken) return html`<h1>Play</h1><p class="problem" role="alert">${visible(broken.sentence)}</p><p><a href=${link('/play')}>Another game</a></p>`;
  if (!begun) return html`<h1>Play</h1><p class="loading">${open ? 'The table is being laid …' : 'This game was left.'}</p>`;
  const thinking = !end && (!ask || answered);
  return html`<div class="head title"><h1>${visible(begun.game)} <small>seat ${begun.seat}, against ${grouped(begun.players.filter((_, seat) => seat !== begun.seat))}</small></h1>
      ${!end && open && html`<button onClick=${() => post('leave', { id }).then(() => go(link('/play')))}>Leave</button>`}</div>
    <div class="sitting">
      <section aria-label="What you see"><h2>What you see</h2><${Sight} ask=${end ? null : ask} begun=${begun} text=${latest ? latest.situation : ''} />
        <details><summary>Rules</summary><pre>${visible(begun.rules)}</pre></details></section>
      <div>${end ? html`<${Over} end=${end} begun=${begun} />${body && html`<p><button onClick=${() => again(body.accepted || false)}>Play again</button> <a href=${link('/play')}>Another game</a></p>`}`
        : html`<section class="turn" aria-label="Your turn"><h2>${thinking ? 'The others decide …' : 'Your turn'}</h2>
          ${!thinking && html`<${Question} key=${ask.number} choices=${ask.choices} send=${send} off=${sending === mark} refused=${refusals.length ? refusals[refusals.length - 1].sentence : ''} />`}
          ${failed && html`<p class="problem" role="alert">${visible(failed)}</p>`}</section>`}
        ${links.length > 0 && !end && html`<${Links} links=${links} />`}
        <${Course} events=${events} /></div>
    </div>`;
}

function Seats({ game, seat, setSeat, players, setPlayers }) {
  return html`<fieldset><legend>Seats</legend>${game.seats.map((name, other) => html`<div class="row" key=${other}>
    <span class="who"><span class=${`seat s${other % 7}`}>${other}</span>${name.startsWith('seat ') ? '' : visible(name)}</span>
    <label class="check"><input type="radio" name="seat" checked=${other === seat} onChange=${() => setSeat(other)} />you</label>
    ${other === seat ? html`<span class="dim">You sit here.</span>` : html`<label class="grow"><span class="hidden">Player of seat ${other}, or person</span><input type="text" list="players" value=${players[other] ?? 'random'}
      onInput=${(event) => setPlayers({ ...players, [other]: event.target.value })} /></label>`}</div>`)}
    <datalist id="players"><option value="person" />${game.players.map((name) => html`<option value=${name} />`)}</datalist></fieldset>`;
}

function Setup({ query }) {
  const [name, setName] = useState(query.game || 'kuhn');
  const [settled, setSettled] = useState(name);
  const [seat, setSeat] = useState(0);
  const [players, setPlayers] = useState({});
  const [error, setError] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(name.trim()), 300);
    return () => clearTimeout(timer);
  }, [name]);
  const games = useJson(api('game')).data;
  const chosen = useJson(api('game', { name: settled }));
  const game = chosen.address === api('game', { name: settled }) && settled ? chosen.data : null;
  const own = game ? Math.min(seat, game.seats.length - 1) : 0;
  const sit = async (event) => {
    event.preventDefault();
    const others = game.seats.map((_, other) => other).filter((other) => other !== own);
    const body = { game: game.game, seat: own, players: Object.fromEntries(others.map((other) => [other, players[other] ?? 'random'])) };
    try {
      const table = await post('sit', body);
      keep(table, body);
      go(link('/play', { table: table.id }));
    } catch (failure) {
      setError(failure.message);
    }
  };
  return html`<h1>Play</h1><p class="dim">Sit down at any game, against any players. You see what your seat may see; the rest stays on the server until the end. The game is recorded like all others. Write person for a seat that somebody else takes by a link.</p>
    <form class="ask setup" onSubmit=${sit}>
      <label>Game<input type="text" name="game" list="games" value=${name} onInput=${(event) => setName(event.target.value)} spellcheck="false" /></label>
      <datalist id="games">${(games ? games.games : []).map((one) => html`<option value=${one} />`)}</datalist>
      ${chosen.error && settled === name.trim() && html`<p class="problem" role="alert">${visible(chosen.error)}</p>`}
      ${game && html`<p>${visible(game.summary)}</p><${Seats} game=${game} seat=${own} setSeat=${setSeat} players=${players} setPlayers=${setPlayers} />
        <button class="main" disabled=${settled !== name.trim()}>Sit down</button>`}
      ${error && html`<p class="problem" role="alert">${visible(error)}</p>`}
    </form>`;
}

export function Play({ query }) {
  return query.table ? html`<${Table} key=${query.table} id=${query.table} />` : html`<${Setup} query=${query} />`;
}
