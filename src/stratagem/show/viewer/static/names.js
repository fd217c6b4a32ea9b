// Long names: where a line may break in them, and ids without what the page says already.
import { html } from './preact-htm.js';
import { visible } from './data.js';

/** A name that breaks after a stroke, a point or an underscore, or before a capital, rather than within a word. */
export function Name({ name }) {
  return html`${visible(name).split(/(?<=[/._,=])|(?<=\p{Ll})(?=\p{Lu})/u).map((part, at) => html`${at > 0 && html`<wbr />`}${part}`)}`;
}

/** The id of an episode without the game before it, which stands above. */
export function Id({ id, game }) {
  return html`<span title=${visible(id)}><${Name} name=${game && id.startsWith(`${game}/`) ? id.slice(game.length + 1) : id} /></span>`;
}
