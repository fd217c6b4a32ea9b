// A face is an ES module with `mount(box, episode)`, `render(box, step)` and `unmount(box)`.
import { html, render } from './preact-htm.js';

/** Make a face from a component, which gets the parts of a step and the episode. */
export function drawn(Component) {
  const episodes = new WeakMap();
  return {
    mount: (box, episode) => { episodes.set(box, episode); },
    render: (box, step) => render(html`<${Component} ...${step} episode=${episodes.get(box)} />`, box),
    unmount: (box) => render(null, box),
  };
}

/** Whether the seats only sent messages in the turn that leads to a position, so the board shows no move. */
export function talked(episode, position) {
  return position > 0 && episode.frames[position]?.talked === true;
}

/** The step of a replay at a position: 0 is the start, k is after turn k. */
export function stepAt(episode, position) {
  return {
    position,
    frame: episode.frames[position],
    before: position ? episode.frames[position - 1] : null,
    turn: position && !talked(episode, position) ? episode.turns[position - 1] : null,
  };
}
