// The board of a replay: a face in a box of its own.
import { html, useEffect, useLayoutEffect, useRef, useState } from './preact-htm.js';
import { visible } from './data.js';
import { stepAt, talked } from './faces.js';
import { load } from './source.js';
import { Seat } from './parts.js';

const PARTS = ['mount', 'render', 'unmount'];

/** Call a part of a face, which may be a stranger's; what goes wrong is told and stops nothing else. */
function attempt(face, part, told, ...values) {
  try {
    face[part](...values);
  } catch (error) {
    told(`The face cannot ${part} this: ${error}`);
  }
}

export function Board({ episode, position }) {
  const box = useRef(null);
  const [face, setFace] = useState(null);
  const [trouble, setTrouble] = useState('');
  useEffect(() => {
    let wanted = true;
    if (!episode.module) return undefined;
    load(episode.module).then((module) => {
      if (!PARTS.every((part) => typeof module[part] === 'function')) throw new TypeError('it exports no mount, render and unmount');
      if (wanted) setFace(module);
    }).catch((error) => wanted && setTrouble(`The face cannot be loaded: ${error}`));
    return () => { wanted = false; };
  }, [episode]);
  useLayoutEffect(() => {
    if (!face) return undefined;
    attempt(face, 'mount', setTrouble, box.current, episode);
    return () => attempt(face, 'unmount', () => {}, box.current);
  }, [face, episode]);
  useLayoutEffect(() => {
    if (face) attempt(face, 'render', setTrouble, box.current, stepAt(episode, position));
  }, [face, episode, position]);
  if (!episode.module) return html`<p class="problem">${visible(episode.unplayable)}</p>`;
  return html`${(episode.trouble || trouble) && html`<p class="problem" role="status">${visible(episode.trouble || trouble)}</p>`}
    <div class=${`board face-${episode.face}`} ref=${box}></div>
    ${talked(episode, position) && html`<${Messages} rows=${episode.turns[position - 1].decisions} />`}`;
}

function Messages({ rows }) {
  return html`<ul class="messages" aria-label="Messages">${rows.map((row) => html`<li><${Seat} seat=${row.seat} said />
    ${row.action == null ? html`<i>no legal message</i>` : visible(row.action)}</li>`)}</ul>`;
}
