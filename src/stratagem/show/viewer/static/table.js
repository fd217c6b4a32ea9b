// A table of plain cells that scrolls by itself where it is too wide.
import { html } from './preact-htm.js';
import { Name } from './names.js';

export function Table({ heads, rows }) {
  return html`<div class="scroll"><table><thead><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, ...rest]) => html`<tr><th><${Name} name=${first} /></th>${rest.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}
