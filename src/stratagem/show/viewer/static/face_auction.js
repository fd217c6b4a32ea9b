// Sealed-bid auctions: the private values of the round, and values, bids and payoffs of the rounds before.
import { html } from './preact-htm.js';
import { short, signed, visible } from './data.js';
import { drawn } from './faces.js';
import { firstSealedAuction } from './moves.js';
import { auction } from './states.js';
import { Seat } from './parts.js';

function AuctionFace({ frame, episode }) {
  const { values, past, rounds } = frame;
  const seats = episode.players.map((name, seat) => [seat, short(name)]);
  const bids = past.some((row) => row.bids.some((bid) => bid == null));
  return html`<div class="auction"><div class="scroll" tabindex="0"><table><caption>Value of the item to a seat, its bid, and its payoff; the best bid has a mark</caption>
    <thead><tr><th>Round</th>${seats.map(([seat, name]) => html`<th><${Seat} seat=${seat} /> ${name}</th>`)}</tr></thead>
    <tbody>${past.map((row, place) => html`<tr class=${place === past.length - 1 ? 'now' : ''}><th>${place + 1}</th>
      ${seats.map(([seat]) => html`<td class=${row.best[seat] ? 'best' : ''}><span class="value" title="Value">${row.values[seat] ?? '?'}</span>
        <span class="bid">${row.bids[seat] == null ? 'to bid' : `bids ${visible(row.bids[seat])}`}</span> <b class=${row.payoffs[seat] < 0 ? 'bad' : ''}>${row.payoffs[seat] == null ? '' : signed(row.payoffs[seat])}</b></td>`)}</tr>`)}
    ${values && html`<tr class="open"><th>${past.length + 1}</th>${seats.map(([seat]) => html`<td><span class="value" title="Value">${values[seat] ?? '?'}</span> <span class="bid">to bid</span></td>`)}</tr>`}
    </tbody></table></div>
    <p class="dim">${past.length - (bids ? 1 : 0)} of ${rounds} ${rounds === 1 ? 'auction is' : 'auctions are'} over.</p></div>`;
}

export const { mount, render, unmount } = drawn(AuctionFace, (frame, board) => (board.game ? firstSealedAuction : auction)(frame, board));
