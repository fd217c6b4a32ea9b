// Division of items: the pool, the private values, and who demands what.
import { html } from './preact-htm.js';
import { number, short, visible } from './data.js';
import { drawn } from './faces.js';
import { bargaining } from './moves.js';
import { division } from './states.js';
import { Seat } from './parts.js';

const ICONS = ['M3 3h8v14H3zM13 3h4v14h-4z', 'M6 13V6a4 4 0 0 1 8 0v7zM2 13h16v3H2z', 'M10 2a8 8 0 1 0 .01 0z'];

function Stock({ item, pool, taken }) {
  const over = Math.max(0, taken[0] + taken[1] - pool);
  return html`<span class="stock">${Array.from({ length: pool }, (_, place) => {
    const kind = place < taken[0] - over ? 's0' : place < taken[0] ? 'both' : place >= pool - taken[1] ? 's1' : 'free';
    return html`<svg class=${kind} viewBox="0 0 20 20" width="20" height="20"><path d=${ICONS[item % 3]} /></svg>`;
  })}</span>`;
}

/** What a bundle is worth to a seat; its values may be hidden. */
function worth(bundle, values) {
  return !values ? '?' : bundle.reduce((sum, count, item) => sum + count * values[item], 0);
}

function outcome(row) {
  return row.deal == null ? 'offer' : row.deal ? 'deal' : 'no deal';
}

function ItemsFace({ frame, episode }) {
  const { items, pool, values, demands, rounds } = frame;
  const last = demands[demands.length - 1];
  const taken = (item) => (last ? last.bundles.map((bundle) => bundle[item]) : [0, 0]);
  return html`<div class="items"><div class="scroll" tabindex="0"><table><caption>${last && last.by != null ? html`Offer of seat ${last.by}` : 'Demands'}: number of items, and what one of each is worth to the seat</caption>
    <thead><tr><th>Item</th><th class="left">Pool</th>${[0, 1].map((seat) => html`<th><${Seat} seat=${seat} /> ${short(episode.players[seat])}</th>`)}</tr></thead>
    <tbody>${items.map((item, place) => html`<tr><th>${visible(item)}</th><td class="left"><${Stock} item=${place} pool=${pool[place]} taken=${taken(place)} /></td>
      ${[0, 1].map((seat) => html`<td>${last ? html`<b>${last.bundles[seat][place]}</b> ` : ''}<span class="dim">worth ${values[seat]?.[place] ?? '?'}</span></td>`)}</tr>`)}
      <tr class="sum"><th>${last ? 'Worth' : 'All'}</th><td></td>${[0, 1].map((seat) => html`<td><b>${worth(last ? last.bundles[seat] : pool, values[seat])}</b></td>`)}</tr></tbody></table></div>
    <p class="betting">${last ? html`<b class=${last.deal ? 'good' : last.deal === false ? 'bad' : ''}>${outcome(last)}</b>` : html`<span class="dim">Nobody has demanded anything yet${rounds ? `, ${number(rounds)} rounds` : ''}.</span>`}</p>
    ${demands.length > 1 && html`<ol class="offers">${demands.map((row, place) => html`<li class=${place === demands.length - 1 ? 'now' : ''}>
      ${row.by == null ? row.bundles.map((bundle, seat) => html`<span><${Seat} seat=${seat} />[${bundle.join(', ')}]</span>`) : html`<span><${Seat} seat=${row.by} />takes [${row.bundles[row.by].join(', ')}]</span>`}
      <span class=${row.deal ? 'good' : 'dim'}>${row.by != null && !row.deal ? '' : outcome(row)}</span></li>`)}</ol>`}</div>`;
}

export const { mount, render, unmount } = drawn(ItemsFace, (frame, board) => (board.game ? bargaining : division)(frame, board));
