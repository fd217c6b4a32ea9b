// The log of a replay: what every seat did, turn by turn, or what one of them did.
import { html, useEffect, useRef, useState } from './preact-htm.js';
import { link, short, signed, visible } from './data.js';
import { Seat } from './parts.js';

/** All seats, or one. */
function Only({ episode, only, setOnly }) {
  const name = (seat) => `${episode.seat_names[seat] ? `${visible(episode.seat_names[seat])}, ` : ''}${short(episode.players[seat])}`;
  return html`<div class="only" role="group" aria-label="Seats of the log"><button aria-pressed=${only == null} onClick=${() => setOnly(null)}>All</button>
    ${episode.players.map((_, seat) => html`<button aria-pressed=${only === seat} aria-label=${`Only seat ${seat}: ${name(seat)}`} title=${name(seat)} onClick=${() => setOnly(only === seat ? null : seat)}><${Seat} seat=${seat} /></button>`)}</div>`;
}

export function Log({ episode, position, query }) {
  const [only, setOnly] = useState(null);
  const box = useRef(null);
  useEffect(() => {
    const item = box.current && box.current.querySelector('[aria-current]');
    if (!item) return;
    const [inner, outer] = [item.getBoundingClientRect(), box.current.getBoundingClientRect()];
    if (inner.top < outer.top) box.current.scrollTop -= outer.top - inner.top + 8;
    if (inner.bottom > outer.bottom) box.current.scrollTop += inner.bottom - outer.bottom + 8;
  }, [position, only]);
  let round = -1;
  return html`<section class="log" aria-label="Log"><div class="head"><h2>Log</h2>${episode.players.length > 1 && html`<${Only} episode=${episode} only=${only} setOnly=${setOnly} />`}</div><div class="entries" ref=${box}>
    <a class="entry start" href=${link('/replay', { ...query, turn: 0, seat: '' })} aria-current=${position === 0 ? 'step' : null}>Start</a>
    ${episode.turns.map((turn, place) => {
      const rows = turn.decisions.filter((row) => only == null || row.seat === only);
      if (!rows.length && place + 1 !== position) return null;
      const head = turn.round !== round && episode.rounds.length > 1;
      round = turn.round;
      return html`${head && html`<h3>Round ${round + 1}</h3>`}
        <a class="entry" href=${link('/replay', { ...query, turn: place + 1, seat: '' })} aria-current=${place + 1 === position ? 'step' : null}>
          ${rows.map((row) => html`<${Entry} row=${row} />`)}${!rows.length && html`<span class="dim">does not act</span>`}
          ${turn.payoffs && html`<span class="paid">${turn.payoffs.map((pay, seat) => (only == null || only === seat) && html`<span><${Seat} seat=${seat} />${signed(pay)}</span>`)}</span>`}
        </a>`;
    })}</div></section>`;
}

function Entry({ row }) {
  const wrong = row.action == null;
  const how = row.how === 'scripted' ? '' : row.how;
  return html`<span class="move"><${Seat} seat=${row.seat} said />
    <span class="action">${wrong ? html`<i>${row.said ? visible(row.said).slice(0, 80) : 'no reply'}</i>` : visible(row.action)}</span>
    ${how && html`<span class=${`badge ${wrong ? 'bad' : ''}`}>${how}</span>`}
    ${row.parts.map((part) => html`<span class="part">${visible(part.slot)} ${visible(part.kind)} ${signed(part.reward)}</span>`)}</span>`;
}
