// Play: the operator sits down at a game, and hands on the links of the table.
import { html, useEffect, useRef, useState } from './preact-htm.js';
import { api, count, go, link, signed, useJson, visible } from './data.js';
import { post, priceText } from './jobs.js';
import { Sitting, useTable } from './sitting.js';
import { Seat } from './parts.js';

/** Open a table, remember what it was opened with and the payoffs of the games before, and go there. */
export async function sitDown(body, before = []) {
  const table = await post('sit', body);
  sessionStorage.setItem(`table:${table.id}`, JSON.stringify({ body, before }));
  go(link('/play', { table: table.id }));
}

function Link({ one }) {
  const [done, setDone] = useState(false);
  const field = useRef(null);
  const address = location.origin + one.address;
  const copy = () => {
    field.current.select();
    if (navigator.clipboard) navigator.clipboard.writeText(address).then(() => setDone(true), () => setDone(false));  // missing without TLS
  };
  const name = one.role === 'seat' ? `Seat ${one.seat}` : 'To observe';
  if (!one.address) return html`<li><b>${name}</b> <span class="dim">${one.taken ? 'somebody sits there' : 'the link is used up'}</span></li>`;
  return html`<li><b>${name}</b> 
    <input type="text" readonly ref=${field} value=${address} aria-label=${`Link: ${name}`} /> <button type="button" aria-label=${`Copy the link: ${name}`} onClick=${copy}>${done ? 'Copied' : 'Copy'}</button></li>`;
}

function Links({ links, guests }) {
  return html`<section class="invitations" aria-label="Other people"><h2>Other people</h2>
    <p>${guests && 'Give each person the link of a seat. The first browser that opens it sits there, and it lets in no other. '}Who
      observes sees what is public, and the whole game after its end. No link of a table opens anything else here.</p>
    <ul>${links.map((one) => html`<${Link} key=${`${one.role} ${one.seat}`} one=${one} />`)}</ul></section>`;
}

function Score({ games }) {
  return games.length > 0 && html`<p role="status">Score of ${count(games.length, 'game')}: ${games[0].map((_, seat) =>
    html`<${Seat} seat=${seat} said /> <b>${signed(games.reduce((sum, payoffs) => sum + payoffs[seat], 0))}</b> `)}</p>`;
}

function Table({ id }) {
  const state = useTable(id);
  const [failed, setFailed] = useState('');
  const { price } = state.events.find((one) => one.event === 'priced') || {};
  const { body, before } = JSON.parse(sessionStorage.getItem(`table:${id}`) || '{}');
  const games = [...(before || []), ...state.events.filter((one) => one.event === 'over').map((one) => one.payoffs)];
  const again = (accepted) => sitDown({ ...body, accepted }, games).catch((failure) => setFailed(failure.message));
  const problem = failed && html`<p class="problem" role="alert">${visible(failed)}</p>`;
  if (price) return html`<h1>Play</h1><div class="job price"><p><b>Each decision of ${price.players.map(visible).join(' and ')}</b> takes ${priceText(price)}.</p>
    ${body && html`<button class="main" onClick=${() => again(true)}>Sit down at this price</button>`}</div>${problem}`;
  const guests = (state.links || []).some((one) => one.role === 'seat');
  return html`<${Sitting} id=${id} state=${state} leave=${guests ? 'End the game' : 'Leave'} left=${() => go(link('/play'))}
    invitations=${html`<${Score} games=${before || []} />${state.open && state.links && html`<${Links} links=${state.links} guests=${guests} />`}`}
    other=${html`<p><a href=${link('/play')}>Another game</a></p>`}
    after=${html`${games.length > 1 && html`<${Score} games=${games} />`}${body && html`<p><button onClick=${() => again(body.accepted || false)}>Play again</button> <a href=${link('/play')}>Another game</a></p>`}${problem}`} />`;
}

function Seats({ game, seat, setSeat, players, setPlayers }) {
  return html`<fieldset><legend>Seats</legend>${game.seats.map((name, other) => html`<div class="row" key=${other}>
    <span class="who"><${Seat} seat=${other} />${name.startsWith('seat ') ? '' : visible(name)}</span>
    <label class="check"><input type="radio" name="seat" checked=${other === seat} onChange=${() => setSeat(other)} />you</label>
    ${other === seat ? html`<span class="dim">You sit here.</span>` : html`<label class="grow"><span class="hidden">Player of seat ${other}, or person</span><input type="text" list="players" value=${players[other] ?? game.opponent}
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
  const sit = (event) => {
    event.preventDefault();
    const others = game.seats.map((_, other) => other).filter((other) => other !== own);
    const named = Object.fromEntries(others.map((other) => [other, players[other] ?? game.opponent]));
    sitDown({ game: game.game, seat: own, players: named }).catch((failure) => setError(failure.message));
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
